"""Checks the addresses of webhooks: none inside the service's network, unless its operator allows it.

A name is resolved once for each delivery, and the connection goes to the addresses that were checked, so that
rebinding the name in between has no effect.
"""

import asyncio
import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from librarian.base.errors import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_PORTS = {"https": 443, "http": 80}
# Addresses that embed one of the other IP version, which a gateway may route inside.
_CARRIERS = tuple(ipaddress.IPv6Network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16"))
_REMEDY = "Webhooks need a public https address; the operator can set LIBRARIAN_WEBHOOKS_PRIVATE=1."


class AddressRefused(Exception):
    """A host inside a network, or one outside without TLS."""


def checked_url(url: str, *, private: bool) -> SplitResult:
    """Return the parts of a webhook's URL. Raises InvalidInput."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidInput("it is not a URL", field="$.url") from None
    if parts.scheme not in (("https", "http") if private else ("https",)) or not parts.hostname or port == 0:
        raise InvalidInput("it must look like https://host/path", field="$.url", remedy=None if private else _REMEDY)
    if "@" in parts.netloc or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput("it must be ASCII, without user, password, fragment or space", field="$.url")
    if not private and _is_private(parts.hostname):
        raise InvalidInput("it leads to an address that is not public", field="$.url", remedy=_REMEDY)
    return parts


async def addresses_of(parts: SplitResult, *, private: bool) -> list[str]:
    """Return the addresses of the URL's host, in the system's order of preference.

    Raises AddressRefused, and OSError for an unknown name.
    """
    port = parts.port or _PORTS[parts.scheme]
    found = await asyncio.get_running_loop().getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    public = [is_public(ipaddress.ip_address(address)) for address in addresses]
    # One private address among public ones refuses them all; public ones need TLS.
    if (not private and not all(public)) or (parts.scheme == "http" and any(public)):
        raise AddressRefused
    return addresses


def is_public(address: Address) -> bool:
    """Return whether an address is a public unicast address."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in _CARRIERS):
            return False
    return address.is_global and not address.is_multicast


def _is_private(host: str) -> bool:
    try:
        return not is_public(ipaddress.ip_address(host))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
