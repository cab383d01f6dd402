"""Checks Host and Origin: the names of this service, and the sites whose pages may call it from a browser.

With DNS rebinding, a page of any site can make its own name resolve to 127.0.0.1 and then call this service as same
origin. It cannot hide that name, which is in Host and Origin.
"""

from urllib.parse import urlsplit

from starlette.requests import Request

from librarian.base.errors import Forbidden
from librarian.base.settings.settings import HttpSettings
from librarian.base.settings.values import is_address, is_loopback

_REMEDY = "Call the service by its own name; the operator can add names to LIBRARIAN_ALLOWED_HOSTS."


def refuse_other_sites(request: Request, http: HttpSettings) -> None:
    """Raise Forbidden unless Host is a name of this service, and Origin, if sent, the same or a local one.

    On loopback its names are localhost, addresses, and LIBRARIAN_ALLOWED_HOSTS; elsewhere any name unless some are
    configured.
    """
    host = _name(f"//{request.headers.get('host', '')}")
    if (http.allowed_hosts or is_loopback(http.host)) and not _is_ours(host, http):
        raise Forbidden("The service does not answer to this name.", field="Host", remedy=_REMEDY)
    origin = request.headers.get("origin")
    if origin is not None and _name(origin) != host and not _is_ours(_name(origin), http):
        raise Forbidden("Pages of this origin may not call the service.", field="Origin", remedy=_REMEDY)


def _is_ours(name: str, http: HttpSettings) -> bool:
    return name == "localhost" or is_address(name) or name in http.allowed_hosts


def _name(address: str) -> str:
    """Return the host of an address in lower case without its port; empty if it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
