"""One declaration a page: from it come its route and its checks, the same that an operation of the interface has.

A handler is called only after the session, the rate and scope of its key, the form's token, the namespace and the
query string have passed.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlencode

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from librarian.errors import Forbidden, InvalidInput
from librarian.http.auth import Required, admitted
from librarian.http.endpoints import Call
from librarian.http.limits import Limits
from librarian.http.requests import ready_librarian
from librarian.http.web.forms import TOKEN_FIELD, Form, form_of, page_query
from librarian.http.web.render import HEADERS, here, page
from librarian.http.web.session import Session, Sessions, session_of
from librarian.setting_values import namespace as checked_namespace

Q = TypeVar("Q")
Show = Callable[[Request], Awaitable[Response]]

NAMESPACE_FIELD = "ns"
_NOT_PAGES = ("/v1/", "/mcp", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/static/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Q]):
    """One page. `scope` "any" takes every valid key; `query` is what its address may hold besides namespace and
    language. Where `namespaced`, somebody whose key opens several namespaces is asked for one first.
    """

    path: str
    handler: Callable[[Call[Form, Q]], Awaitable[Response]]
    scope: Required
    method: Literal["GET", "POST"] = "GET"
    namespaced: bool = True
    query: type[Q] | None = None


def wants_page(scope: Scope) -> bool:
    """Whether an answer should be a page: a browser asks, and not for what programs read."""
    path: str = scope["path"]
    return "text/html" in Headers(scope=scope).get("accept", "") and not path.startswith(_NOT_PAGES)


def routes_of_pages(pages: Iterable[Page[Any]], open_pages: Iterable[tuple[str, Mapping[str, Show]]]) -> list[Route]:
    """One route a path, for all of its methods; `open_pages` check their visitors themselves."""
    by_path: dict[str, dict[str, Show]] = {path: dict(methods) for path, methods in open_pages}
    for one in pages:
        by_path.setdefault(one.path, {})[one.method] = _shower(one)
    return [Route(path, _dispatcher(methods), methods=list(methods)) for path, methods in by_path.items()]


def _dispatcher(by_method: Mapping[str, Show]) -> Show:
    async def dispatch(request: Request) -> Response:
        if not wants_page(request.scope):  # for programs these paths are as unknown as they always were
            raise HTTPException(404)
        return await by_method["GET" if request.method == "HEAD" else request.method](request)

    return dispatch


def _shower(declared: Page[Q]) -> Show:
    async def show(request: Request) -> Response:
        session = session_of(request)
        return _to_login(request) if session is None else await _answer(declared, request, session)

    return show


async def _answer(declared: Page[Q], request: Request, session: Session) -> Response:
    """Check one request from outside in, then let the handler answer it."""
    request.state.session = session
    admitted(request, session.key, declared.scope)
    form = await _posted(request, session) if declared.method == "POST" else {}
    namespace = _namespace(request, session) if declared.namespaced else ""
    if namespace is None:
        return RedirectResponse(f"/namespaces?{urlencode({'next': here(request), 'auto': '1'})}", 303, HEADERS)
    request.state.namespace = namespace
    limits: Limits = request.state.limits
    async with limits.capacity.slot():
        librarian = await ready_librarian(request) if declared.method == "POST" else request.state.librarian
        query: Any = page_query(request, declared.query)
        return await declared.handler(Call(request, librarian, session.key, namespace, form, query))


async def _posted(request: Request, session: Session) -> Form:
    """The form, which belongs to this session."""
    form = await form_of(request)
    sessions: Sessions = request.state.sessions
    sessions.check_token(session.id, form.pop(TOKEN_FIELD, ""))
    return form


def _namespace(request: Request, session: Session) -> str | None:
    """The namespace of the address, or the only one that the key opens; None where somebody has to choose."""
    wanted = request.query_params.get(NAMESPACE_FIELD) or session.key.only_namespace()
    if wanted is None:
        return None
    try:
        wanted = checked_namespace(wanted)
    except ValueError as error:
        raise InvalidInput(str(error), field=NAMESPACE_FIELD) from None
    if not session.key.allows(wanted):
        raise Forbidden(f"This API key does not open the namespace {wanted!r}.", field=NAMESPACE_FIELD)
    structlog.contextvars.bind_contextvars(namespace=wanted)
    return wanted


def _to_login(request: Request) -> Response:
    """To the login form and back again.

    A browser keeps a strict cookie to itself when the link was on another site; loading the page once more from here
    tells whether there is one.
    """
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return page(request, "again.html")
    return RedirectResponse(f"/login?{urlencode({'next': here(request)})}", 303, HEADERS)
