"""Whether the service lives, whether it can serve, and its figures; open to everyone who can reach it."""

from starlette.responses import Response

from librarian import metrics
from librarian.contracts.service import Readiness
from librarian.http.endpoints import Call
from librarian.http.limits import Limits
from librarian.http.responses import json_response

_RETRY_AFTER_S = "2"


async def healthz(_call: Call[None, None]) -> Response:
    """Say that the process answers, whatever the graph does."""
    return json_response({"status": "ok"})


async def readyz(call: Call[None, None]) -> Response:
    """Say whether requests can be served, and what stands in the way."""
    limits: Limits = call.request.state.limits
    if limits.capacity.closed:
        readiness = Readiness(ready=False, phase="stopping", checks={"service": "it is stopping"})
    else:
        readiness = await call.librarian.readiness()
    if readiness.ready:
        return json_response(readiness)
    return json_response(readiness, status=503, headers={"Retry-After": _RETRY_AFTER_S})


async def show_metrics(_call: Call[None, None]) -> Response:
    """Figures for Prometheus."""
    return Response(metrics.exposition(), headers={"Content-Type": metrics.CONTENT_TYPE})
