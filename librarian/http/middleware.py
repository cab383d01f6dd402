"""What happens around every request, as pure ASGI, outermost first: RequestContext, Problems, BodyLimit, Deadline."""

import asyncio
import re
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from librarian import metrics
from librarian.errors import DeadlineExceeded, InvalidInput, PayloadTooLarge
from librarian.http.responses import error_response
from librarian.problems import caught, is_known

REQUEST_ID_HEADER = "Request-Id"
TIMEOUT_HEADER = "Request-Timeout-Ms"

_USABLE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
_TRY_AGAIN = f"Send it again, smaller or with a larger {TIMEOUT_HEADER}; writes are idempotent."

logger = structlog.stdlib.get_logger("librarian.http")


class RequestContext:
    """Gives each request an id (the caller's, if it sent one), and leaves a log line and metrics behind."""

    def __init__(self, app: ASGIApp, *, patterns: Mapping[Callable[..., Any], str]) -> None:
        self._app = app
        self._patterns = patterns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request inside its context."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status, started = 500, time.perf_counter()

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
                self._report(scope, status, time.perf_counter() - started)

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        route = self._patterns.get(scope.get("endpoint"), "other")  # type: ignore[arg-type]  # None is in no mapping
        metrics.observe_request(route, scope["method"], status, seconds)
        log = logger.debug if route in _PROBES else logger.info
        log("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))


class Problems:
    """Turns every exception into problem+json; a defect is logged with its traceback and told to nobody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request and answer for it when it fails."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answering = False

        async def noting(message: Message) -> None:
            nonlocal answering
            answering = True
            await send(message)

        error = await caught(self._app(scope, receive, noting))
        if error is None or isinstance(error, ClientDisconnect):
            return
        _log(error)
        if answering:  # too late to say it otherwise than by a broken answer
            raise error
        await error_response(error, request_id=scope["state"]["request_id"])(scope, receive, send)


class BodyLimit:
    """Refuses bodies larger than `max_bytes`, announced or streamed."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request and count what it reads."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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


class Deadline:
    """Ends a request after the time that its caller grants, at most `max_s` seconds."""

    def __init__(self, app: ASGIApp, *, max_s: float) -> None:
        self._app = app
        self._max_s = max_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request against the clock; `state.deadline` is its end by the loop's clock."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        granted_s = min(_granted_s(scope), self._max_s)
        scope["state"]["deadline"] = asyncio.get_running_loop().time() + granted_s
        try:
            async with asyncio.timeout(granted_s) as clock:
                await self._app(scope, receive, send)
        except TimeoutError:
            if not clock.expired():
                raise
            raise DeadlineExceeded(f"The time of {granted_s:g} s was up.", remedy=_TRY_AGAIN) from None


def _request_id(scope: Scope) -> str:
    sent = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    return sent if _USABLE_ID.fullmatch(sent) else uuid.uuid4().hex


def _granted_s(scope: Scope) -> float:
    sent = Headers(scope=scope).get(TIMEOUT_HEADER)
    if sent is None:
        return float("inf")
    if not re.fullmatch(r"[0-9]{1,9}", sent) or int(sent) == 0:
        raise InvalidInput("it must be a whole number of milliseconds, at least 1", field=TIMEOUT_HEADER)
    return int(sent) / 1000


def _log(error: Exception) -> None:
    if is_known(error):
        logger.info("request refused", error=type(error).__name__)
    else:
        logger.error("request failed", exc_info=error)
