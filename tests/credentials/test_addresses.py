"""Addresses that staff may write down."""

import pytest
from django.core.exceptions import ValidationError

from credentials.addresses import validate_base_url, validate_hosts

GOOD = [
    "http://127.0.0.1:9000/v1",
    "http://localhost:11434",
    "http://ollama:11434/v1",
    "https://api.example.com/v1/",
    "http://[::1]:8000",
    "http://10.0.0.7/v1",
    "https://models.例子.com/v1",
]


@pytest.mark.parametrize("url", GOOD)
def test_it_takes_a_model_server_next_door(url: str) -> None:
    validate_base_url(url)


BAD = [
    "",
    "example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://",
    "http:///v1",
    "http://user:pw@example.com",
    "http://user@example.com",
    "http://:pw@example.com",
    "http://example.com/v1?key=x",
    "http://example.com/#x",
    "http://example.com:99999",
    "http://exa mple.com",
    "http://example.com/\nHost: x",
    "http://example.com\\@169.254.169.254/",
    "http://[::1",
]


@pytest.mark.parametrize("url", BAD)
def test_it_refuses_what_is_no_base_address(url: str) -> None:
    with pytest.raises(ValidationError):
        validate_base_url(url)


METADATA = [
    "169.254.169.254",
    "169.254.1.1",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "metadata.google.internal",
    "METADATA.google.internal.",
]


@pytest.mark.parametrize("host", METADATA)
def test_b106_it_refuses_metadata_addresses_in_every_spelling(host: str) -> None:
    with pytest.raises(ValidationError, match="metadata"):
        validate_base_url(f"http://{host}/v1")


def test_it_takes_hosts_with_and_without_ports() -> None:
    validate_hosts(
        ["orders.example.com", "localhost:9000", "10.0.0.7", "[::1]:8000", "::1", "xn--bcher-kva.example"]
    )


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        "orders.example.com",
        [1],
        [""],
        ["https://orders.example.com"],
        ["orders.example.com/find"],
        ["Orders.example.com"],
        ["orders.example.com:0"],
        ["orders.example.com:70000"],
        ["a b"],
        ["*.example.com"],
        ["x"] * 51,
    ],
)
def test_it_refuses_what_is_no_list_of_hosts(hosts: object) -> None:
    with pytest.raises(ValidationError):
        validate_hosts(hosts)
