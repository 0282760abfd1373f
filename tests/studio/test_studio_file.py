import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from credentials.declare import Context, FileError, Outcome
from credentials.models import ProviderConnection, Secret
from deployments.models import ChatDeployment
from studio import studio_file, yaml_text
from workflows.models import Workflow

pytestmark = [pytest.mark.django_db]


def document(**more: Any) -> dict[str, Any]:
    """A small studio file: two chats, one of which needs the secret."""
    tool = {
        "type": "http",
        "name": "find_order",
        "description": "Find an order",
        "method": "GET",
        "url": "https://orders.example.com/{id}",
        "headers": {"Authorization": "Bearer {{secret:ORDER_KEY}}"},
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    }
    return {
        "providers": [{"name": "demo", "kind": "demo"}, {"name": "spare", "kind": "demo"}],
        "secrets": [
            {"name": "ORDER_KEY", "value_env": "ORDER_KEY", "hosts": ["orders.example.com"]},
            {"name": "OTHER_KEY", "value_env": "ORDER_KEY", "hosts": ["other.example.com"]},
        ],
        "workflows": [workflow("one", tools=[tool]), workflow("two")],
        "chats": [chat("one"), chat("two")],
        **more,
    }


def workflow(slug: str, **agent: Any) -> dict[str, Any]:
    return {
        "slug": slug,
        "name": slug.title(),
        "publish": True,
        "blocks": [
            {"id": "start", "type": "start"},
            {"id": "agent_1", "type": "agent", "name": "Guide", "model": "demo/demo", **agent},
        ],
        "edges": [["start", "agent_1"]],
    }


def chat(slug: str, **more: Any) -> dict[str, Any]:
    return {"slug": slug, "workflow": slug, "title": slug, "outputs": ["agent_1.content"], **more}


CONTEXT = Context(env={"ORDER_KEY": "the order key"})


def outcomes(document: dict[str, Any], **options: Any) -> list[str]:
    return [str(change) for change in studio_file.apply(document, CONTEXT, **options)]


def test_it_makes_everything_in_an_order_that_works() -> None:
    shuffled = dict(reversed(document().items()))
    assert outcomes(shuffled) == [
        "created providers[0] demo",
        "created providers[1] spare",
        "created secrets[0] ORDER_KEY",
        "created secrets[1] OTHER_KEY",
        "created workflows[0] one",
        "created workflows[1] two",
        "created chats[0] one",
        "created chats[1] two",
    ]


def test_it_changes_nothing_the_second_time() -> None:
    outcomes(document())
    assert {line.split()[0] for line in outcomes(document())} == {"unchanged"}


def test_it_updates_only_what_differs() -> None:
    outcomes(document())
    changed = document(chats=[chat("one"), chat("two", include_thinking=True)])
    assert [line for line in outcomes(changed) if not line.startswith("unchanged")] == [
        "updated chats[1] two"
    ]
    assert ChatDeployment.objects.get(slug="two").include_thinking


def test_it_stores_nothing_in_a_dry_run_and_says_the_same() -> None:
    said = outcomes(document(), dry_run=True)
    assert (Workflow.objects.count(), Secret.objects.count()) == (0, 0)
    assert outcomes(document()) == said


@pytest.mark.parametrize(
    ("section", "value", "path"),
    [
        (
            "chats",
            [chat("one"), chat("two", outputs=["agent_1.content", "nobody.content"])],
            "chats[1].outputs[1]",
        ),
        ("chats", [chat("one", title=7)], "chats[0].title"),
        ("chats", [chat("one", colour="red")], "chats[0]"),
        ("chats", {}, "chats"),
        ("chats", [chat("one", workflow="none")], "chats[0].workflow"),
        ("providers", [{"name": "demo", "kind": "magic"}], "providers[0].kind"),
        ("secrets", [{"name": "A", "value_env": "UNSET", "hosts": []}], "secrets[0].value_env"),
        ("agents", [], "agents"),
        ("api_keys", [], "api_keys"),
        ("chat", [], "chat"),
    ],
)
def test_it_names_the_place_of_a_mistake_and_changes_nothing(section: str, value: Any, path: str) -> None:
    with pytest.raises(FileError) as caught:
        studio_file.apply(document(**{section: value}), CONTEXT)
    assert caught.value.path == path
    assert (Workflow.objects.count(), ProviderConnection.objects.count()) == (0, 0)


def test_it_says_what_it_does_not_support_yet() -> None:
    with pytest.raises(FileError, match="agents: this section is not supported yet"):
        studio_file.apply({"agents": []}, CONTEXT)


SPEC = Path(__file__).resolve().parents[2] / "../shared/spec/studio-file.md"


