"""Which addresses staff may write down: base URLs of providers, hosts of secrets.

A model server may live on a private address. Metadata addresses, where clouds tell a machine its own
credentials, are refused in every spelling; names are looked at when they are connected to.
"""

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from agents.addresses import Address, is_metadata

_METADATA_NAMES = {"metadata", "metadata.google.internal", "metadata.goog", "instance-data"}
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_-]{1,63})*\Z")
_PORT = re.compile(r":(\d{1,5})\Z")
MAX_HOSTS = 50


def validate_base_url(url: str) -> None:
    """Raise ValidationError unless this is an http or https address that a provider may have."""
    if re.search(r"[\s\x00-\x1f\\]", url):
        raise ValidationError("An address has no spaces, line breaks or backslashes.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValidationError("This is not an address.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ValidationError("An address begins with https:// or http:// and a host.")
    if parts.username is not None or parts.password is not None:
        raise ValidationError("Put no name or password into the address; the key has its own field.")
    if parts.query or parts.fragment:
        raise ValidationError("A base address has no query and no fragment.")
    if names_metadata(host):
        raise ValidationError("Link-local and metadata addresses are never allowed.")


def names_metadata(host: str) -> bool:
    """Say whether a host, as written, is a metadata address; names are not resolved."""
    name = host.strip("[]").rstrip(".").lower()
    address = _literal(name)
    return name in _METADATA_NAMES or (address is not None and is_metadata(address))


def _literal(name: str) -> Address | None:
    try:
        return ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        pass
    try:
        # The spellings that a C library takes as well: 2852039166, 0xa9fea9fe, 169.254.43518
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except (OSError, ValueError):
        return None


def validate_hosts(hosts: object) -> None:
    """Raise ValidationError unless this is a list of host names or addresses, each with or without a port."""
    if not isinstance(hosts, list) or not all(isinstance(host, str) for host in hosts):
        raise ValidationError("Hosts are a list of names.")
    if not hosts or len(hosts) > MAX_HOSTS:
        raise ValidationError(f"Name 1 to {MAX_HOSTS} hosts: a secret goes to its hosts and nowhere else.")
    for host in hosts:
        if not _is_host(host):
            raise ValidationError(
                f"“{host}” is not a host name in small letters, such as orders.example.com, without https://."
            )


def _is_host(host: str) -> bool:
    port = None if _literal(host.strip("[]")) else _PORT.search(host)
    if port and not 0 < int(port[1]) < 65536:
        return False
    name = host[: port.start()] if port else host
    return _HOST.match(name) is not None or _literal(name.strip("[]")) is not None
