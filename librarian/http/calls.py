"""HTTP endpoints built from the table of operations: parse, call, render."""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from msgspec.structs import asdict
from starlette.responses import Response

from librarian.base.errors import Forbidden
from librarian.base.keys import ApiKey
from librarian.http.endpoints import Body, Call, Endpoint, json_of
from librarian.http.requests import FILES, JSON, NDJSON, PATCHES, file_body, if_match, merge_patch, rows
from librarian.http.responses import item_response, json_response
from librarian.items.contracts import ItemOut
from librarian.mcp.tools import OfferedTool
from librarian.operations import Http, Operation, visible_to

Handler = Callable[[Call[Any, Any]], Awaitable[Response]]

EVERY_NAMESPACE = "*"


def endpoint_of(operation: Operation, http: Http, special: Handler | None = None) -> Endpoint[Any, Any]:
    """Return the endpoint of a row, handled by `special` if given."""
    reads = http.method == "GET"
    answer = operation.output if http.answer is None else http.answer
    statuses = (*http.statuses, 201) if http.created else http.statuses
    return Endpoint(
        method=http.method,
        path=http.path,
        handler=special or partial(perform, operation, http),
        scope=operation.scope,
        namespaced=operation.namespaced and http.pool == "requests",
        body=None if reads or operation.input is None else _body(operation, http),
        query=operation.input if reads else http.query,
        answers=dict.fromkeys(statuses, answer),
        errors=operation.errors,
        versioned=http.versioned,
        headers=http.headers,
        pool=http.pool,
        secret=http.secret,
        name=http.id or operation.name,
        doc=operation.description,
    )


def tool_endpoint(tool: OfferedTool) -> Endpoint[Any, None]:
    """Return the endpoint that calls one tool."""

    async def call_tool(call: Call[Any, None]) -> Response:
        return json_response(visible_to(call.key, await tool.run(call.librarian, call.namespace, call.body)))

    return Endpoint(
        method="POST",
        path=f"/v1/tools/{tool.name}",
        handler=call_tool,
        scope=tool.scope,
        body=json_of(tool.input),
        answers={200: tool.output},
        errors=tool.errors,
        name=f"tool_{tool.name}",
        doc=f"Call the tool `{tool.name}`.\n\n{tool.description}",
    )


async def perform(operation: Operation, http: Http, call: Call[Any, Any]) -> Response:
    """Call the method of an operation with the request's input, and answer with its output."""
    if operation.everywhere and (call.key is None or not call.key.allows(EVERY_NAMESPACE)):
        raise Forbidden("This API key does not open every namespace, and embedding spaces hold vectors of all.")
    given = call.query if http.method == "GET" else call.body
    _check_namespaces(call.key, getattr(given, "namespaces", None) or ())
    options: dict[str, Any] = asdict(given) if operation.unpacked else {}
    if http.query is not None:
        options |= asdict(call.query)
    if http.versioned:
        options["if_version"] = if_match(call.request)
    if operation.progress:
        options["on_progress"] = call.progressed
    arguments = [
        *([call.namespace] if operation.namespaced else []),
        *map(call.path, operation.path_parameters),
        *([] if operation.unpacked or operation.input is None else [given]),
    ]
    output = visible_to(call.key, await operation.call(call.librarian)(*arguments, **options))
    if isinstance(output, ItemOut):
        return item_response(output)
    return json_response(output, status=201 if http.created and http.created(output) else 200)


def _check_namespaces(key: ApiKey | None, named: Iterable[str]) -> None:
    """Raise Forbidden for a namespace in the body that the key does not open."""
    for namespace in named:
        if key is None or not key.allows(namespace):
            raise Forbidden(f"This API key does not open the namespace {namespace!r}.", field="$.namespaces")


def _body(operation: Operation, http: Http) -> Body[Any]:
    match http.form:
        case "json":
            return json_of(operation.input)
        case "merge-patch":
            return Body(operation.input, PATCHES, merge_patch)
        case "rows":
            return Body(operation.input, (JSON, *NDJSON), rows)
        case "file":
            return Body(operation.input, FILES, file_body)
