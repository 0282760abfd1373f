import json
import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agents.conversation import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from agents.providers.history import COMMON_IDS, fit_history, object_arguments

QUESTION = UserMessage("q")


def asked(*ids: str, vendor: str = "v") -> AssistantMessage:
    return AssistantMessage(
        calls=[ToolCall(id, f"tool{at}", "{}") for at, id in enumerate(ids)], vendor=vendor
    )


def result(id: str, text: str = "ok") -> ToolMessage:
    return ToolMessage(id, "tool", text)


def ids_of(messages: Sequence[Message]) -> list[str]:
    return [
        call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls
    ]


def test_a_whole_history_stays_as_it_is() -> None:
    history: list[Message] = [
        QUESTION,
        asked("a", "b"),
        ToolMessage("a", "tool0", "1"),
        ToolMessage("b", "tool1", "2"),
    ]
    assert fit_history(history, "v") == history


def test_b076_repeated_ids_become_unique_and_keep_their_results() -> None:
    history: list[Message] = [
        QUESTION,
        asked("dup", "dup"),
        result("dup", "1"),
        result("dup", "2"),
        asked("dup"),
        result("dup", "3"),
    ]
    fitted = fit_history(history, "v")
    ids = ids_of(fitted)
    assert len(set(ids)) == 3
    results = {message.call_id: message.text for message in fitted if isinstance(message, ToolMessage)}
    assert [results[id] for id in ids] == ["1", "2", "3"]
    assert fit_history(fitted, "v") == fitted


def test_a_missing_id_is_made() -> None:
    (id,) = ids_of(fit_history([asked("")], "v"))
    assert COMMON_IDS.fullmatch(id)


def test_a_vendors_own_odd_ids_stay_and_foreign_ones_are_replaced() -> None:
    assert ids_of(fit_history([asked("functions.add:0")], "v")) == ["functions.add:0"]
    (id,) = ids_of(fit_history([asked("functions.add:0", vendor="other")], "v"))
    assert COMMON_IDS.fullmatch(id)


def test_ids_fit_the_strictest_vendor() -> None:
    (id,) = ids_of(fit_history([asked("call_abc", vendor="openai")], "mistral", re.compile("[a-zA-Z0-9]{9}")))
    assert re.fullmatch("[a-zA-Z0-9]{9}", id)


def test_b078_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() -> None:
    fitted = fit_history([result("lost"), QUESTION, asked("a", "b"), result("b"), result("lost")], "v")
    assert [type(message) for message in fitted] == [UserMessage, AssistantMessage, ToolMessage, ToolMessage]
    assert fitted[2] == ToolMessage("a", "tool0", "This call was not run.", is_error=True)


def test_arguments_that_are_no_object_are_handed_back_inside_one() -> None:
    assert object_arguments("") == "{}"
    assert object_arguments(' {"a": 1}') == ' {"a": 1}'
    assert json.loads(object_arguments('{"a": 1')) == {"invalid_json": '{"a": 1'}
    assert json.loads(object_arguments("[1]")) == {"invalid_json": "[1]"}
    assert json.loads(object_arguments("[" * 100_000)) == {"invalid_json": "[" * 100_000}


IDS = st.sampled_from(["", "a", "b", "dup", "x:1"])
MESSAGES = st.lists(
    st.one_of(
        st.just(QUESTION),
        st.builds(
            lambda ids, vendor: asked(*ids, vendor=vendor), st.lists(IDS, max_size=3), st.sampled_from("vw")
        ),
        st.builds(result, IDS),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_every_history_comes_out_with_each_call_answered_once_and_right_behind_it(
    messages: list[Message],
) -> None:
    fitted = fit_history(messages, "v")
    ids = ids_of(fitted)
    assert len(set(ids)) == len(ids)
    at = 0
    while at < len(fitted):
        message = fitted[at]
        assert not isinstance(message, ToolMessage)
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        answers = fitted[at + 1 : at + 1 + len(calls)]
        assert [answer.call_id for answer in answers if isinstance(answer, ToolMessage)] == [
            call.id for call in calls
        ]
        at += 1 + len(calls)
    assert fit_history(fitted, "v") == fitted
