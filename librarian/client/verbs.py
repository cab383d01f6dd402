"""The requests of all verbs: pure functions from arguments to `Request`, which both clients send.

They are built from the table of operations, except for the special ones below.
"""

import re
import uuid
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from librarian.agent.contracts import Detail, SearchAgentInput, SearchAgentOutput
from librarian.client.rows import Rows
from librarian.files.contracts import PutFileOutput
from librarian.items.contracts import IngestReport, ItemIn, ItemOut, Outcome, PutOutput
from librarian.operations import OPERATIONS, Method, Operation, signature_of
from librarian.runtime.contracts import Readiness

T = TypeVar("T")

NAMESPACE_HEADER = "Librarian-Namespace"
OUTCOME_HEADER = "Librarian-Outcome"
IDEMPOTENCY_HEADER = "Idempotency-Key"
DETAIL_HEADER = "Librarian-Detail"
_JSON = "application/json"
_NDJSON = "application/x-ndjson"
_REFUSED = 400
_IN_BRACES = re.compile(r"{(\w+)}")
_CONTENT_TYPES = {"json": _JSON, "merge-patch": "application/merge-patch+json", "file": "application/octet-stream"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A raw answer; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One request, and how to read its answer.

    `safe`: it may be repeated after a failure, since a second time changes nothing. `rows` is a streamed body, which is
    never repeated. `answers` are the statuses beyond 2xx that are answers too.
    """

    method: Method
    path: str
    read: Callable[[Reply], T]
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    rows: Rows | None = None
    answers: frozenset[int] = frozenset()
    safe: bool = True


Describe = Callable[..., Request[Any]]


def described(operation: Operation) -> Describe:
    """Return the function from the arguments of a verb to its request, with the verb's signature."""
    signature = signature_of(operation)

    def describe(*args: Any, **options: Any) -> Request[Any]:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        return request_of(operation, bound.arguments)

    describe.__name__, describe.__doc__ = operation.name, operation.description
    describe.__signature__ = signature  # type: ignore[attr-defined]  # what inspect looks for
    return describe


def request_of(operation: Operation, arguments: Mapping[str, Any]) -> Request[Any]:
    """Return the request for `operation`, with the arguments of its verb by name."""
    http = operation.http
    method, form = (http.method, http.form) if http else ("POST", "json")
    given = _input(operation, arguments)
    headers = {NAMESPACE_HEADER: arguments["namespace"]} if operation.namespaced else {}
    safe = http is None or not http.secret
    if operation.writes and safe:  # an idempotency key makes a write safe to repeat
        headers[IDEMPOTENCY_HEADER] = uuid.uuid4().hex
    if (version := arguments.get("if_version")) is not None:
        headers["If-Match"] = f'"{version}"'
    sends_body = given is not None and method != "GET"
    query = given if method == "GET" else None
    if http is not None and http.query is not None:
        query = _query(http.query, arguments)
    if sends_body:
        headers["Content-Type"] = _CONTENT_TYPES[form]
    statuses = http.statuses if http else ()
    return Request(
        method=method,
        path=_filled(operation.path, arguments),
        read=_json(operation.output),
        params=() if query is None else _params(query),
        headers=headers,
        body=_encoded(given) if sends_body else None,
        answers=frozenset(status for status in statuses if status >= _REFUSED),
        safe=safe,
    )


def _input(operation: Operation, arguments: Mapping[str, Any]) -> Any:
    """Return the content of the body or query string; of a larger struct, only the operation's fields."""
    if operation.unpacked:
        return operation.input(**{name: arguments[name] for name in operation.input.__struct_fields__})
    if operation.input is None:
        return None
    given = arguments[operation.argument]
    names = getattr(operation.input, "__struct_fields__", ())
    if not names or isinstance(given, Mapping) or type(given) is operation.input:
        return given
    fields = msgspec.to_builtins(given)
    return {name: fields[name] for name in names if name in fields}


def _query(query: type[Struct], arguments: Mapping[str, Any]) -> Struct:
    """Return the query string beside a body."""
    return query(**{name: arguments[name] for name in query.__struct_fields__ if name in arguments})


def ingest(
    rows: Iterable[tuple[int, bytes] | Mapping[str, Any]] | AsyncIterable[tuple[int, bytes] | Mapping[str, Any]],
    *,
    namespace: str,
    even_if_forgotten: bool = False,
) -> Request[IngestReport]:
    """Store rows given as dicts, or as (line number from 1, JSON); only the asynchronous client accepts an asynchronous
    source.

    They are streamed, so there is no retry; what an interrupted ingest has stored stays, and repeating it adds only
    the rest. Rejected rows are listed in the report, not raised. Forgotten items are held back unless
    `even_if_forgotten`, which takes a key with the scope admin.
    """
    return Request(
        method="POST",
        path="/v1/items",
        params=(("even_if_forgotten", "true"),) if even_if_forgotten else (),
        headers={"Content-Type": _NDJSON, NAMESPACE_HEADER: namespace},
        rows=rows,
        read=_json(IngestReport),
        answers=frozenset({422}),
        safe=False,
    )


def put_file(namespace: str, path: str, data: bytes, root: str = "") -> Request[PutFileOutput]:
    """Store one file under `path`; storing the same contents again changes nothing. `root` names its origin."""
    request = request_of(_ROWS["put_file"], {"namespace": namespace, "path": path, "data": data})
    return replace(request, params=(("root", root),) if root else ())


def search_agent(namespace: str, asked: SearchAgentInput, *, detail: Detail = "full") -> Request[SearchAgentOutput]:
    """Find the smallest set of evidence for a question, never an answer; in `namespace`, or in the Professor's
    documents if the service has one configured.
    """
    request = request_of(_ROWS["search_agent"], {"namespace": namespace, "asked": asked})
    return replace(request, headers={**request.headers, DETAIL_HEADER: detail})


def put_item(namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> Request[PutOutput]:
    """Create or replace the item `uid` by `row`; `if_version` 0 requires that it does not exist yet."""
    arguments = {"namespace": namespace, "uid": uid, "row": row, "if_version": if_version}
    return replace(request_of(_ROWS["put_item"], arguments), read=_put_output)


def readiness() -> Request[Readiness]:
    """Return whether the service can serve requests now, with each check's result."""
    return Request(method="GET", path="/readyz", read=_json(Readiness), answers=frozenset({503}))


def _put_output(reply: Reply) -> PutOutput:
    outcome = msgspec.convert(reply.headers.get(OUTCOME_HEADER.lower()), Outcome)
    return PutOutput(outcome=outcome, item=msgspec.json.decode(reply.body, type=ItemOut))


def _json(type_: type[T]) -> Callable[[Reply], T]:
    return lambda reply: msgspec.json.decode(reply.body, type=type_)


def _encoded(given: Any) -> bytes:
    return given if isinstance(given, bytes) else msgspec.json.encode(given)


def _filled(path: str, arguments: Mapping[str, Any]) -> str:
    """Return the path with its parameters filled in; dots alone would be read as folders."""
    for name in _IN_BRACES.findall(path):
        text = arguments[name]
        path = path.replace(f"{{{name}}}", quote(text, safe="") if text.strip(".") else text.replace(".", "%2E"))
    return path


def _params(query: Struct) -> tuple[tuple[str, str], ...]:
    """Return the set fields as a query string; a list repeats its name for each element."""
    given = ((name, value) for name, value in msgspec.to_builtins(query).items() if value is not None)
    return tuple(
        (name, str(element)) for name, value in given for element in (value if isinstance(value, list) else [value])
    )


_ROWS = {operation.name: operation for operation in OPERATIONS}
_SPECIAL: tuple[Describe, ...] = (ingest, put_file, put_item, search_agent, readiness)
VERBS: Mapping[str, Describe] = {
    **{operation.name: described(operation) for operation in OPERATIONS},
    **{describe.__name__: describe for describe in _SPECIAL},
}
"""Every verb of the clients."""
