"""Which addresses a workflow's request may connect to."""

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.addresses import METADATA, AddressPolicy, is_public

EVERYTHING = ("0.0.0.0/0", "::/0", "metadata.example")

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.5",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:7f00:1::",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
]
NEVER = [
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "64:ff9b::169.254.169.254",
    "2002:a9fe:a9fe::",
]
PUBLIC = [
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "192.0.1.1",
    "2606:4700::1111",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_it_permits_public_addresses(address: str) -> None:
    assert AddressPolicy().permits("example.com", address)


@pytest.mark.parametrize("address", [*PRIVATE, *NEVER, "", "localhost", "127.1", "0x7f.1", "2130706433"])
def test_it_refuses_everything_else(address: str) -> None:
    assert not AddressPolicy().permits("example.com", address)


@pytest.mark.parametrize("address", NEVER)
def test_metadata_addresses_are_refused_even_if_allowed(address: str) -> None:
    assert not AddressPolicy(EVERYTHING).permits("metadata.example", address)


@pytest.mark.parametrize("address", [a for a in PRIVATE if a not in NEVER])
def test_what_is_allowed_is_permitted(address: str) -> None:
    assert AddressPolicy(EVERYTHING).permits("example.com", address)


def test_an_allowed_network_permits_its_own_addresses_in_either_form() -> None:
    policy = AddressPolicy(["10.0.0.0/8", " 127.0.0.1 ", ""])

    assert policy.permits("x", "10.9.9.9")
    assert policy.permits("x", "::ffff:10.9.9.9")
    assert policy.permits("x", "127.0.0.1")
    assert not policy.permits("x", "127.0.0.2")
    assert not policy.permits("x", "::1")


def test_an_allowed_name_permits_what_it_resolves_to_and_no_other_name() -> None:
    policy = AddressPolicy(["Ollama.Internal."])

    assert policy.permits("ollama.internal", "10.0.0.5")
    assert policy.permits("OLLAMA.internal.", "10.0.0.5")
    assert not policy.permits("evil.example", "10.0.0.5")
    assert not policy.permits("x.ollama.internal", "10.0.0.5")
    assert not policy.permits("ollama.internal", "169.254.169.254")


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "10.0.0/8/8", "fd00::/200", "http://x"])
def test_it_refuses_an_entry_that_is_nothing(entry: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        AddressPolicy([entry])


@given(st.ip_addresses())
def test_no_address_of_a_private_block_is_public_however_it_is_wrapped(
    address: IPv4Address | IPv6Address,
) -> None:
    if isinstance(address, IPv4Address):
        number = int(address)
        wrapped = [IPv6Address(number), IPv6Address((0xFFFF << 32) | number)]
        wrapped += [IPv6Address((0x64FF9B << 96) | number), IPv6Address((0x2002 << 112) | (number << 80))]
        for form in wrapped:
            assert is_public(form) == is_public(address)
    assert not is_public(address) or address.is_global
    if any(address in network for network in METADATA):
        assert not AddressPolicy([str(ip_network(address))]).permits("x", str(address))
