"""The OpenAPI 3.1 document, generated from the table of operations, the contracts and the table of errors."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, get_args

import msgspec

from graph.errors import BookmarkNotReached, DatabaseUnavailable, InvalidBookmark
from librarian.agent.contracts import Detail
from librarian.base import errors, problems
from librarian.base.fields import EdgeId, Namespace, Uid
from librarian.base.schemas import Schema, inlined_schema, schemas_of
from librarian.files.contracts import FilePath
from librarian.http.bookmarks import BOOKMARK, MOST_BOOKMARKS
from librarian.http.endpoints import Endpoint
from librarian.http.examples import Examples, examples_of
from librarian.http.requests import JSON, NDJSON
from librarian.items.contracts import ImportFormat, ItemOut, Outcome
from librarian.sweep.contracts import ReviewId, SweepId
from librarian.transfer.feed.contracts import ChangeCursor, WebhookId

Operations = Sequence[Endpoint[Any, Any]]

_ABOUT = """\
Keeps what an AI agent knows in one knowledge graph and finds the right pieces again.

Every operation under `/v1` requires an API key with the scope that it names, and works in one namespace. Every answer
carries `Request-Id`; errors are `application/problem+json` (RFC 9457) with a stable `code`.
"""
_TAGS = {
    "search": "Find items.",
    "relevant-memory": "Evidence and context for a question.",
    "answer": "Answers with citations.",
    "librarian": "The search agent: the smallest set of evidence for an answer.",
    "items": "Memories, facts, messages and files: store, list, read, change, delete.",
    "files": "Source trees: index, find files, search their text, read lines.",
    "edges": "Typed edges between items.",
    "embeddings": "Embedding spaces: list, and choose the one to search.",
    "namespaces": "List and delete namespaces.",
    "tools": "An agent's tools, as its language model calls them.",
    "service": "Liveness, readiness and metrics of the service; open to everyone who can reach it.",
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
    """Return the document that describes `operations`, as JSON values."""
    schemas = Schemas(operations)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Librarian",
            "version": version("librarian"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The service that sent this document."}],
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        "paths": _paths(operations, schemas),
        "components": {
            "schemas": schemas.components,
            "parameters": _PARAMETERS,
            "headers": _HEADERS,
            "responses": {f"Problem{status}": _refusal(status) for status in _statuses()},
            "securitySchemes": {"key": _SECURITY},
        },
    }


class Schemas:
    """The schemas of all inputs and outputs by type; structs are components."""

    def __init__(self, operations: Operations) -> None:
        read = [
            operation.body.schema for operation in operations if operation.body and operation.body.schema is not bytes
        ]
        answered = [type_ for operation in operations for type_ in operation.answers.values() if type_]
        types = list(dict.fromkeys([*read, *answered]))
        schemas, components = schemas_of(types)
        self._by_type: dict[Any, Schema] = dict(zip(types, schemas, strict=True))
        self.components = {**components, "Problem": _problem_schema()}

    def __getitem__(self, type_: Any) -> Schema:
        """Return the schema of `type_`, an input or output of an operation."""
        return self._by_type[type_]

    def meaning(self, type_: Any) -> str:
        """Return the first paragraph of the description of `type_`."""
        name = getattr(type_, "__name__", "")
        description: str = self.components.get(name, {}).get("description", "")
        return " ".join(description.partition("\n\n")[0].split()) or "Text."


def _paths(operations: Operations, schemas: Schemas) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return paths


def _operation(operation: Endpoint[Any, Any], schemas: Schemas) -> dict[str, Any]:
    summary, rest = _summary_of(operation.description)
    described: dict[str, Any] = {
        "operationId": operation.operation_id,
        "tags": [_tag(operation.path)],
        "summary": summary,
        "description": "\n\n".join(part for part in (rest, _right(operation)) if part),
        "parameters": [*_in_path(operation.path), *_in_query(operation.query), *_in_headers(operation)],
        "responses": _responses(operation, schemas),
        "security": [] if operation.scope is None else [{"key": [] if operation.scope == "any" else [operation.scope]}],
    }
    if operation.body:
        content = {kind: _sent(kind, operation.body.schema, schemas) for kind in operation.body.content_types}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _summary_of(description: str) -> tuple[str, str]:
    """Split into the summary, which is the first sentence, and the rest."""
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
    if operation.honours_key:
        named.append("Idempotency-Key")
    named += operation.headers
    return [{"$ref": f"#/components/parameters/{name}"} for name in named]


def _sent(content_type: str, type_: Any, schemas: Schemas) -> Schema:
    if type_ is bytes:
        return {}  # in OpenAPI: any bytes
    if content_type not in NDJSON:
        return _media(schemas[type_], examples_of(type_))
    several = {title: value for title, value in examples_of(type_).items() if isinstance(value, list)}
    schema = {"type": "string", "description": "One row per line, each an object as in the JSON body's array."}
    return _media(schema, {title: _lines(rows) for title, rows in several.items()})


def _lines(rows: Iterable[Any]) -> str:
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def _media(schema: Schema, examples: Examples) -> Schema:
    shown = {title: {"value": value} for title, value in examples.items()}
    return {"schema": schema, "examples": shown} if shown else {"schema": schema}


def _responses(operation: Endpoint[Any, Any], schemas: Schemas) -> dict[str, Schema]:
    """Return the responses of an operation; a status of success may also be one of `_refusal`."""
    refused = {problems.RULES[error].status for error in _errors(operation)}
    responses: dict[int, Schema] = {status: {"$ref": f"#/components/responses/Problem{status}"} for status in refused}
    for status, type_ in operation.answers.items():
        answer = _answer(operation, status, type_, schemas)
        also = _refusal(status) if status in refused else {"headers": {}, "content": {}}
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
    if operation.honours_key:
        found += _WRITING
    return found


def _answer(operation: Endpoint[Any, Any], status: int, type_: Any, schemas: Schemas) -> dict[str, Any]:
    named = ["Request-Id"]
    if type_ is ItemOut:
        named.append("ETag")
        if operation.method == "PUT":
            named.append("Librarian-Outcome")
    if operation.honours_key:
        named.append("Idempotency-Replayed")
    if operation.writes:
        named.append("Librarian-Bookmark")
    if status == _UNAVAILABLE:
        named.append("Retry-After")
    content = {JSON: _media(schemas[type_], examples_of(type_, status))} if type_ else {operation.media: _TEXT}
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in named}
    return {"description": schemas.meaning(type_), "headers": headers, "content": content}


_TEXT = {"schema": {"type": "string"}}


# Shared components: parameters, headers, refusals.

_PATH_PARTS = {
    "uid": Uid,
    "edge_id": EdgeId,
    "namespace": Namespace,
    "format": ImportFormat,
    "path": FilePath,
    "sweep_id": SweepId,
    "review_id": ReviewId,
    "webhook_id": WebhookId,
}
_PART = re.compile(r"{(\w+)}")
_ROUTING = {
    "method_not_allowed": "The path does not support this method.",
    "http_error": "The service cannot answer this request.",
}
_UNAUTHORIZED, _DEFECT = 401, 500
_RETRIED = {409, 429, 503, 504}


def _in_path(path: str) -> list[Schema]:
    """Return the parameters of a path such as `/v1/items/{uid}`."""
    return [
        {"name": name, "in": "path", "required": True, **_parameter(_schema_of(_PATH_PARTS[name]))}
        for name in _PART.findall(path)
    ]


def _in_query(query: type[Any] | None) -> list[Schema]:
    """Return one parameter per field; lists repeat the name, which is OpenAPI's default."""
    if query is None:
        return []
    described = inlined_schema(query)
    fields: Mapping[str, Schema] = described["properties"]
    required = described.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            **({"required": True} if name in required else {}),
            **_parameter(_not_null(schema)),
        }
        for name, schema in fields.items()
    ]


