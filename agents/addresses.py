"""Which addresses a request made for a workflow may connect to: public ones and those named by the operator.

Asked for the very address of each connection, never for a name, so that no spelling, redirect or resolver
gets round it. Pure.
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from yarl import URL

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: Where clouds tell a machine its own credentials. Refused whatever is allowed.
METADATA: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # link-local: AWS, Azure, GCP, containers
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's wire server
        "192.0.0.192/32",  # Oracle
        "fe80::/10",
        "fd00:ec2::/32",  # AWS
        "fd20:ce::/32",  # GCP
    )
)

#: IANA's special-purpose IPv4 blocks, and what is no single machine.
_SPECIAL_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)

#: IPv6 is public only in here …
_GLOBAL_V6 = IPv6Network("2000::/3")
#: … and not in here.
_SPECIAL_V6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20"))

_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")


class AddressPolicy:
    """`allowed`: CIDRs, addresses and host names (a name allows whatever it resolves to, but metadata).

    Raises ValueError for an entry that is none of them.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._networks: list[Network] = []
        self._hosts: set[str] = set()
        for entry in filter(None, map(str.strip, allowed)):
            self._allow(entry)

    def _allow(self, entry: str) -> None:
        try:
            self._networks.append(ip_network(entry, strict=False))
        except ValueError:
            if "/" in entry or ":" in entry:
                raise
            self._hosts.add(normal_host(entry))

    def permits(self, host: str, address: str) -> bool:
        """Whether a connection made for `host` may go to `address`."""
        try:
            target = ip_address(address)
        except ValueError:
            return False
        if isinstance(target, IPv6Address):
            target = IPv6Address(int(target))  # without its zone
        if is_metadata(target):
            return False
        return is_public(target) or normal_host(host) in self._hosts or self._in_allowed(target)

    def _in_allowed(self, target: Address) -> bool:
        mapped = target.ipv4_mapped if isinstance(target, IPv6Address) else None
        return any(target in network or (mapped and mapped in network) for network in self._networks)


def normal_host(host: str) -> str:
    """A host name as compared: lower case, ASCII, without a final dot."""
    return (URL.build(scheme="http", host=host).raw_host or "").rstrip(".").lower()


def is_public(address: Address) -> bool:
    """Whether `address` is one machine of the public internet, whatever IPv4 address it carries included."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_V4)
    carried = _carried(address)
    if carried is not None:
        return is_public(carried)
    return address in _GLOBAL_V6 and not any(address in network for network in _SPECIAL_V6)


def is_metadata(address: Address) -> bool:
    """Whether a cloud would tell credentials there. Refused even to staff's own model servers."""
    carried = _carried(address) if isinstance(address, IPv6Address) else None
    return any(address in network or (carried and carried in network) for network in METADATA)


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a translator or tunnel would take out of this one."""
    if address in _NAT64 or address in _COMPATIBLE:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour
