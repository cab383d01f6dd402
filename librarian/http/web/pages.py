"""Admits people in browsers to the pages, which are endpoints like those for programs.

A handler is called only after the session, the rate and scope of its key, the namespace, the query string and the
form's token were checked.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from librarian.base.errors import Forbidden, InvalidInput
from librarian.base.keys import ApiKey
from librarian.base.settings.values import checked_namespace
from librarian.http.auth import Required, admitted
from librarian.http.endpoints import Answer, Body, Call, Endpoint, Gate
from librarian.http.web.forms import FORM, MULTIPART, TOKEN_FIELD, Form, Upload, form_of, page_query, upload_of
from librarian.http.web.render import HEADERS, here, page
from librarian.http.web.session import Sessions, session_of

B = TypeVar("B")
Q = TypeVar("Q")

NAMESPACE_FIELD = "ns"
_NOT_PAGES = ("/v1/", "/mcp", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/static/")


class Diverted(Exception):
    """The visitor is redirected before the page is shown."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def page_endpoint(
    path: str,
    handler: Callable[[Call[B, Q]], Awaitable[Response]],
    scope: Required | None,
    *,
    method: Literal["GET", "POST"] = "GET",
    namespaced: bool = True,
    query: type[Q] | None = None,
    in_parts: bool = False,
) -> Endpoint[B, Q]:
    """Return a page as an endpoint. `query` is the type of its query string besides namespace and language; a form
    posted `in_parts` may be long and have a file.

    If `namespaced`, a visitor whose key opens several namespaces chooses one first. A page without a `scope` checks its
    visitors and reads its form itself.
    """
    return Endpoint(
        method=method,
        path=path,
        handler=handler,
        scope=scope,
        namespaced=namespaced,
        body=_body(in_parts=in_parts) if method == "POST" and scope is not None else None,
        query=query,
        gate=_PEOPLE,
    )


def wants_page(scope: Scope) -> bool:
    """Return whether the answer should be a page: the client is a browser, and the path is not for programs."""
    path: str = scope["path"]
    return "text/html" in Headers(scope=scope).get("accept", "") and not path.startswith(_NOT_PAGES)


def for_browsers(answering: Answer) -> Answer:
    """Admit only browsers; for programs the paths of pages do not exist."""

    async def show(request: Request) -> Response:
        if not wants_page(request.scope):
            raise HTTPException(404)
        try:
            return await answering(request)
        except Diverted as diverted:
            return diverted.response

    return show


def _visitor(request: Request, scope: Required) -> ApiKey:
    """Return the key of the visitor's session. Raises Diverted without one."""
    session = session_of(request)
    if session is None:
        raise Diverted(_to_login(request))
    request.state.session = session
    admitted(request, session.key, scope)
    return session.key


def _namespace(request: Request, key: ApiKey) -> str:
    """Return the namespace of the address, or the only one that the key opens.

    Raises Diverted if the visitor has to choose.
    """
    wanted = request.query_params.get(NAMESPACE_FIELD) or key.only_namespace()
    if wanted is None:
        query = urlencode({"next": here(request), "auto": "1"})
        raise Diverted(RedirectResponse(f"/namespaces?{query}", 303, HEADERS))
    try:
        wanted = checked_namespace(wanted)
    except ValueError as error:
        raise InvalidInput(str(error), field=NAMESPACE_FIELD) from None
    if not key.allows(wanted):
        raise Forbidden(f"This API key does not open the namespace {wanted!r}.", field=NAMESPACE_FIELD)
    structlog.contextvars.bind_contextvars(namespace=wanted)
    request.state.namespace = wanted
    return wanted


async def _session_form(request: Request) -> Form:
    """Return the fields of a form after checking that it belongs to the visitor's session."""
    form = await form_of(request)
    _check_token(request, form)
    return form


async def _session_upload(request: Request) -> Upload:
    """Return a form in parts after checking that it belongs to the visitor's session."""
    upload = await upload_of(request)
    _check_token(request, upload.fields)
    return upload


def _check_token(request: Request, form: Form) -> None:
    sessions: Sessions = request.state.sessions
    sessions.check_token(request.state.session.id, form.pop(TOKEN_FIELD, ""))


_PEOPLE = Gate(_visitor, _namespace, page_query)


def _body(*, in_parts: bool) -> Body[Any]:
    return Body(bytes, (MULTIPART,), _session_upload) if in_parts else Body(dict[str, str], (FORM,), _session_form)


def _to_login(request: Request) -> Response:
    """Send the visitor to the login form and back again.

    A browser withholds a strict cookie after a link from another site; reloading the page from here shows whether there
    is one.
    """
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return page(request, "again.html")
    return RedirectResponse(f"/login?{urlencode({'next': here(request)})}", 303, HEADERS)
