from hypothesis import given
from hypothesis import strategies as st

from agents.providers.call_markup import CallMarkup

MARKUP = '<tool_call>{"name":"find_order","arguments":{"code":"ELM-5"}}</tool_call>'


def test_b009_markup_beside_a_real_call_never_goes_out() -> None:
    markup = CallMarkup()
    assert markup.feed("I look. " + MARKUP) == ["I look. "]
    assert markup.call_came() == []
    assert markup.flush() == []


def test_b009_markup_after_a_real_call_never_goes_out_even_one_character_at_a_time() -> None:
    markup = CallMarkup()
    markup.call_came()
    sent = [piece for character in MARKUP + " Then." for piece in markup.feed(character)] + markup.flush()
    assert "".join(sent) == " Then."


def test_text_after_markup_follows_when_the_call_comes() -> None:
    markup = CallMarkup()
    assert markup.feed(MARKUP + "So, ") == []
    assert markup.call_came() == ["So, "]
    assert markup.feed("well") == ["well"]


def test_markup_without_a_call_is_text_in_the_end() -> None:
    markup = CallMarkup()
    assert markup.feed("Write <tool_call> and") == ["Write "]
    assert markup.feed(" so on") == []
    assert markup.flush() == ["<tool_call> and so on"]


def test_unfinished_markup_of_a_real_call_is_dropped() -> None:
    markup = CallMarkup()
    markup.feed('<tool_call>{"name"')
    markup.call_came()
    assert markup.flush() == []


def test_a_comparison_waits_for_one_delta_at_most_and_stays_two_deltas() -> None:
    markup = CallMarkup()
    assert markup.feed("a ") == ["a "]
    assert markup.feed("<") == []
    assert markup.feed(" b") == ["<", " b"]


PIECES = st.lists(
    st.sampled_from(
        ["<tool_call>", "</tool_call>", "<", "<tool", "_call>", "a", " ", "<function=", "</function>", "｜"]
    )
)


@given(PIECES)
def test_without_a_call_every_character_arrives(pieces: list[str]) -> None:
    markup = CallMarkup()
    sent = [piece for delta in pieces for piece in markup.feed(delta)] + markup.flush()
    assert "".join(sent) == "".join(pieces)
    assert all(sent)


@given(PIECES, st.integers(0, 10))
def test_with_a_call_the_same_arrives_wherever_the_text_is_cut(pieces: list[str], when: int) -> None:
    text = "".join(pieces)
    assert with_call([text], 0) == with_call(list(text), min(when, len(text)))


def with_call(deltas: list[str], when: int) -> str:
    markup = CallMarkup()
    sent: list[str] = []
    for number, delta in enumerate(deltas):
        if number == when:
            sent += markup.call_came()
        sent += markup.feed(delta)
    sent += markup.call_came()
    return "".join(sent + markup.flush())
