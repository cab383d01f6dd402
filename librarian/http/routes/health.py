"""Whether the service lives, whether it can serve, and its figures; open to everyone who can reach it."""

from starlette.requests import Request
from starlette.responses import Response

from librarian import metrics
from librarian.http.responses import json_response

_RETRY_AFTER_S = "2"


async def healthz(_request: Request) -> Response:
    """Say that the process answers, whatever the graph does."""
    return json_response({"status": "ok"})


async def readyz(request: Request) -> Response:
    """Say whether requests can be served, and what stands in the way."""
    readiness = await request.state.librarian.readiness()
    if readiness.ready:
        return json_response(readiness)
    return json_response(readiness, status=503, headers={"Retry-After": _RETRY_AFTER_S})


async def show_metrics(_request: Request) -> Response:
    """Figures for Prometheus."""
    return Response(metrics.exposition(), headers={"Content-Type": metrics.CONTENT_TYPE})
