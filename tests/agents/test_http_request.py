"""What a request may hold, and where a redirect may take it."""

import pytest

from agents.http_request import HttpFailure, HttpRequest, Part, redirected, request
from agents.secrets import Secret

KEY = Secret("KEY", "s3cret-value", ("orders.example.com",))
BOTH = Secret("BOTH", "t0ken-value", ("orders.example.com", "other.example.com"))


def get(url: str = "https://orders.example.com/find", **headers: Part) -> HttpRequest:
    named = {name.replace("_", "-"): part for name, part in headers.items()}
    return request("GET", Part(url), named)


def post(url: str = "https://orders.example.com/find") -> HttpRequest:
    headers = {
        "Authorization": Part("Bearer s3cret-value", frozenset({KEY})),
        "Content-Type": Part("text/plain"),
    }
    return request("POST", Part(url), headers, Part("the body"))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "orders.example.com",
        "ftp://orders.example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "javascript:alert(1)",
        "https://user:pass@orders.example.com/",
        "https://orders.example.com:99999/",
        "https://[::1/",
        "https://orders.example.com/" + "a" * 9000,
    ],
)
def test_it_refuses_what_is_no_plain_address(url: str) -> None:
    with pytest.raises(HttpFailure):
        request("GET", Part(url), {})


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\x00b", "a\x7f"])
def test_it_refuses_line_breaks_in_a_header(value: str) -> None:
    with pytest.raises(HttpFailure, match="X-Order"):
        get(X_Order=Part(value))


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Bad Name", "", "X\r\nY"])
def test_it_refuses_headers_that_are_not_for_a_template(name: str) -> None:
    with pytest.raises(HttpFailure):
        request("GET", Part("https://orders.example.com/"), {name: Part("x")})


@pytest.mark.parametrize("where", ["url", "header", "body"])
def test_it_refuses_a_secret_for_another_host(where: str) -> None:
    secret = frozenset({KEY})
    url = Part("https://evil.example.com/", secret if where == "url" else frozenset())
    headers = {"X-Key": Part("s3cret-value", secret)} if where == "header" else {}
    body = Part("s3cret-value", secret) if where == "body" else None

    with pytest.raises(HttpFailure, match=r"KEY may not be sent to evil\.example\.com") as caught:
        request("POST", url, headers, body)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", None), (302, "GET", None), (303, "GET", None), (307, "POST", "b"), (308, "POST", "b")],
)
def test_a_redirect_on_the_same_host_is_followed_as_the_standard_says(
    status: int, method: str, body: str | None
) -> None:
    after = redirected(post(), status, "/elsewhere?x=1#part")

    assert (after.method, after.body is not None) == (method, body is not None)
    assert str(after.url) == "https://orders.example.com/elsewhere?x=1"
    assert "Authorization" in after.headers
    assert ("Content-Type" in after.headers) is (body is not None)


@pytest.mark.parametrize("status", [301, 302, 303])
def test_b105_another_host_gets_neither_secret_nor_body(status: int) -> None:
    after = redirected(post(), status, "https://other.example.com/")

    assert (after.method, after.body, dict(after.headers)) == ("GET", None, {})
    assert after.secrets == frozenset()


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_b105_what_changes_things_is_never_repeated_to_another_host(status: int, method: str) -> None:
    sent = request(method, Part("https://orders.example.com/"), {}, Part("x") if method != "DELETE" else None)

    with pytest.raises(HttpFailure, match="another host"):
        redirected(sent, status, "https://other.example.com/")


@pytest.mark.parametrize(
    "location",
    [
        "https://orders.example.com:8443/",
        "https://orders.example.com.evil.test/",
        "//other.example.com/x",
        "https://sub.orders.example.com/",
    ],
)
def test_another_port_or_name_is_another_host(location: str) -> None:
    with pytest.raises(HttpFailure, match="another host"):
        redirected(post(), 307, location)


def test_a_header_whose_secrets_all_name_the_new_host_goes_along() -> None:
    sent = get(
        Authorization=Part("t0ken-value", frozenset({BOTH})),
        X_Two=Part("t0ken-value s3cret-value", frozenset({BOTH, KEY})),
        X_Plain=Part("plain"),
        Accept=Part("text/html"),
    )

    after = redirected(sent, 302, "https://other.example.com/")

    assert set(after.headers) == {"Authorization", "Accept"}


def test_it_does_not_step_down_to_plain_http() -> None:
    with pytest.raises(HttpFailure, match="from https to http"):
        redirected(get(), 302, "http://orders.example.com/")


def test_it_steps_up_to_https_on_the_same_host_with_everything() -> None:
    after = redirected(post("http://orders.example.com/a"), 308, "https://orders.example.com/a")

    assert (after.method, after.body is not None, "Authorization" in after.headers) == ("POST", True, True)


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "gopher://x", "https://u:p@orders.example.com/", "http://["]
)
def test_it_follows_no_redirect_to_what_is_no_plain_address(location: str) -> None:
    with pytest.raises(HttpFailure):
        redirected(get("http://orders.example.com/"), 302, location)


def test_it_follows_no_redirect_that_carries_a_secret_away() -> None:
    key = Secret("KEY", "S3cret/value", ("orders.example.com",))
    sent = get("https://orders.example.com/", Authorization=Part("S3cret/value", frozenset({key})))

    for carried in ("evil.test/?key=S3cret/value", "evil.test/#S3cret%2fvalue", "S3cret/value.evil.test"):
        with pytest.raises(HttpFailure, match="with the secret KEY"):
            redirected(sent, 302, f"https://{carried}")
    assert redirected(sent, 302, "/?key=S3cret/value").url.query == {"key": "S3cret/value"}


def test_no_part_of_a_request_shows_itself_by_accident() -> None:
    assert "s3cret" not in repr(post())
