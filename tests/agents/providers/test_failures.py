"""What vendors say when they fail, and what it means. The words are theirs."""

from typing import Any

import pytest

from agents.providers.failures import Failure, classify, parse_error_fields, parse_failure
from streaming.codes import RunCode

CONTEXT = [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "the request exceeds the available context size, try increasing it",
    "Requested tokens (4102) exceed context window of 2048",
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Range of input length should be [1, 129024]",
    "Invalid request: Your request exceeded model token limit: 131072",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "Prompt exceeds max length",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
]


@pytest.mark.parametrize("message", CONTEXT)
@pytest.mark.parametrize("status", [400, 413, 422, None])
def test_it_recognises_an_overfull_context_window_in_every_vendors_words(
    message: str, status: int | None
) -> None:
    assert classify(Failure(message, status=status)) is RunCode.CONTEXT_WINDOW_EXCEEDED


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Failure("too long", code="context_length_exceeded"), RunCode.CONTEXT_WINDOW_EXCEEDED),
        (Failure("x", type="exceed_context_size_error", status=400), RunCode.CONTEXT_WINDOW_EXCEEDED),
        (Failure("no", status=401), RunCode.PROVIDER_AUTH),
        (Failure("Insufficient Balance", status=402), RunCode.PROVIDER_AUTH),
        (Failure("country not supported", status=403), RunCode.PROVIDER_AUTH),
        (Failure("The model `gpt-9` does not exist", status=404), RunCode.PROVIDER_BAD_REQUEST),
        (Failure("slow down", status=429), RunCode.PROVIDER_RATE_LIMITED),
        (Failure("You exceeded your quota", code="insufficient_quota"), RunCode.PROVIDER_RATE_LIMITED),
        (
            Failure("Request too large: tokens per minute (TPM)", code="rate_limit_exceeded", status=413),
            RunCode.PROVIDER_RATE_LIMITED,
        ),
        (Failure("Too large: reduce the length of the messages", status=429), RunCode.PROVIDER_RATE_LIMITED),
        (Failure("Overloaded", type="overloaded_error"), RunCode.PROVIDER_OVERLOADED),
        (Failure("x", status=503), RunCode.PROVIDER_OVERLOADED),
        (Failure("x", status=529), RunCode.PROVIDER_OVERLOADED),
        (Failure("x", status=500), RunCode.PROVIDER_UNAVAILABLE),
        (Failure("Bad gateway", status=502), RunCode.PROVIDER_UNAVAILABLE),
        (Failure("context window", status=500), RunCode.PROVIDER_UNAVAILABLE),
        (Failure("Provider disconnected", code="server_error"), RunCode.PROVIDER_UNAVAILABLE),
        (
            Failure("The response was filtered by Azure OpenAI's content management policy.", status=400),
            RunCode.PROVIDER_CONTENT_FILTERED,
        ),
        (Failure("x", code="content_filter", status=400), RunCode.PROVIDER_CONTENT_FILTERED),
        (
            Failure("The input has inappropriate content.", code="data_inspection_failed"),
            RunCode.PROVIDER_CONTENT_FILTERED,
        ),
        (Failure("Content violates usage guidelines.", status=403), RunCode.PROVIDER_CONTENT_FILTERED),
        (Failure("Incorrect API key provided"), RunCode.PROVIDER_AUTH),
        (Failure("Tool call validation failed", code="tool_use_failed"), RunCode.PROVIDER_BAD_REQUEST),
        (Failure("something nobody has seen"), RunCode.PROVIDER_UNAVAILABLE),
    ],
)
def test_it_maps_a_failure_to_one_code(failure: Failure, code: RunCode) -> None:
    assert classify(failure) is code


@pytest.mark.parametrize(
    ("document", "message", "code", "status"),
    [
        ({"error": {"message": "m", "code": "c", "type": "t"}}, "m", "c", None),
        ({"error": {"message": "m", "code": 429}}, "m", "429", 429),
        ({"error": {"message": "m", "status_code": 400, "code": "c"}}, "m", "c", 400),
        ({"error": "m"}, "m", "", None),
        ({"error": "m", "message": "more"}, "m: more", "", None),
        ({"object": "error", "message": "m", "code": 40303}, "m", "40303", None),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "m", "", None),
        ({"type": "error", "message": "m", "code": "c"}, "m", "c", None),
        ({"message": "m", "code": "c"}, "m", "c", None),
        ({"detail": "m"}, "m", "", None),
        ({"detail": [{"msg": "m", "loc": ["body"]}]}, "m", "", None),
        ({"success": False, "errors": [{"code": 7003, "message": "m"}]}, "m", "7003", None),
        ([{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}], "m", "400", 400),
        ({"error": {"message": "m", "metadata": {"raw": "upstream"}}}, "m: upstream", "", None),
        ({"error": {"error": {"message": "m", "code": "c"}}}, "m", "c", None),
    ],
)
def test_it_finds_the_error_in_every_vendors_shape(
    document: Any, message: str, code: str, status: int | None
) -> None:
    failure = parse_failure(document)
    assert failure is not None
    assert (failure.message, failure.code, failure.status) == (message, code, status)


@pytest.mark.parametrize(
    "document", [{}, [], None, 3, "x", {"error": None}, {"error": {}}, {"choices": []}, {"message": "m"}]
)
def test_it_finds_no_error_where_there_is_none(document: Any) -> None:
    assert parse_failure(document) is None


def test_b059_the_same_error_has_the_same_code_in_every_shape() -> None:
    shapes: list[tuple[Any, int | None]] = [
        ({"message": "too long", "code": "context_length_exceeded"}, None),
        ({"error": {"message": "too long", "code": "context_length_exceeded"}}, 400),
        (
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"},
            },
            400,
        ),
        (
            {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "The input token count exceeds the maximum",
                }
            },
            400,
        ),
    ]
    codes = {classify(parse_error_fields(document, status)) for document, status in shapes}
    assert codes == {RunCode.CONTEXT_WINDOW_EXCEEDED}


def test_the_detail_is_clean_and_bounded() -> None:
    detail = Failure("a\x00b\ud800" + "x" * 9000, code="c", type="t", status=400).detail
    assert detail.startswith("a\ufffdb\ufffd")
    assert len(detail) <= 2000
