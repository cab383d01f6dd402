"""The service itself: liveness, readiness, metrics, tools and namespaces."""

from starlette.responses import Response

from librarian.base import metrics
from librarian.base.errors import Unauthenticated
from librarian.http.endpoints import Call
from librarian.http.limits import Limits
from librarian.http.responses import json_response
from librarian.mcp.contracts import ToolList, ToolQuery
from librarian.mcp.tools import described, tools_for
from librarian.runtime.contracts import Readiness

_RETRY_AFTER_S = "2"


async def healthz(_call: Call[None, None]) -> Response:
    """Report that the process answers, whatever the state of the graph."""
    return json_response({"status": "ok"})


async def readyz(call: Call[None, None]) -> Response:
    """Report whether requests can be served, and any obstacles."""
    limits: Limits = call.request.state.limits
    if limits.capacity.closed:
        readiness = Readiness(ready=False, phase="stopping", checks={"service": "it is stopping"})
    else:
        readiness = await call.librarian.readiness()
    if readiness.ready:
        return json_response(readiness)
    return json_response(readiness, status=503, headers={"Retry-After": _RETRY_AFTER_S})


async def show_metrics(_call: Call[None, None]) -> Response:
    """Get the metrics for Prometheus."""
    return Response(metrics.exposition(), headers={"Content-Type": metrics.CONTENT_TYPE})


async def list_tools(call: Call[None, ToolQuery]) -> Response:
    """List the tools that the key may call, with their schemas for a language model."""
    if call.key is None:
        raise Unauthenticated
    form = call.query.format
    return json_response(ToolList(format=form, tools=[described(tool, form) for tool in tools_for(call.key)]))


async def namespaces(call: Call[None, None]) -> Response:
    """List the namespaces that the key opens."""
    if call.key is None:
        raise Unauthenticated
    return json_response(await call.librarian.items.namespaces(call.key.allows))
