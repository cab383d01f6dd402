"""Values and errors as HTTP responses."""

from collections.abc import AsyncIterator, Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from librarian.base import problems
from librarian.base.errors import NotReady
from librarian.base.problems import Problem
from librarian.items.contracts import IngestReport, ItemOut, Outcome

# Answers contain memories: no cache may store one, and no browser may render one as a page.
_PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_CHALLENGE = 'Bearer realm="librarian"'
_UNAUTHORIZED = 401
_CODES = {404: "not_found", 405: "method_not_allowed"}


def json_response(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with `value` as JSON."""
    return Response(msgspec.json.encode(value), status, {**_PRIVATE, **(headers or {})}, media_type="application/json")


def item_response(item: ItemOut, *, status: int = 200, outcome: Outcome | None = None) -> Response:
    """Answer with an item and its version, as ETag."""
    named = {} if outcome is None else {"Librarian-Outcome": outcome}
    return json_response(item, status=status, headers={"ETag": f'"{item.version}"', **named})


def stream_response(chunks: AsyncIterator[bytes], *, media_type: str, headers: Mapping[str, str]) -> Response:
    """Answer with streamed bytes."""
    return StreamingResponse(chunks, headers={**_PRIVATE, **headers}, media_type=media_type)


def report_response(report: IngestReport) -> Response:
    """Answer with the report on rows: 200 if all were accepted, 207 if some were, 422 if none was."""
    if not report.failed:
        return json_response(report)
    return json_response(report, status=207 if report.failed < report.total else 422)


def problem_response(problem: Problem, *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a problem."""
    reported = {**_PRIVATE, **(headers or {})}
    return Response(msgspec.json.encode(problem), problem.status, reported, media_type=problems.CONTENT_TYPE)


def error_response(error: Exception, *, request_id: str | None) -> Response:
    """Answer with the problem of `error`."""
    problem = problems.problem_of(error, request_id=request_id)
    challenge = getattr(error, "challenge", None) or (_CHALLENGE if problem.status == _UNAUTHORIZED else None)
    headers = {} if challenge is None else {"WWW-Authenticate": challenge}
    return problem_response(problem, headers={**headers, **error_headers(error)})


def error_headers(error: Exception) -> dict[str, str]:
    """Return the headers of an answer to `error`: when to retry, and whether on another connection."""
    headers = {}
    after = problems.retry_after_s(error)
    if after is not None:
        headers["Retry-After"] = str(after)
    if isinstance(error, NotReady) and error.phase == "stopping":
        headers["Connection"] = "close"  # so that the retry reaches another process
    return headers


async def routing_problem(request: Request, error: Exception) -> Response:
    """Answer for Starlette's own refusals: unknown path or method."""
    if not isinstance(error, HTTPException):
        raise error
    return problem_response(problem_of_routing(request, error), headers=error.headers)


def problem_of_routing(request: Request, error: HTTPException) -> Problem:
    """Return the problem for such a refusal."""
    return Problem(
        title=error.detail,
        status=error.status_code,
        detail=f"{request.method} is not possible on {request.url.path[:200]!r}: {error.detail}.",
        code=_CODES.get(error.status_code, "http_error"),
        request_id=getattr(request.state, "request_id", None),
    )
