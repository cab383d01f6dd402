"""Ends requests at their deadline, or when the client has gone."""

import asyncio
import math
import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.errors import QueryTimeout
from graph.executor import deadline
from librarian.app import Librarian
from librarian.base.errors import DeadlineExceeded, InvalidInput, NotReady

TIMEOUT_HEADER = "Request-Timeout-Ms"

_TRY_AGAIN = f"Send it again, smaller or with a larger {TIMEOUT_HEADER}; writes are idempotent."


class Clock:
    """The deadline of one request: `most_s` from its start or last `restart`, and at most `granted_s`, the time that
    its client will wait.

    The graph's executor shares it, so that no statement outlives its request.
    """

    def __init__(self, most_s: float, granted_s: float) -> None:
        now = asyncio.get_running_loop().time()
        self._most_s = most_s
        self._granted_until = now + granted_s
        self.ends_at = min(now + most_s, self._granted_until)
        self.timeout = asyncio.timeout_at(self.ends_at)
        deadline.set(self.ends_at)

    def restart(self) -> None:
        """Restart the clock after a part of the work is committed."""
        self.ends_at = min(asyncio.get_running_loop().time() + self._most_s, self._granted_until)
        self.timeout.reschedule(self.ends_at)
        deadline.set(self.ends_at)

    def stop(self) -> None:
        """End the request now."""
        self._granted_until = asyncio.get_running_loop().time()
        if not self.timeout.expired():
            self.timeout.reschedule(self._granted_until)


class Client:
    """Reads the client's messages slightly ahead of the application, to detect a disconnect.

    A client that leaves in the middle of a long body is detected when the application asks for the rest.
    """

    def __init__(self, receive: Receive, on_gone: Callable[[], None]) -> None:
        self._receive = receive
        self._on_gone = on_gone
        self._messages: asyncio.Queue[Message] = asyncio.Queue(1)
        self._reader: asyncio.Task[None] | None = None
        self.gone = False

    def listen(self) -> None:
        """Start reading."""
        self._reader = asyncio.create_task(self._read())

    async def receive(self) -> Message:
        """Return the next message of the request, for the application."""
        if self._reader is None:
            self.listen()
        if self.gone and self._messages.empty():
            return {"type": "http.disconnect"}
        return await self._messages.get()

    def release(self) -> None:
        """Stop reading, as the answer is complete or abandoned."""
        if self._reader is not None:
            self._reader.cancel()

    async def _read(self) -> None:
        while not self.gone:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                self._on_gone()
            await self._messages.put(message)


class RequestDeadline:
    """Ends a request at its deadline or when its client has gone; `state.clock` is its Clock.

    Ending it cancels whatever it awaits, including the running database statement.
    """

    def __init__(self, app: ASGIApp, *, max_s: float) -> None:
        self._app = app
        self._max_s = max_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request. Raises DeadlineExceeded, NotReady if it was waiting for an unavailable graph, or
        ClientDisconnect.
        """
        headers = Headers(scope=scope)
        clock = Clock(self._max_s, _granted_s(headers))
        client = Client(receive, clock.stop)
        scope["state"]["clock"] = clock

        async def answering(message: Message) -> None:
            # uvicorn reports a completed answer as a disconnect.
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                client.release()
            await send(message)

        try:
            async with clock.timeout:
                if "expect" not in headers:  # reading would request a body that the application may refuse unread
                    client.listen()
                await self._app(scope, client.receive, answering)
        except QueryTimeout as error:
            raise _absence(scope) or error from None
        except TimeoutError:
            if client.gone:
                raise ClientDisconnect from None
            if not clock.timeout.expired():
                raise
            raise _absence(scope) or DeadlineExceeded(remedy=_TRY_AGAIN) from None
        finally:
            client.release()


def _absence(scope: Scope) -> NotReady | None:
    """Return why the graph is unavailable, which explains a missed deadline; None if it is available."""
    librarian: Librarian | None = scope["state"].get("librarian")
    return None if librarian is None else librarian.lifecycle.absence()


def _granted_s(headers: Headers) -> float:
    sent = headers.get(TIMEOUT_HEADER)
    if sent is None:
        return math.inf
    if not re.fullmatch(r"[0-9]{1,9}", sent) or int(sent) == 0:
        raise InvalidInput("it must be a whole number of milliseconds, at least 1", field=TIMEOUT_HEADER)
    return int(sent) / 1000
