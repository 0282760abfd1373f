"""A body is one strict JSON object of bounded size and depth, or the right refusal."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from runs.http import MAX_DEPTH, parse_body
from runs.refusals import Refused
from streaming.codes import RefusalCode

LIMIT = 1000


def parse(body: bytes, content_type: str = "application/json", limit: int = LIMIT) -> dict[str, Any]:
    return parse_body(chunked(body, content_type), limit)


def chunked(body: bytes, content_type: str = "application/json") -> ASGIRequest:
    """Return a request whose size nobody told."""
    headers = [(b"content-type", content_type.encode())]
    return ASGIRequest({"type": "http", "method": "POST", "path": "/", "headers": headers}, BytesIO(body))


def refusal(body: bytes, content_type: str = "application/json", limit: int = LIMIT) -> RefusalCode:
    with pytest.raises(Refused) as caught:
        parse(body, content_type, limit)
    return caught.value.code


def test_it_returns_the_object() -> None:
    assert parse('{"input": "Grüße", "n": [1, 2.5, null, true]}'.encode()) == {
        "input": "Grüße",
        "n": [1, 2.5, None, True],
    }


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_it_takes_any_spelling_of_the_content_type(content_type: str) -> None:
    assert parse(b"{}", content_type) == {}


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"],
)
def test_it_refuses_what_a_form_of_another_site_could_send(content_type: str) -> None:
    assert refusal(b"{}", content_type) is RefusalCode.UNSUPPORTED_MEDIA_TYPE


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a": 1} x',
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\xff"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\n"}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 3000 + b"]" * 3000 + b"}",
        b'{"a": ' + b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH + b"}",
        b"[" * 100_000,
    ],
)
def test_it_refuses_what_is_no_strict_json(body: bytes) -> None:
    assert refusal(body, limit=200_000) is RefusalCode.INVALID_JSON


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null"])
def test_it_refuses_what_is_no_object(body: bytes) -> None:
    assert refusal(body) is RefusalCode.INVALID_BODY


def test_it_takes_wide_and_allowed_depth() -> None:
    deep = b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH
    wide = b'{"a": [' + b"[]," * 200 + b"[]]}"

    assert parse(deep, limit=len(deep)) == json.loads(deep)
    assert len(parse(wide, limit=len(wide))["a"]) == 201


def test_it_takes_the_last_of_duplicate_keys() -> None:
    assert parse(b'{"a": 1, "a": 2}') == {"a": 2}


def test_it_refuses_more_than_the_limit_by_what_was_told() -> None:
    request = RequestFactory().post(
        "/api/x", b"{}", content_type="application/json", CONTENT_LENGTH=str(10**30)
    )

    with pytest.raises(Refused) as caught:
        parse_body(request, LIMIT)
    assert caught.value.code is RefusalCode.BODY_TOO_LARGE


@pytest.mark.parametrize(("size", "refused"), [(LIMIT, False), (LIMIT + 1, True), (100 * LIMIT, True)])
def test_it_counts_a_body_of_untold_size(size: int, refused: bool) -> None:
    request = chunked(b'{"a": "' + b"x" * (size - 9) + b'"}')

    if not refused:
        assert len(parse_body(request, LIMIT)["a"]) == size - 9
        return
    with pytest.raises(Refused) as caught:
        parse_body(request, LIMIT)
    assert caught.value.code is RefusalCode.BODY_TOO_LARGE


def test_it_replaces_nul_and_lone_surrogates_in_keys_and_values() -> None:
    body = rb'{"a\u0000": ["\ud800x", {"k\udc00": "\ud83d\ude00"}]}'

    assert parse(body) == {"a\ufffd": ["\ufffdx", {"k\ufffd": "😀"}]}


@given(st.binary(max_size=60) | st.text('{}[]":,0e.-\\u dbcf', max_size=60).map(str.encode))
def test_it_returns_an_object_or_refuses_for_any_bytes(body: bytes) -> None:
    try:
        value = parse(body)
    except Refused as refused:
        code = refused.code
    else:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        assert "\x00" not in str(value)
        return
    assert code in {RefusalCode.INVALID_JSON, RefusalCode.INVALID_BODY}