@pytest.mark.skipif(not SPEC.exists(), reason="../shared is not beside this checkout")
def test_it_applies_the_example_of_the_format_as_far_as_it_goes() -> None:
    example = yaml_text.read(re.findall(r"^```yaml\n(.*?)^```", SPEC.read_text(), re.M | re.S)[0].encode())
    context = Context(env={"LOCAL_KEY": "one", "ORDER_KEY": "two"})
    for section in studio_file.UNSUPPORTED:
        with pytest.raises(FileError, match=rf"{section}: .*not supported yet"):
            studio_file.apply({section: example.pop(section)}, context)
    tools = example["workflows"][0]["blocks"][1]["tools"]
    with pytest.raises(FileError, match="MCP servers are not supported yet"):
        studio_file.apply(example, context)
    tools.pop()
    assert {change.outcome for change in studio_file.apply(example, context)} == {Outcome.CREATED}
    assert {change.outcome for change in studio_file.apply(example, context)} == {Outcome.UNCHANGED}
    exported = yaml_text.read(yaml_text.write(studio_file.export()).encode())
    assert {change.outcome for change in studio_file.apply(exported, Context())} == {Outcome.UNCHANGED}


def _renaming(agent: str) -> dict[str, Any]:
    blocks = [{"id": "start", "type": "start"}, {"id": agent, "type": "agent", "model": "demo/demo"}]
    flow = {"slug": "flow", "publish": True, "blocks": blocks, "edges": [["start", agent]]}
    chat = {"slug": "help", "workflow": "flow", "title": "Chat", "outputs": [f"{agent}.content"]}
    return {"workflows": [flow], "chats": [chat]}


def test_it_lets_a_file_change_a_graph_together_with_its_chats() -> None:
    studio_file.apply(_renaming("before"), CONTEXT)
    studio_file.apply(_renaming("after"), CONTEXT)
    with pytest.raises(FileError) as caught:
        studio_file.apply({"workflows": _renaming("again")["workflows"]}, CONTEXT)
    assert caught.value.path == "workflows[0].publish"
    assert "after.content" in caught.value.message


# --- Export -------------------------------------------------------------------------------------------------


def test_its_export_applies_as_unchanged() -> None:
    outcomes(document())
    exported = yaml_text.read(yaml_text.write(studio_file.export()).encode())
    changes = studio_file.apply(exported, Context())
    assert len(changes) == 8
    assert {change.outcome for change in changes} == {Outcome.UNCHANGED}


def test_its_export_makes_the_same_elsewhere_but_for_secrets() -> None:
    outcomes(document(secrets=[], workflows=[workflow("one"), workflow("two")]))
    exported = studio_file.export()
    for model in (ChatDeployment, Workflow, ProviderConnection):
        model.objects.all().delete()
    studio_file.apply(exported, Context())
    assert studio_file.export() == exported


def test_its_export_holds_no_secret() -> None:
    outcomes(document())
    text = yaml_text.write(studio_file.export())
    assert "the order key" not in text
    assert Secret.objects.get(name="ORDER_KEY").value_encrypted not in text


def test_it_exports_chosen_chats_with_what_they_need() -> None:
    outcomes(document())
    chosen = studio_file.only_chats(studio_file.export(), ["one"])
    assert [[entry.get("slug") or entry["name"] for entry in entries] for entries in chosen.values()] == [
        ["demo"],
        ["ORDER_KEY"],
        ["one"],
        ["one"],
    ]


# --- The commands -------------------------------------------------------------------------------------------


def run(command: str, *arguments: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(command, *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "studio.yaml"
    path.write_text(yaml_text.write({"providers": [{"name": "demo", "kind": "demo"}]}))
    return path


def test_the_commands_print_a_line_an_object(file: Path) -> None:
    assert run("apply", str(file), "--dry-run").splitlines() == [
        "created providers[0] demo",
        "Nothing was stored: this was a dry run.",
    ]
    assert run("apply", str(file)) == "created providers[0] demo\n"
    assert run("apply", str(file)) == "unchanged providers[0] demo\n"


def test_the_commands_take_each_other_for_input(file: Path) -> None:
    run("apply", str(file))
    file.write_text(run("export"))
    assert run("apply", str(file)) == "unchanged providers[0] demo\n"


@pytest.mark.parametrize("text", ["agents: []", "chats: [{slug: a}]", "a: [", "a: 1\na: 2"])
def test_apply_ends_with_status_2_for_a_mistake(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(CommandError) as caught:
        run("apply", str(path))
    assert caught.value.returncode == 2


def test_apply_ends_with_status_2_for_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file") as caught:
        run("apply", str(tmp_path / "none.yaml"))
    assert caught.value.returncode == 2


def test_export_ends_with_status_2_for_a_chat_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="There is no chat 'none'") as caught:
        run("export", "--chats", "none")
    assert caught.value.returncode == 2