def _parameter(schema: Schema) -> Schema:
    """Return the schema of a parameter and its description, which documentation shows separately."""
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {"description": schema.get("description", ""), "schema": rest}


def _not_null(schema: Schema) -> Schema:
    """Return the schema without null, which a query string cannot express."""
    options = [option for option in schema.get("anyOf", []) if option != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**rest, **options[0]} if len(options) == 1 else schema


def _schema_of(type_: Any) -> Schema:
    (schema,), _ = schemas_of([type_])
    return schema


def _header(name: str, description: str, schema: Schema) -> Schema:
    return {"name": name, "in": "header", "description": description, "schema": schema}


_SENT = (
    _header(
        "Librarian-Namespace",
        "The namespace to work in, as UTF-8. Optional if the key opens exactly one.",
        _parameter(_schema_of(Namespace))["schema"],
    ),
    _header(
        "Request-Id",
        "The caller's id for this request, 1 to 64 of `A-Z a-z 0-9 . _ -`; anything else is replaced by a new one.",
        {"type": "string"},
    ),
    _header(
        "Request-Timeout-Ms",
        "How many milliseconds the caller waits; the service's own limit (by default 30 s) also applies.",
        {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    ),
    _header(
        "If-Match",
        'The ETag of the version to change, such as `"3"`: 412 if the item has another one. `*` matches any.',
        {"type": "string", "pattern": r'^(\*|"[0-9]{1,15}")$'},
    ),
    _header(
        "Idempotency-Key",
        "1 to 255 visible ASCII characters. Repeating a request with the same key returns the first one's answer.",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    _header(
        "Librarian-Bookmark",
        "From the answer to an earlier write by any replica: this request builds on that write. At most "
        f"{MOST_BOOKMARKS}, separated by commas.",
        {"type": "string", "pattern": f"^{BOOKMARK}(, ?{BOOKMARK})*$"},
    ),
    _header(
        "Librarian-Detail",
        "How much to answer: `default` (three fields), `full`, or `trace`, which is `full` with every step.",
        {"type": "string", "enum": list(get_args(Detail)), "default": "default"},
    ),
    _header(
        "Last-Event-ID",
        "The id of the last event received: the stream continues after it and ignores `after`.",
        _parameter(_schema_of(ChangeCursor))["schema"],
    ),
    _header(
        "traceparent",
        "The caller's trace (W3C Trace Context); handed on to the Professor.",
        {"type": "string", "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"},
    ),
)
_PARAMETERS = {parameter["name"]: parameter for parameter in _SENT}

_STRING = {"type": "string"}
_HEADERS = {
    "Request-Id": {
        "description": "Id of the request, also in the log and in problems.",
        "required": True,
        "schema": _STRING,
    },
    "ETag": {"description": "Version of the item, for If-Match.", "required": True, "schema": _STRING},
    "Librarian-Outcome": {
        "description": "Effect of the request on the item.",
        "required": True,
        "schema": {"type": "string", "enum": list(get_args(Outcome))},
    },
    "Idempotency-Replayed": {
        "description": "`true` on an answer replayed for an Idempotency-Key.",
        "schema": _STRING,
    },
    "Librarian-Bookmark": {
        "description": "Represents the request's writes; a later request that sends it builds on them.",
        "schema": _STRING,
    },
    "Retry-After": {"description": "Seconds after which a retry may help.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "required": True, "schema": _STRING},
}


def _refusal(status: int) -> dict[str, Any]:
    """Return the response for a status of failure: its codes, each with an example."""
    meanings = _meanings(status)
    named = ["Request-Id"]
    if status == _UNAUTHORIZED:
        named.append("WWW-Authenticate")
    if status in _RETRIED:
        named.append("Retry-After")
    shown = {code: {"value": _example(status, code, meaning)} for code, meaning in meanings.items()}
    media = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": shown}
    return {
        "description": f"{problems.title_of(status)}: {', '.join(f'`{code}`' for code in meanings)}.",
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in named},
        "content": {problems.CONTENT_TYPE: media},
    }


def _example(status: int, code: str, meaning: str) -> dict[str, Any]:
    return {
        "title": problems.title_of(status),
        "status": status,
        "detail": meaning,
        "code": code,
        "request_id": "a6c67061f9ba44768e70b9bae26583fb",
    }


def _statuses() -> list[int]:
    """Return every status of a problem, except those of routing."""
    return sorted({rule.status for rule in problems.RULES.values()})


def _problem_schema() -> Schema:
    """Return the schema of a problem, with a table of its codes."""
    meanings = codes()
    rows = "\n".join(f"| `{code}` | {meaning} |" for code, meaning in meanings.items())
    schema = inlined_schema(problems.Problem)
    schema["properties"]["code"] |= {
        "enum": list(meanings),
        "description": f"Stable name of the problem.\n\n| code | meaning |\n|---|---|\n{rows}",
    }
    return schema


def codes() -> dict[str, str]:
    """Return every stable code of a problem with its meaning."""
    meanings = dict(_ROUTING)
    for status in _statuses():
        meanings |= _meanings(status)
    return dict(sorted(meanings.items()))


def _meanings(status: int) -> dict[str, str]:
    """Return the codes of one status with their meanings."""
    rules = {error: rule for error, rule in problems.RULES.items() if rule.status == status}
    meanings = {rule.code: (error.__doc__ or "").strip().splitlines()[0] for error, rule in rules.items()}
    return {**meanings, problems.DEFECT_CODE: problems.DEFECT_DETAIL} if status == _DEFECT else meanings
