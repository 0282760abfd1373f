"""Only what trusted proxies saw counts as a client's address."""

import pytest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from runs.http import client_address


def address(trusted: int, forwarded: str | None = None, peer: str = "192.0.2.9", **headers: str) -> str:
    request = RequestFactory().get("/")
    request.META |= {"REMOTE_ADDR": peer, **headers}
    if forwarded is not None:
        request.META["HTTP_X_FORWARDED_FOR"] = forwarded
    return client_address(request, trusted)


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        (0, None, "192.0.2.9"),
        (0, "10.0.0.1", "192.0.2.9"),
        (0, "10.0.0.1, 10.0.0.2", "192.0.2.9"),
        (1, None, "192.0.2.9"),
        (1, "198.51.100.1", "198.51.100.1"),
        (1, "10.0.0.1, 198.51.100.1", "198.51.100.1"),
        (1, "10.0.0.1,10.0.0.2 , 198.51.100.1 ", "198.51.100.1"),
        (2, "198.51.100.1, 203.0.113.5", "198.51.100.1"),
        (2, "10.0.0.1, 198.51.100.1, 203.0.113.5", "198.51.100.1"),
        (2, "198.51.100.1", "198.51.100.1"),
        (1, "198.51.100.1:40312", "198.51.100.1"),
        (1, "[2001:db8:1:2:3::4]:443", "2001:db8:1:2::/64"),
        (1, "fe80::1%eth0", "fe80::/64"),
        (1, "garbage", "192.0.2.9"),
        (2, "198.51.100.1, garbage, 203.0.113.5", "203.0.113.5"),
        (1, "", "192.0.2.9"),
    ],
)
def test_it_takes_the_hop_that_the_outermost_trusted_proxy_saw(
    trusted: int, forwarded: str | None, expected: str
) -> None:
    assert address(trusted, forwarded) == expected


@pytest.mark.parametrize("trusted", [0, 1, 2])
def test_b128_no_header_of_a_client_moves_it(trusted: int) -> None:
    """The proxies in front append what they saw; all that stands left of it is the client's invention."""
    seen = ["198.51.100.1", "203.0.113.5"][:trusted]
    invented = [f"10.0.0.{n}" for n in range(40)] + ["10.0.0.1, 10.0.0.2", "2001:db8::1", "unknown", "'", ","]
    addresses = {
        address(
            trusted,
            ", ".join([lie, *seen]),
            HTTP_FORWARDED=f"for={lie}",
            HTTP_X_REAL_IP=lie,
            HTTP_X_CLIENT_IP=lie,
            HTTP_CLIENT_IP=lie,
        )
        for lie in invented
    }

    assert addresses == {seen[0] if seen else "192.0.2.9"}


def test_b128_visitors_behind_one_proxy_are_not_one() -> None:
    assert address(1, "198.51.100.1") != address(1, "198.51.100.2")


def test_b128_an_ipv6_client_is_its_64_bit_network() -> None:
    rotated = {address(0, peer=f"2001:db8:1:2::{n:x}") for n in range(1, 40)}

    assert rotated == {"2001:db8:1:2::/64"}
    assert address(0, peer="2001:db8:1:3::1") not in rotated


def test_it_folds_a_mapped_ipv4_address() -> None:
    assert address(0, peer="::ffff:192.0.2.9") == address(0, peer="192.0.2.9")


def test_it_says_unknown_on_a_unix_socket() -> None:
    assert address(0, peer="") == "unknown"


@given(st.text(max_size=40), st.integers(0, 3))
def test_it_returns_an_address_for_any_header(forwarded: str, trusted: int) -> None:
    assert address(trusted, forwarded)
