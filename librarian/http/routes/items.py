"""Items: take rows in, give one back."""

from starlette.requests import Request
from starlette.responses import Response

from librarian.contracts.items import IngestReport
from librarian.http.auth import namespace_of
from librarian.http.requests import ready_librarian, rows
from librarian.http.responses import json_response


async def post_items(request: Request) -> Response:
    """Store rows; 200 when all were taken, 207 when some were, 422 when none was."""
    namespace = namespace_of(request, "write")
    lines = await rows(request)
    librarian = await ready_librarian(request)
    report = await librarian.ingest(lines, namespace=namespace)
    return json_response(report, status=_status(report))


async def get_item(request: Request) -> Response:
    """One item of the caller's namespace; another namespace's is not found."""
    namespace = namespace_of(request, "read")
    return json_response(await request.state.librarian.get_item(namespace, request.path_params["uid"]))


def _status(report: IngestReport) -> int:
    if not report.failed:
        return 200
    return 207 if report.failed < report.total else 422
