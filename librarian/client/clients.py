"""The two clients. Both have every verb of `librarian.client.verbs` and differ only in how they send and wait."""

import asyncio
import functools
import inspect
import itertools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from librarian.base.settings.settings import RemoteSettings
from librarian.client import protocol, streams
from librarian.client.bookmarks import BOOKMARK_HEADER, Bookmarks
from librarian.client.errors import ApiError
from librarian.client.rows import async_ndjson, ndjson
from librarian.client.verbs import VERBS, Describe, Reply, Request

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    import httpx

    from librarian.client.signatures import AsyncVerbs, BlockingVerbs
else:
    AsyncVerbs = BlockingVerbs = object

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 60.0


class _Client:
    """The address of the service and its key, by default from the settings."""

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        allow_insecure: bool | None = None,
        bookmark: str = "",
    ) -> None:
        remote = RemoteSettings.from_env()
        insecure = remote.allow_insecure if allow_insecure is None else allow_insecure
        self.url = protocol.checked_address(url or remote.url, allow_insecure=insecure)
        # A key from the environment is meant for the service from the environment.
        self._api_key = api_key or (remote.api_key if url in (None, remote.url) else None)
        self._bookmarks = Bookmarks(bookmark)
        self._options: dict[str, Any] = {
            "base_url": self.url,
            "timeout": timeout_s,
            "trust_env": not protocol.is_local(self.url),
            "verify": True if remote.ca is None else protocol.trusting(remote.ca),
        }

    @property
    def bookmark(self) -> str:
        """Represents this client's writes; another client created with it reads them too."""
        return self._bookmarks.value

    def _prepared(self, request: Request[T], content: Any, bookmark: str = "") -> dict[str, Any]:
        headers = protocol.headers_of(request, self._api_key)
        if bookmark:
            headers[BOOKMARK_HEADER] = bookmark.encode()
        return {
            "method": request.method,
            "url": request.path,
            "params": list(request.params) or None,
            "headers": headers,
            "content": content,
        }

    def _outcome(self, request: Request[T], bookmark: str, reply: Reply) -> T | ApiError:
        self._bookmarks.learn(bookmark, reply.headers)
        return protocol.outcome_of(request, reply)

    def _pause_s(self, request: Request[T], error: ApiError, attempt: int) -> float | None:
        """Seconds until the next attempt; None if the error is final."""
        pause = protocol.pause_s(request, error, attempt)
        if pause is None:
            self._bookmarks.refused(error.code)
        return pause


def _method(describe: Describe) -> Callable[..., Any]:
    """Return a method that sends the request from `describe` and returns its answer, or a coroutine for it."""

    def method(self: "LibrarianClient | AsyncLibrarianClient", /, *args: Any, **options: Any) -> Any:
        return self._send(describe(*args, **options))

    method.__name__, method.__doc__ = describe.__name__, describe.__doc__
    signature = inspect.signature(describe)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]  # what inspect looks for
        parameters=[itself, *signature.parameters.values()]
    )
    return method


class LibrarianClient(_Client, BlockingVerbs):
    """The synchronous client; thread-safe. Use it as a context manager, or `close` it.

    `url` and `api_key` default to LIBRARIAN_REMOTE and LIBRARIAN_API_KEY; http is for loopback only, unless
    `allow_insecure`. `timeout_s` bounds each wait for the network. Methods raise ApiError, and ServiceUnreachable if no
    answer came. Reads and writes are tried up to four times when the connection breaks or the service is busy; a
    repeated write still runs only once. An ingest is sent once.

    It reads its own writes, whichever replica of the service answers; `bookmark` passes that guarantee on to another
    client.
    """

    @functools.cached_property
    def _http(self) -> "httpx.Client":
        import httpx

        return httpx.Client(**self._options)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> "LibrarianClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self.close()

    def _send(self, request: Request[T]) -> T:
        for attempt in itertools.count(1):
            outcome = self._tried(request)
            if not isinstance(outcome, ApiError):
                return outcome
            pause = self._pause_s(request, outcome, attempt)
            if pause is None:
                raise outcome
            time.sleep(pause)
        raise AssertionError

    def _tried(self, request: Request[T]) -> T | ApiError:
        import httpx

        content = request.body if request.rows is None else ndjson(request.rows)
        bookmark = self.bookmark
        try:
            response = self._http.request(**self._prepared(request, content, bookmark))
        except httpx.TransportError as error:
            return protocol.unreachable(self.url, error)
        return self._outcome(request, bookmark, Reply(response.status_code, response.headers, response.content))


class AsyncLibrarianClient(_Client, AsyncVerbs):
    """The client for asyncio; all methods are safe for concurrent tasks of one event loop.

    Use it as an asynchronous context manager, or `aclose` it.
    """

    sweep_events = streams.sweep_events
    undo_events = streams.undo_events
    follow_changes = streams.follow_changes

    @functools.cached_property
    def _http(self) -> "httpx.AsyncClient":
        import httpx

        return httpx.AsyncClient(**self._options)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncLibrarianClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        await self.aclose()

    def stream(self, request: Request[Any]) -> "AbstractAsyncContextManager[httpx.Response]":
        """Send a request whose answer is read as a stream."""
        return self._http.stream(**self._prepared(request, request.body, self.bookmark))

    async def _send(self, request: Request[T]) -> T:
        for attempt in itertools.count(1):
            outcome = await self._tried(request)
            if not isinstance(outcome, ApiError):
                return outcome
            pause = self._pause_s(request, outcome, attempt)
            if pause is None:
                raise outcome
            await asyncio.sleep(pause)
        raise AssertionError

    async def _tried(self, request: Request[T]) -> T | ApiError:
        import httpx

        content = request.body if request.rows is None else async_ndjson(request.rows)
        bookmark = self.bookmark
        try:
            response = await self._http.request(**self._prepared(request, content, bookmark))
        except httpx.TransportError as error:
            return protocol.unreachable(self.url, error)
        return self._outcome(request, bookmark, Reply(response.status_code, response.headers, response.content))


for _name, _describe in VERBS.items():
    setattr(LibrarianClient, _name, _method(_describe))
    setattr(AsyncLibrarianClient, _name, _method(_describe))
