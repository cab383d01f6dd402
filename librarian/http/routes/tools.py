"""The agent's tools over HTTP."""

from typing import Any

from starlette.responses import Response

from librarian.contracts.tools import ToolList, ToolQuery
from librarian.errors import Unauthenticated
from librarian.http.endpoints import Call, Endpoint, json_of
from librarian.http.responses import json_response
from librarian.tools import Tool, described, tools_for


async def list_tools(call: Call[None, ToolQuery]) -> Response:
    """List the tools that the key may call, as their schemas are sent to a language model."""
    if call.key is None:
        raise Unauthenticated
    form = call.query.format
    return json_response(ToolList(format=form, tools=[described(tool, form) for tool in tools_for(call.key)]))


def tool_endpoint(tool: Tool[Any]) -> Endpoint[Any, None]:
    """The operation that calls one tool."""

    async def call_tool(call: Call[Any, None]) -> Response:
        return json_response(await tool.run(call.librarian, call.namespace, call.body))

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
