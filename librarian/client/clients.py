"""The two clients. Both have every verb of `librarian.client.verbs`, and differ only in how they send and wait."""

import asyncio
import functools
import inspect
import itertools
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from librarian.client import protocol, verbs
from librarian.client.bookmarks import BOOKMARK_HEADER, Bookmarks
from librarian.client.errors import ApiError
from librarian.client.rows import async_ndjson, ndjson
from librarian.client.verbs import Reply, Request
from librarian.settings import RemoteSettings

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_TIMEOUT_S = 60.0


class _Client:
    """Where the service is, and the key for it; what is not given is read from the settings."""

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
        # A key of the environment is meant for the service of the environment.
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
        """Stands for what this client has written; another client that is made with it reads that too."""
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
        """Seconds until the next attempt; None where the error is final."""
        pause = protocol.pause_s(request, error, attempt)
        if pause is None:
            self._bookmarks.refused(error.code)
        return pause


def _blocking(describe: Callable[P, Request[T]]) -> "Callable[Concatenate[LibrarianClient, P], T]":
    """A method that sends what `describe` says and returns the answer."""

    def method(self: "LibrarianClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._send(describe(*args, **kwargs))

    return _described(method, describe)


def _awaiting(
    describe: Callable[P, Request[T]],
) -> "Callable[Concatenate[AsyncLibrarianClient, P], Coroutine[Any, Any, T]]":
    """The same, as a coroutine method."""

    async def method(self: "AsyncLibrarianClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(describe(*args, **kwargs))

    return _described(method, describe)


M = TypeVar("M", bound=Callable[..., Any])


def _described(method: M, describe: Callable[..., Any]) -> M:
    """Let the method show its verb's name, docstring and parameters."""
    functools.update_wrapper(method, describe, assigned=("__name__", "__doc__"))
    del method.__wrapped__  # type: ignore[attr-defined]  # it would hide the parameter self
    signature = inspect.signature(describe)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(  # type: ignore[attr-defined]  # what inspect looks for
        parameters=[itself, *signature.parameters.values()], return_annotation=inspect.Signature.empty
    )
    return method


class LibrarianClient(_Client):
    """The service, for programs without an event loop; safe for several threads. Use it as a context manager, or
    `close` it.

    `url` and `api_key` default to LIBRARIAN_REMOTE and LIBRARIAN_API_KEY; http is for loopback only, unless
    `allow_insecure`. `timeout_s` bounds each wait for the network. Methods raise ApiError, and ServiceUnreachable where
    no answer came. Reads and writes are tried up to four times when the connection breaks or the service is busy;
    a write runs once, however often it is sent. An ingest is sent once.

    It reads what it has written, whichever replica of the service answers: `bookmark` stands for that, and hands it on
    to another client.
    """

    search = _blocking(verbs.search)
    semantic_search_facts = _blocking(verbs.semantic_search_facts)
    semantic_search_messages = _blocking(verbs.semantic_search_messages)
    semantic_search_memories = _blocking(verbs.semantic_search_memories)
    search_all = _blocking(verbs.search_all)
    why_not = _blocking(verbs.why_not)
    relevant_memory = _blocking(verbs.relevant_memory)
    answer = _blocking(verbs.answer)
    search_agent = _blocking(verbs.search_agent)
    find_file = _blocking(verbs.find_file)
    search_text = _blocking(verbs.search_text)
    locate = _blocking(verbs.locate)
    open_file = _blocking(verbs.open_file)
    list_files = _blocking(verbs.list_files)
    stale_evidence = _blocking(verbs.stale_evidence)
    put_file = _blocking(verbs.put_file)
    delete_file = _blocking(verbs.delete_file)
    index_folder = _blocking(verbs.index_folder)
    list_items = _blocking(verbs.list_items)
    get_item = _blocking(verbs.get_item)
    revisions = _blocking(verbs.revisions)
    put_item = _blocking(verbs.put_item)
    patch_item = _blocking(verbs.patch_item)
    remember = _blocking(verbs.remember)
    correct = _blocking(verbs.correct)
    delete_item = _blocking(verbs.delete_item)
    delete_items = _blocking(verbs.delete_items)
    link = _blocking(verbs.link)
    unlink = _blocking(verbs.unlink)
    get_edge = _blocking(verbs.get_edge)
    list_edges = _blocking(verbs.list_edges)
    causes_of = _blocking(verbs.causes_of)
    effects_of = _blocking(verbs.effects_of)
    blockers_of = _blocking(verbs.blockers_of)
    enablers_of = _blocking(verbs.enablers_of)
    neighbourhood = _blocking(verbs.neighbourhood)
    path_between = _blocking(verbs.path_between)
    contradictions = _blocking(verbs.contradictions)
    cycles = _blocking(verbs.cycles)
    list_reviews = _blocking(verbs.list_reviews)
    review = _blocking(verbs.review)
    namespaces = _blocking(verbs.namespaces)
    delete_namespace = _blocking(verbs.delete_namespace)
    ingest = _blocking(verbs.ingest)
    readiness = _blocking(verbs.readiness)

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


class AsyncLibrarianClient(_Client):
    """The same for asyncio; all methods are safe for concurrent tasks of one event loop.

    Use it as an asynchronous context manager, or `aclose` it.
    """

    search = _awaiting(verbs.search)
    semantic_search_facts = _awaiting(verbs.semantic_search_facts)
    semantic_search_messages = _awaiting(verbs.semantic_search_messages)
    semantic_search_memories = _awaiting(verbs.semantic_search_memories)
    search_all = _awaiting(verbs.search_all)
    why_not = _awaiting(verbs.why_not)
    relevant_memory = _awaiting(verbs.relevant_memory)
    answer = _awaiting(verbs.answer)
    search_agent = _awaiting(verbs.search_agent)
    find_file = _awaiting(verbs.find_file)
    search_text = _awaiting(verbs.search_text)
    locate = _awaiting(verbs.locate)
    open_file = _awaiting(verbs.open_file)
    list_files = _awaiting(verbs.list_files)
    stale_evidence = _awaiting(verbs.stale_evidence)
    put_file = _awaiting(verbs.put_file)
    delete_file = _awaiting(verbs.delete_file)
    index_folder = _awaiting(verbs.index_folder)
    list_items = _awaiting(verbs.list_items)
    get_item = _awaiting(verbs.get_item)
    revisions = _awaiting(verbs.revisions)
    put_item = _awaiting(verbs.put_item)
    patch_item = _awaiting(verbs.patch_item)
    remember = _awaiting(verbs.remember)
    correct = _awaiting(verbs.correct)
    delete_item = _awaiting(verbs.delete_item)
    delete_items = _awaiting(verbs.delete_items)
    link = _awaiting(verbs.link)
    unlink = _awaiting(verbs.unlink)
    get_edge = _awaiting(verbs.get_edge)
    list_edges = _awaiting(verbs.list_edges)
    causes_of = _awaiting(verbs.causes_of)
    effects_of = _awaiting(verbs.effects_of)
    blockers_of = _awaiting(verbs.blockers_of)
    enablers_of = _awaiting(verbs.enablers_of)
    neighbourhood = _awaiting(verbs.neighbourhood)
    path_between = _awaiting(verbs.path_between)
    contradictions = _awaiting(verbs.contradictions)
    cycles = _awaiting(verbs.cycles)
    list_reviews = _awaiting(verbs.list_reviews)
    review = _awaiting(verbs.review)
    namespaces = _awaiting(verbs.namespaces)
    delete_namespace = _awaiting(verbs.delete_namespace)
    ingest = _awaiting(verbs.ingest)
    readiness = _awaiting(verbs.readiness)

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
