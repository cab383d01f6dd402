"""Pure ASGI middleware, outermost first: RequestContext, EarlyResponse, ReadYourWrites (`bookmarks.py`), Problems,
RequestDeadline (`deadline.py`), ReadableAddress, BodyLimit. What is no HTTP request passes all of them by.
"""

import asyncio
import contextlib
import re
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import structlog
from opentelemetry.trace import INVALID_SPAN, Span
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from librarian.base import metrics, tracing
from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.base.problems import caught, is_known
from librarian.http.responses import error_response

REQUEST_ID_HEADER = "Request-Id"

_USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
# For the log and metrics only, as the client was gone.
_CLIENT_GONE = 499
_SERVER_ERROR = 500
# Small bodies arrive just after their headers; waiting for them keeps the connection.
_UNDER_WAY_S = 0.05
_LINGER_S = 2.0

logger = structlog.stdlib.get_logger("librarian.http")

Respond = Callable[[Scope, Exception], Response]


class RequestContext:
    """Gives each request an id (the caller's, if it sent one), a log line, metrics and a trace."""

    def __init__(self, app: ASGIApp, *, patterns: Mapping[Callable[..., Any], str]) -> None:
        self._app = app
        self._patterns = patterns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request inside its context."""
        if scope["type"] != "http":
            await scope["app"].router(scope, receive, send)
        elif scope["path"] in _PROBES:
            await self._run(scope, receive, send, INVALID_SPAN)
        else:
            with tracing.span(scope["method"], kind="server", parent=Headers(scope=scope)) as span:
                await self._run(scope, receive, send, span)

    async def _run(self, scope: Scope, receive: Receive, send: Send, span: Span) -> None:
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status, started = _CLIENT_GONE, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        structlog.contextvars.clear_contextvars()
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, noting)
            finally:
                self._report(scope, status, time.perf_counter() - started, span)

    def _report(self, scope: Scope, status: int, seconds: float, span: Span) -> None:
        route = self._patterns.get(scope.get("endpoint"), "other")  # type: ignore[arg-type]  # None is in no mapping
        _trace(span, scope, route, status)
        metrics.requests.labels(route, scope["method"], str(status)).inc()
        metrics.request_seconds.labels(route).observe(seconds)
        log = logger.debug if route in _PROBES else logger.info
        log("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))


def as_json(scope: Scope, error: Exception) -> Response:
    """Answer with problem+json."""
    return error_response(error, request_id=scope["state"]["request_id"])


class Problems:
    """Turns every exception into an answer, by default problem+json; a defect is logged with its traceback, which the
    client does not see.
    """

    def __init__(self, app: ASGIApp, *, respond: Respond = as_json) -> None:
        self._app = app
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request and answer if it fails."""
        answering = False

        async def noting(message: Message) -> None:
            nonlocal answering
            answering = True
            await send(message)

        error = await caught(self._app(scope, receive, noting))
        if error is None or isinstance(error, ClientDisconnect):
            return
        if is_known(error):
            logger.info("request refused", error=type(error).__name__)
        else:
            logger.error("request failed", exc_info=error)
        if answering:  # the failure can only be signalled by breaking off the answer
            raise error
        await self._respond(scope, error)(scope, receive, send)


class EarlyResponse:
    """Disconnects a client that keeps sending after its answer, with some time to read the answer first."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request, then handle the rest of its body."""
        headers = Headers(scope=scope)
        unread, early = "content-length" in headers or "transfer-encoding" in headers, False

        async def reading() -> Message:
            nonlocal unread
            message = await receive()
            unread = message.get("more_body", False)
            return message

        async def drain(seconds: float) -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while unread:
                        await reading()

        async def hanging_up(message: Message) -> None:
            nonlocal early
            if message["type"] == "http.response.start" and unread:
                await drain(_UNDER_WAY_S)
                if early := unread:
                    MutableHeaders(scope=message)["Connection"] = "close"
            if early and message["type"] == "http.response.body" and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await drain(_LINGER_S)
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, reading, hanging_up)


class ReadableAddress:
    """Refuses paths and query strings that are not UTF-8: invalid bytes would all decode to the same character and name
    the same thing.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request with a readable address."""
        _check_utf8(scope["raw_path"], "path")
        _check_utf8(scope["query_string"], "query")
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuses bodies larger than `max_bytes`, announced or streamed."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request, counting the bytes it reads."""
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdecimal() and int(announced) > self._max_bytes:
            raise self._refusal()
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise self._refusal()
            return message

        await self._app(scope, counting, send)

    def _refusal(self) -> PayloadTooLarge:
        return PayloadTooLarge(
            f"The body is larger than {self._max_bytes} bytes.",
            remedy="Send it in parts; the operator can raise LIBRARIAN_MAX_BODY_MB.",
        )


def _check_utf8(quoted: bytes, field: str) -> None:
    try:
        unquote_to_bytes(quoted).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8", field=field, remedy="Percent-encode the bytes of UTF-8.") from None


def _request_id(scope: Scope) -> str:
    sent = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    return sent if _USABLE_ID.fullmatch(sent) else uuid.uuid4().hex


def _trace(span: Span, scope: Scope, route: str, status: int) -> None:
    span.update_name(f"{scope['method']} {route}")
    span.set_attributes(
        {
            "http.request.method": scope["method"],
            "http.route": route,
            "http.response.status_code": status,
            "url.scheme": scope["scheme"],
            "librarian.request_id": scope["state"]["request_id"],
        }
    )
    if status >= _SERVER_ERROR:
        tracing.mark_failed(span, str(status))
