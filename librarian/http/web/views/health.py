"""The state of the service, and its namespaces."""

from importlib.metadata import version
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct
from starlette.responses import RedirectResponse, Response

from librarian.base.errors import Unauthenticated
from librarian.base.keys import ApiKey
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form
from librarian.http.web.render import HEADERS, page
from librarian.http.web.views.login import own_path
from librarian.items.contracts import NamespaceOut

_MOST_NAMESPACES = 200


class NamespacesPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """The page to return to with the chosen namespace; `auto`: the visitor did not request the choice."""

    next: str = "/"
    auto: bool = False


async def show_health(call: Call[Form, None]) -> Response:
    """Show whether requests can be served, any obstacles, and the numbers of stored items."""
    readiness = await call.librarian.readiness()
    namespaces = await _namespaces(call) if readiness.ready and _reads(call.key) else []
    return page(
        call.request,
        "health.html",
        status=200 if readiness.ready else 503,
        readiness=readiness,
        namespaces=namespaces[:_MOST_NAMESPACES],
        more=len(namespaces) > _MOST_NAMESPACES,
        version=version("librarian"),
    )


async def show_namespaces(call: Call[Form, NamespacesPage]) -> Response:
    """Let the visitor choose among the namespaces that the key opens; a single one is chosen automatically."""
    target = own_path(call.query.next)
    namespaces = await _namespaces(call)
    if call.query.auto and len(namespaces) == 1:
        return RedirectResponse(_in_namespace(target, namespaces[0].namespace), 303, HEADERS)
    choices = [(namespace, _in_namespace(target, namespace.namespace)) for namespace in namespaces[:_MOST_NAMESPACES]]
    more = len(namespaces) > _MOST_NAMESPACES
    return page(call.request, "namespaces.html", choices=choices, more=more, target=urlsplit(target).path)


def _in_namespace(target: str, namespace: str) -> str:
    """Return the address with another namespace."""
    parts = urlsplit(target)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "ns"]
    return f"{parts.path}?{urlencode([*kept, ('ns', namespace)])}"


async def _namespaces(call: Call[Form, NamespacesPage] | Call[Form, None]) -> list[NamespaceOut]:
    if call.key is None:
        raise Unauthenticated
    return (await call.librarian.namespaces(call.key.allows)).namespaces


def _reads(key: ApiKey | None) -> bool:
    return key is not None and key.has_scope("read")
