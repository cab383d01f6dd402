"""What the operations of the OpenAPI document share: parameters, headers, and what a refusal looks like."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from librarian import problems
from librarian.contracts.changes import Outcome
from librarian.contracts.fields import EdgeId, Namespace, Uid
from librarian.contracts.files import FilePath
from librarian.contracts.imports import ImportFormat
from librarian.contracts.reviews import ReviewId
from librarian.contracts.search_agent import Detail
from librarian.contracts.sweeps import SweepId
from librarian.http.bookmarks import BOOKMARK, MOST_BOOKMARKS
from librarian.schemas import Schema, inlined_schema, schemas_of

_PATH_PARTS = {
    "uid": Uid,
    "edge_id": EdgeId,
    "namespace": Namespace,
    "format": ImportFormat,
    "path": FilePath,
    "sweep_id": SweepId,
    "review_id": ReviewId,
}
_PART = re.compile(r"{(\w+)}")
_ROUTING = {
    "method_not_allowed": "The path exists, not with this method.",
    "http_error": "The request is none that the service can answer.",
}
_UNAUTHORIZED, _DEFECT = 401, 500
_RETRIED = {409, 429, 503, 504}


def in_path(path: str) -> list[Schema]:
    """The parameters of a path such as `/v1/items/{uid}`."""
    return [
        {"name": name, "in": "path", "required": True, **_described(_schema_of(_PATH_PARTS[name]))}
        for name in _PART.findall(path)
    ]


def in_query(query: type[Any] | None) -> list[Schema]:
    """One parameter a field; a list is given by repeating the name, which is OpenAPI's default."""
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
            **_described(_not_null(schema)),
        }
        for name, schema in fields.items()
    ]


def _described(schema: Schema) -> Schema:
    """The schema of a parameter, with its description beside it, where documentation shows it."""
    rest = {key: value for key, value in schema.items() if key != "description"}
    return {"description": schema.get("description", ""), "schema": rest}


def _not_null(schema: Schema) -> Schema:
    """The schema without null, which a query string cannot say."""
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
        "The namespace to work in, as UTF-8. May be left out when the key opens exactly one.",
        _described(_schema_of(Namespace))["schema"],
    ),
    _header(
        "Request-Id",
        "The caller's id for this request, 1 to 64 of `A-Z a-z 0-9 . _ -`; anything else is replaced by a new one.",
        {"type": "string"},
    ),
    _header(
        "Request-Timeout-Ms",
        "How many milliseconds the caller waits; the service's own limit (by default 30 s) holds too.",
        {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    ),
    _header(
        "If-Match",
        'The ETag of the version to change, such as `"3"`: 412 when the item is at another one. `*` takes any.',
        {"type": "string", "pattern": r'^(\*|"[0-9]{1,15}")$'},
    ),
    _header(
        "Idempotency-Key",
        "1 to 255 visible ASCII characters. The same request sent again with the same key gets the first one's answer.",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    _header(
        "Librarian-Bookmark",
        "From an answer to an earlier write, of whatever replica: this request builds on that write. Several are "
        f"separated by commas, at most {MOST_BOOKMARKS}.",
        {"type": "string", "pattern": f"^{BOOKMARK}(, ?{BOOKMARK})*$"},
    ),
    _header(
        "Librarian-Detail",
        "How much to answer: `default` (three fields), `full`, or `trace`, which is `full` with every step.",
        {"type": "string", "enum": list(get_args(Detail)), "default": "default"},
    ),
    _header(
        "traceparent",
        "The caller's trace (W3C Trace Context); handed on to the Professor.",
        {"type": "string", "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"},
    ),
)
PARAMETERS = {parameter["name"]: parameter for parameter in _SENT}

_TEXT = {"type": "string"}
HEADERS = {
    "Request-Id": {
        "description": "Id of the request, which the log and problems name too.",
        "required": True,
        "schema": _TEXT,
    },
    "ETag": {"description": "Version of the item, for If-Match.", "required": True, "schema": _TEXT},
    "Librarian-Outcome": {
        "description": "What the request did to the item.",
        "required": True,
        "schema": {"type": "string", "enum": list(get_args(Outcome))},
    },
    "Idempotency-Replayed": {
        "description": "`true` on an answer that an Idempotency-Key brought back.",
        "schema": _TEXT,
    },
    "Librarian-Bookmark": {
        "description": "Stands for what the request wrote; a later request that sends it builds on that.",
        "schema": _TEXT,
    },
    "Retry-After": {"description": "Seconds after which a retry may help.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "required": True, "schema": _TEXT},
}


def refusal(status: int) -> dict[str, Any]:
    """What stands under a status of failure: the codes that it may carry, each with an example."""
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


def statuses() -> list[int]:
    """Every status that a problem may have, but for those of routing."""
    return sorted({rule.status for rule in problems.RULES.values()})


def problem_schema() -> Schema:
    """The schema of a problem, with a table of what its codes mean."""
    known = codes()
    rows = "\n".join(f"| `{code}` | {meaning} |" for code, meaning in known.items())
    schema = inlined_schema(problems.Problem)
    schema["properties"]["code"] |= {
        "enum": list(known),
        "description": f"Stable name of the problem.\n\n| code | meaning |\n|---|---|\n{rows}",
    }
    return schema


def codes() -> dict[str, str]:
    """Every stable code of a problem and what it means."""
    known = dict(_ROUTING)
    for status in statuses():
        known |= _meanings(status)
    return dict(sorted(known.items()))


def _meanings(status: int) -> dict[str, str]:
    """The codes of one status."""
    rules = {error: rule for error, rule in problems.RULES.items() if rule.status == status}
    known = {rule.code: (error.__doc__ or "").strip().splitlines()[0] for error, rule in rules.items()}
    return {**known, problems.DEFECT_CODE: problems.DEFECT_DETAIL} if status == _DEFECT else known
