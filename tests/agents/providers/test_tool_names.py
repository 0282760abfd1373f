import re

from hypothesis import given
from hypothesis import strategies as st

from agents.providers.tool_names import ToolNames


def test_b098_a_dotted_name_is_translated_and_comes_back() -> None:
    names = ToolNames(["catalog.get-item", "search"])
    assert names.wire("catalog.get-item") == "catalog_get-item"
    assert names.original("catalog_get-item") == "catalog.get-item"
    assert names.wire("search") == "search"


def test_b096_names_that_would_collide_stay_apart() -> None:
    names = ToolNames(["docs.search", "docs/search", "docs_search"])
    assert names.wire("docs_search") == "docs_search"
    assert len({names.wire(name) for name in ("docs.search", "docs/search", "docs_search")}) == 3


def test_a_name_the_model_made_up_stays_as_it_is() -> None:
    assert ToolNames(["a"]).original("fetch_calendar") == "fetch_calendar"


@given(st.lists(st.text(max_size=80)))
def test_every_name_is_accepted_unique_and_comes_back(given_names: list[str]) -> None:
    names = ToolNames(given_names)
    wires = {name: names.wire(name) for name in given_names}
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire) for wire in wires.values())
    assert len(set(wires.values())) == len(set(given_names))
    assert all(names.original(wire) == name for name, wire in wires.items())
