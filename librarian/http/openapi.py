"""The OpenAPI 3.1 document, made from the table of operations, the contracts and the table of errors."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from graph.errors import BookmarkNotReached, DatabaseUnavailable, InvalidBookmark
from librarian import errors, problems
from librarian.contracts.examples import Examples, examples_of
from librarian.contracts.items import ItemOut
from librarian.http.endpoints import Endpoint
from librarian.http.openapi_parts import HEADERS, PARAMETERS, in_path, in_query, problem_schema, refusal, statuses
from librarian.http.requests import JSON, NDJSON
from librarian.schemas import Schema, schemas_of

Operations = Sequence[Endpoint[Any, Any]]

_ABOUT = """\
Keeps what an AI agent knows in one knowledge graph and finds the right pieces again.

Every operation under `/v1` wants an API key with the scope that it names, and works in one namespace. Every answer
carries `Request-Id`; errors are `application/problem+json` (RFC 9457) with a stable `code`.
"""
_TAGS = {
    "search": "Find items.",
    "relevant-memory": "What helps to answer a question.",
    "answer": "Answers with citations.",
    "librarian": "The search agent: the smallest set of evidence, for whoever answers.",
    "items": "Memories, facts, messages and files: store, list, read, change, delete.",
    "files": "Source trees: index, find files, search their text, read lines.",
    "edges": "Typed edges between items.",
    "embeddings": "Embedding spaces: which there are, and which one is searched.",
    "namespaces": "Which namespaces there are, and the end of one.",
    "tools": "The tools of an agent, as its language model calls them.",
    "service": "Whether the service lives and can serve, and its figures; open to everyone who can reach it.",
}
_SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key; `librarian keys create` makes one. Scopes: read, write, sweep, agent, admin (= all). "
    "A key opens the namespaces that it is bound to.",
}

_UNAVAILABLE = 503

# Errors beyond those that an operation names itself.
_EVERYWHERE = (errors.InvalidInput, errors.DeadlineExceeded, errors.LibrarianError)
_WITH_A_KEY = (
    errors.Unauthenticated,
    errors.Forbidden,
    errors.TooManyRequests,
    errors.Overloaded,
    errors.NotReady,
    DatabaseUnavailable,
)
_USING_THE_GRAPH = (InvalidBookmark, BookmarkNotReached)
_WITH_A_BODY = (errors.PayloadTooLarge, errors.UnsupportedMediaType)
_WRITING = (errors.RequestInProgress, errors.IdempotencyKeyReused)


def document(operations: Operations) -> dict[str, Any]:
    """The document that describes `operations`, as values of JSON."""
    schemas = Schemas(operations)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Librarian",
            "version": version("librarian"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "Where this document comes from."}],
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        "paths": _paths(operations, schemas),
        "components": {
            "schemas": schemas.components,
            "parameters": PARAMETERS,
            "headers": HEADERS,
            "responses": {f"Problem{status}": refusal(status) for status in statuses()},
            "securitySchemes": {"key": _SECURITY},
        },
    }


class Schemas:
    """The schemas of everything that operations read and answer, by type; structs stand among the components."""

    def __init__(self, operations: Operations) -> None:
        read = [one.body.schema for one in operations if one.body and one.body.schema is not bytes]
        answered = [type_ for operation in operations for type_ in operation.answers.values() if type_]
        types = list(dict.fromkeys([*read, *answered]))
        schemas, components = schemas_of(types)
        self._by_type: dict[Any, Schema] = dict(zip(types, schemas, strict=True))
        self.components = {**components, "Problem": problem_schema()}

    def __getitem__(self, type_: Any) -> Schema:
        """The schema of `type_`, which one of the operations reads or answers."""
        return self._by_type[type_]

    def meaning(self, type_: Any) -> str:
        """What `type_` is: the first paragraph of its description."""
        name = getattr(type_, "__name__", "")
        description: str = self.components.get(name, {}).get("description", "")
        return " ".join(description.partition("\n\n")[0].split()) or "Text."


def _paths(operations: Operations, schemas: Schemas) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return paths


def _operation(operation: Endpoint[Any, Any], schemas: Schemas) -> dict[str, Any]:
    summary, rest = _told(operation.description)
    described: dict[str, Any] = {
        "operationId": operation.operation_id,
        "tags": [_tag(operation.path)],
        "summary": summary,
        "description": "\n\n".join(part for part in (rest, _right(operation)) if part),
        "parameters": [*in_path(operation.path), *in_query(operation.query), *_in_headers(operation)],
        "responses": _responses(operation, schemas),
        "security": [] if operation.scope is None else [{"key": [] if operation.scope == "any" else [operation.scope]}],
    }
    if operation.body:
        content = {kind: _sent(kind, operation.body.schema, schemas) for kind in operation.body.content_types}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _told(description: str) -> tuple[str, str]:
    """The summary, which is the first sentence, and the rest."""
    summary, _, rest = re.sub(r"\s*\n\s*(?=\S)", "\n", description).partition(".")
    return summary.replace("\n", " "), rest.strip()


def _tag(path: str) -> str:
    first, second, *_ = [*re.split(r"[/:]", path.lstrip("/")), ""]
    return second if first == "v1" else "service"


def _right(operation: Endpoint[Any, Any]) -> str:
    if operation.scope is None:
        return "Open: needs no key."
    return "Any valid key." if operation.scope == "any" else f"Scope: `{operation.scope}`."


def _in_headers(operation: Endpoint[Any, Any]) -> list[Schema]:
    named = ["Request-Id", "Request-Timeout-Ms"]
    if operation.namespaced and operation.scope is not None and "{namespace}" not in operation.path:
        named.append("Librarian-Namespace")
    if operation.uses_graph:
        named.append("Librarian-Bookmark")
    if operation.versioned:
        named.append("If-Match")
    if operation.writes:
        named.append("Idempotency-Key")
    named += operation.headers
    return [{"$ref": f"#/components/parameters/{name}"} for name in named]


def _sent(content_type: str, type_: Any, schemas: Schemas) -> Schema:
    if type_ is bytes:
        return {}  # OpenAPI's way to say: any bytes
    if content_type not in NDJSON:
        return _media(schemas[type_], examples_of(type_))
    several = {title: value for title, value in examples_of(type_).items() if isinstance(value, list)}
    schema = {"type": "string", "description": "One row a line, each an object as in the JSON body's array."}
    return _media(schema, {title: _lines(rows) for title, rows in several.items()})


def _lines(rows: Iterable[Any]) -> str:
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def _media(schema: Schema, examples: Examples) -> Schema:
    shown = {title: {"value": value} for title, value in examples.items()}
    return {"schema": schema, "examples": shown} if shown else {"schema": schema}


def _responses(operation: Endpoint[Any, Any], schemas: Schemas) -> dict[str, Schema]:
    """What an operation may answer; a status of its own answers may be one of refusal too."""
    refused = {problems.RULES[error].status for error in _errors(operation)}
    responses: dict[int, Schema] = {status: {"$ref": f"#/components/responses/Problem{status}"} for status in refused}
    for status, type_ in operation.answers.items():
        answer = _answer(operation, status, type_, schemas)
        also = refusal(status) if status in refused else {"headers": {}, "content": {}}
        both: Mapping[str, Any] = {key: {**also[key], **answer[key]} for key in ("headers", "content")}
        responses[status] = {"description": answer["description"], **both}
    return {str(status): response for status, response in sorted(responses.items())}


def _errors(operation: Endpoint[Any, Any]) -> list[type[Exception]]:
    found = [*_EVERYWHERE, *operation.errors]
    if operation.scope is not None:
        found += _WITH_A_KEY
    if operation.uses_graph:
        found += _USING_THE_GRAPH
    if operation.body:
        found += _WITH_A_BODY
    if operation.writes:
        found += _WRITING
    return found


def _answer(operation: Endpoint[Any, Any], status: int, type_: Any, schemas: Schemas) -> dict[str, Any]:
    named = ["Request-Id"]
    if type_ is ItemOut:
        named.append("ETag")
        if operation.method == "PUT":
            named.append("Librarian-Outcome")
    if operation.writes:
        named += ["Idempotency-Replayed", "Librarian-Bookmark"]
    if status == _UNAVAILABLE:
        named.append("Retry-After")
    content = {JSON: _media(schemas[type_], examples_of(type_, status))} if type_ else {operation.media: _TEXT}
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in named}
    return {"description": schemas.meaning(type_), "headers": headers, "content": content}


_TEXT = {"schema": {"type": "string"}}
