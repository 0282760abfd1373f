"""Origins are compared whole. What a listed site gets, what a stranger gets, and what nobody gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.origins import Site, cors_headers, parse, preflight_headers, problem, site

OWN = ["https://studio.example.com"]
LISTED = ["https://shop.example.org"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://shop.example.org.evil.test",
        "https://evilshop.example.org",
        "https://shop-example.org",
        "http://shop.example.org",
        "https://shop.example.org:8443",
        "https://shop.example.org/",
        "https://shop.example.org@evil.test",
        "https://evil.test/https://shop.example.org",
        "https://shop.example.org https://evil.test",
        "https://shop.example.org\n",
        "https://*.example.org",
        "null",
        "NULL",
        "",
        "*",
        "shop.example.org",
        "file://",
        "https://",
        "https://shop.example.org:0",
        "https://shop.example.org:99999",
        "https://shop.example.org:0443",
        "https://shоp.example.org",  # a Cyrillic о
        "https://\u017fhop.example.org",  # a long s, which ignoring case takes for s
        "http://studio.example.com",
        "https://studio.example.com:8443",
    ],
)
def test_b130_it_takes_no_other_origin_for_a_listed_one(origin: str) -> None:
    assert site(origin, OWN, LISTED) is Site.FOREIGN


@pytest.mark.parametrize(
    "origin", ["https://shop.example.org", "HTTPS://SHOP.example.ORG", "https://shop.example.org:443"]
)
def test_b130_it_knows_a_listed_origin_in_its_spellings(origin: str) -> None:
    assert site(origin, OWN, LISTED) is Site.LISTED


def test_b130_a_wildcard_entry_lists_nobody() -> None:
    assert (
        site("https://a.b.example.org", OWN, ["*.example.org", "https://*.example.org", "*"]) is Site.FOREIGN
    )


def test_b130_null_is_refused_even_where_it_is_listed() -> None:
    assert site("null", OWN, ["null"]) is Site.FOREIGN


@pytest.mark.parametrize("own", ["http://127.0.0.1:8000", "http://[::1]:8000", "https://studio.example.com"])
def test_it_knows_its_own_origin(own: str) -> None:
    assert site(own, [own], []) is Site.OWN


def test_it_lets_programs_in_that_send_no_origin() -> None:
    assert site(None, OWN, []) is Site.NONE


def test_it_gives_a_listed_site_its_headers_and_never_credentials() -> None:
    headers = cors_headers(Site.LISTED, LISTED[0])
    assert headers["Access-Control-Allow-Origin"] == LISTED[0]
    assert headers["Vary"] == "Origin"
    assert "X-Studio-Conversation" in headers["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in headers


@pytest.mark.parametrize("where", [Site.NONE, Site.OWN, Site.FOREIGN])
def test_it_gives_nobody_else_a_cors_header(where: Site) -> None:
    assert cors_headers(where, "https://evil.test") == {"Vary": "Origin"}
    assert preflight_headers(where, "https://evil.test").keys() == {"Vary", "Allow"}


def test_b138_a_preflight_allows_our_headers_and_methods() -> None:
    headers = preflight_headers(Site.LISTED, LISTED[0])
    assert headers["Access-Control-Allow-Origin"] == LISTED[0]
    assert headers["Access-Control-Allow-Methods"] == "GET, POST, DELETE, OPTIONS"
    for name in ("X-Studio-Stream-Protocol", "X-Studio-Visitor", "X-Studio-Access", "Content-Type"):
        assert name in headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("https://shop.example.org", None),
        ("http://localhost:5173", None),
        ("https://shop.example.org/", "must end without a slash"),
        ("https://*.example.org", "wildcard"),
        ("*", "wildcard"),
        ("null", "is no origin"),
        ("shop.example.org", "is no origin"),
        ("https://shop.example.org/chat", "is no origin"),
    ],
)
def test_it_says_what_is_wrong_with_an_entry(entry: str, said: str | None) -> None:
    found = problem(entry)
    assert found is None if said is None else found is not None and said in found


@given(st.text(max_size=40), st.sampled_from(["", "https://", "https://shop.example.org"]))
def test_it_takes_nothing_else_for_the_listed_origin(text: str, start: str) -> None:
    origin = start + text
    spelled = parse(origin)
    assert (site(origin, OWN, LISTED) is Site.LISTED) == (spelled == ("https", "shop.example.org", 443))
    if site(origin, OWN, LISTED) is Site.LISTED:
        assert origin.lower() in ("https://shop.example.org", "https://shop.example.org:443")
