"""Which machines a webhook may reach.

A name is looked up once. Every address it has must be public, or in a network that the operator allows; the connection
then goes to one of these addresses and not to the name, so that a second answer of the name server changes nothing.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fairtest.service.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairtest.service.alerts.settings import Network

Address = IPv4Address | IPv6Address
TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))
"""Networks whose addresses stand for an IPv4 address in their last 32 bits."""
NEVER = (ip_network("192.88.99.0/24"), ip_network("192.0.0.0/24"), ip_network("fec0::/10"))
"""Networks that Python takes for public and that are not."""


class NotAllowed(Exception):  # noqa: N818 - it says what is the matter
    """The address of a webhook leads where it must not."""


@dataclass(frozen=True)
class Target:
    """A checked address of a webhook."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...] = ()

    @property
    def host_header(self) -> str:
        """The name and, where it is not the usual one, the port."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.scheme == "https" else 80) else f"{name}:{self.port}"


def read_url(url: str) -> Target:
    """Return the parts of an address that a user gave, or say what it must be. Nothing is looked up."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = (
            (parts.hostname or "").encode("idna").decode() if not _is_literal(parts.hostname) else parts.hostname or ""
        )
    except (ValueError, UnicodeError):
        parts, host, port = urlsplit(""), "", 0
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("https", "http") or not host or parts.username or parts.password or not plain:
        raise BadRequest(f"The address of a webhook must be like https://example.com/hook. Got {url[:80]!r} instead.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path)


def resolve(target: Target, allowed: Iterable[Network], look_up: Callable[[str, int], Iterable[str]]) -> Target:
    """Return the target with the addresses of its name, every one of them allowed.

    Raises
    ------
    NotAllowed
        The name has an address that is neither public nor in an allowed network; or it is public and without
        encryption.
    OSError
        The name has no address.
    """
    found = tuple(dict.fromkeys(look_up(target.host, target.port)))
    private = [any(_plain(each) in network for network in allowed) for each in map(ip_address, found)]
    for text, is_private in zip(found, private, strict=True):
        if not is_private and not is_public(ip_address(text)):
            raise NotAllowed("it leads to an address that is not public")
    if not found:
        raise OSError("the name has no address")
    if target.scheme == "http" and not all(private):
        raise NotAllowed("without https, only networks that --allow-private names may be reached")
    return Target(target.scheme, target.host, target.port, target.path, found)


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public network, whatever way it is written.

    Examples
    --------
    >>> [is_public(ip_address(each)) for each in ("8.8.8.8", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    plain = _plain(address)
    if any(plain in network for network in NEVER if network.version == plain.version):
        return False
    return plain.is_global and not (plain.is_multicast or plain.is_reserved or plain.is_unspecified)


def _plain(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    for inner in (address.ipv4_mapped, address.sixtofour, address.teredo and address.teredo[1]):
        if inner is not None:
            return inner
    if any(address in network for network in TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_literal(host: str | None) -> bool:
    try:
        ip_address(host or "")
    except ValueError:
        return False
    return True


def look_up_name(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]).partition("%")[0] for entry in found]
