"""Requests of an adapter, written once as steps that programs with and without an event loop can run."""

import asyncio
import functools
import weakref
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from librarian.client import ApiError, AsyncLibrarianClient, LibrarianClient

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """A method of the client to call, with its arguments."""

    verb: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]


Steps = Generator[Ask, Any, T]
"""Yields calls, is sent each answer or thrown its ApiError, and returns the outcome."""


def ask(verb: str, *arguments: Any, **options: Any) -> Steps[Any]:
    """Call one method and return its answer (`answer = yield from …`)."""
    return (yield Ask(verb, arguments, options))


class Connection:
    """The connection of one adapter to a service. `url`, `api_key` and `options` are those of `LibrarianClient`.

    Programs without an event loop share one client; each event loop has its own.
    """

    def __init__(self, url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        self._given = {"url": url, "api_key": api_key, **options}
        self._asynchronous = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncLibrarianClient]()

    @functools.cached_property
    def _blocking(self) -> LibrarianClient:
        client = LibrarianClient(**self._given)
        weakref.finalize(self, client.close)
        return client

    def run(self, steps: Steps[T]) -> T:
        """Run the steps, blocking for each answer. Raises their errors, such as ApiError."""
        try:
            call = next(steps)
            while True:
                try:
                    answer = getattr(self._blocking, call.verb)(*call.arguments, **call.options)
                except ApiError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as done:
            outcome: T = done.value
            return outcome

    async def arun(self, steps: Steps[T]) -> T:
        """Run the steps without blocking the event loop."""
        client = self._client_of_loop()
        try:
            call = next(steps)
            while True:
                try:
                    answer = await getattr(client, call.verb)(*call.arguments, **call.options)
                except ApiError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as done:
            outcome: T = done.value
            return outcome

    def _client_of_loop(self) -> AsyncLibrarianClient:
        loop = asyncio.get_running_loop()
        if loop not in self._asynchronous:
            self._asynchronous[loop] = AsyncLibrarianClient(**self._given)
        return self._asynchronous[loop]

    def close(self) -> None:
        """Close the connections of programs without an event loop."""
        self._blocking.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._asynchronous.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


class Connected:
    """An adapter over a connection. Close it, or use it as a context manager (asynchronous in an event loop)."""

    _connection: Connection

    def close(self) -> None:
        """Close the connections of programs without an event loop."""
        self._connection.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._connection.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()
