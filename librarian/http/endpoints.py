"""Declarations of endpoints, from which routes, checks and the OpenAPI document are built.

A handler is called only after the key, its scope, the namespace, the query string and the body were checked. Open
operations have to declare the scope None.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import getdoc
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from librarian.app import Librarian
from librarian.base.errors import Forbidden
from librarian.base.keys import ApiKey
from librarian.http.auth import Required, authenticated, namespace_of
from librarian.http.bookmarks import catch_up
from librarian.http.idempotency import answer_once, claim_of, key_of
from librarian.http.limits import Limits
from librarian.http.query import query_of
from librarian.http.requests import JSON, json_body, ready_librarian
from librarian.operations import Method, Pool

B = TypeVar("B")
Q = TypeVar("Q")
Answer = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Call(Generic[B, Q]):
    """One checked request: its caller, namespace, body and query.

    `key` is None for an open operation; `namespace` is empty for an operation without one.
    """

    request: Request
    librarian: Librarian
    key: ApiKey | None
    namespace: str
    body: B
    query: Q

    def path(self, name: str) -> str:
        """Return a parameter of the path."""
        part: str = self.request.path_params[name]
        return part

    def progressed(self, *_report: object) -> None:
        """Report that a part of the work is committed, which restarts the request's deadline."""
        self.request.state.clock.restart()


@dataclass(frozen=True, slots=True)
class Body(Generic[B]):
    """The body of an operation: the type for its schema, the content types, and the reader."""

    schema: Any
    content_types: tuple[str, ...]
    read: Callable[[Request], Awaitable[B]]


def json_of(type_: type[B]) -> Body[B]:
    """Return a JSON body of `type_`."""
    return Body(type_, (JSON,), partial(json_body, type_=type_))


@dataclass(frozen=True, slots=True)
class Gate:
    """How a request is admitted: finds its key and namespace, and reads its query string."""

    caller: Callable[[Request, Required], ApiKey]
    namespace: Callable[[Request, ApiKey], str]
    query: Callable[[Request, type[Any] | None], Any]


API = Gate(authenticated, namespace_of, query_of)
"""The gate for programs: an API key and the namespace in headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(Generic[B, Q]):
    """One operation.

    `scope` "any" accepts every valid key, None opens it to everyone. `answers` maps each status of success to the type
    of its JSON (None: `media` instead of JSON); `errors` are the classes it raises beyond the common ones; `versioned`:
    it supports If-Match; `headers` are further ones that it reads; `pool` names the slots it takes; `gate` admits its
    callers; `secret`: its answer holds a secret and is not kept for an Idempotency-Key. `name` and `doc` default to the
    handler's name and docstring.
    """

    method: Method
    path: str
    handler: Callable[[Call[B, Q]], Awaitable[Response]]
    scope: Required | None
    namespaced: bool = True
    body: Body[B] | None = None
    query: type[Q] | None = None
    answers: Mapping[int, Any] = field(default_factory=dict)
    media: str = "text/plain"
    errors: tuple[type[Exception], ...] = ()
    versioned: bool = False
    headers: tuple[str, ...] = ()
    pool: Pool = "requests"
    gate: Gate = API
    secret: bool = False
    name: str = ""
    doc: str = ""

    @property
    def operation_id(self) -> str:
        """Its stable name."""
        return self.name or self.handler.__name__

    @property
    def description(self) -> str:
        """The description; the first line is the summary."""
        return self.doc or getdoc(self.handler) or ""

    @property
    def writes(self) -> bool:
        """Whether it changes something. Writes wait for a starting graph, so that nothing is lost; reads fail fast."""
        return self.method != "GET" and self.scope in ("write", "sweep", "admin")

    @property
    def honours_key(self) -> bool:
        """Whether its answer is kept for an Idempotency-Key."""
        return self.writes and not self.secret

    @property
    def uses_graph(self) -> bool:
        """Whether it depends on stored data, so that it honours a Librarian-Bookmark."""
        return self.scope not in (None, "any")


def routes_of(
    endpoints: Iterable[Endpoint[Any, Any]], around: Callable[[Answer], Answer] = lambda answering: answering
) -> list[Route]:
    """Return one route per path for all of its methods, in the given order; `around` wraps the handlers."""
    by_path: dict[str, dict[str, Endpoint[Any, Any]]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [
        Route(_pattern(path), around(_dispatcher(methods)), methods=list(methods)) for path, methods in by_path.items()
    ]


def _pattern(path: str) -> str:
    """Let the last parameter match slashes, for paths of files."""
    return path.replace("{path}", "{path:path}")


def _dispatcher(by_method: Mapping[str, Endpoint[Any, Any]]) -> Answer:
    async def dispatch(request: Request) -> Response:
        return await answer(by_method["GET" if request.method == "HEAD" else request.method], request)

    return dispatch


async def answer(endpoint: Endpoint[B, Q], request: Request) -> Response:
    """Check one request, then let the handler answer it.

    An open operation takes no slot: it must be answered even under full load.
    """
    if endpoint.scope is None:
        return await endpoint.handler(await _call(endpoint, request, None, ""))
    key = endpoint.gate.caller(request, endpoint.scope)
    namespace = endpoint.gate.namespace(request, key) if endpoint.namespaced else ""
    limits: Limits = request.state.limits
    async with (limits.agents if endpoint.pool == "agents" else limits.capacity).slot():
        sent = key_of(request) if endpoint.honours_key else None
        claim = None if sent is None else await claim_of(request, sent, key, namespace)
        call = await _call(endpoint, request, key, namespace)
        if claim is None:
            return await endpoint.handler(call)
        state = call.request.state
        keep_s = state.http.idempotency_hours * 3600
        work = partial(endpoint.handler, call)
        return await answer_once(call.librarian.parts.executor, claim, keep_s, work, request_id=state.request_id)


async def _call(endpoint: Endpoint[B, Q], request: Request, key: ApiKey | None, namespace: str) -> Call[B, Q]:
    query: Any = endpoint.gate.query(request, endpoint.query)
    _refuse_bringing_back(query, key)
    body: Any = None if endpoint.body is None else await endpoint.body.read(request)
    librarian: Librarian = await ready_librarian(request) if endpoint.writes else request.state.librarian
    if endpoint.uses_graph and not (endpoint.pool == "agents" and librarian.agent.asks_professor):
        await catch_up(request, librarian)
    return Call(request, librarian, key, namespace, body, query)


def _refuse_bringing_back(query: Any, key: ApiKey | None) -> None:
    """Raise Forbidden if the request restores forgotten items without the right to."""
    if getattr(query, "even_if_forgotten", False) and (key is None or not key.has_scope("admin")):
        raise Forbidden("Restoring forgotten items takes a key with the scope admin.")
