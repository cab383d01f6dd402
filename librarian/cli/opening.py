"""Connects commands to a graph: by a Librarian in this process, or the client of a service."""

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import Struct

from librarian.base.errors import InvalidInput
from librarian.cli.display import Bar, downloads
from librarian.cli.lazy import deferred
from librarian.cli.runtime import local_option, say, set_up_logging

if TYPE_CHECKING:
    from librarian import app, client, operations
    from librarian.base import keys
    from librarian.base.settings import local_socket
    from librarian.base.settings import settings as setting
    from librarian.client import errors, verbs
    from librarian.client import local as local_client
    from librarian.runtime import supervisor
else:
    app, client, operations = (deferred(f"librarian.{name}") for name in ("app", "client", "operations"))
    keys = deferred("librarian.base.keys")
    local_socket, setting = (deferred(f"librarian.base.settings.{name}") for name in ("local_socket", "settings"))
    errors, verbs, local_client = (deferred(f"librarian.client.{name}") for name in ("errors", "verbs", "local"))
    supervisor = deferred("librarian.runtime.supervisor")

# What a command talks to: the graph itself, or a service.
Connection: TypeAlias = "app.Librarian | client.AsyncLibrarianClient"

_BOOKMARKS = "bookmarks.json"
# No working member of a cluster lags this far behind.
_KEPT_S = 600
_CACHE_MODE = 0o700
# The home's service cannot answer: it does not know the key, or is overloaded.
_REFUSALS = frozenset({401, 403, 429})
_SERVER_ERROR = 500


@asynccontextmanager
async def opened(settings: "setting.Settings", purpose: str) -> "AsyncIterator[app.Librarian]":
    """Yield a ready Librarian; the managed server stays up for ten minutes afterwards, for the next command.

    Raises InvalidInput if a service is configured, as the command needs the graph itself.
    """
    if settings.remote.url is not None:
        raise InvalidInput(
            "this command works on the graph itself, not through a service",
            field="LIBRARIAN_REMOTE",
            remedy="Unset LIBRARIAN_REMOTE, or run the command where the service runs.",
        )
    with downloads() as progress:
        async with app.open_librarian(settings, purpose=purpose, progress=progress) as librarian:
            yield librarian


@asynccontextmanager
async def reached(settings: "setting.Settings", purpose: str) -> AsyncIterator[Connection]:
    """Yield the client of the configured service, else a ready Librarian."""
    remote = settings.remote
    if remote.url is None:
        set_up_logging(settings)
        async with opened(settings, purpose) as librarian:
            yield librarian
    else:
        last = LastSeen(settings.cache, remote.url)
        async with client.AsyncLibrarianClient(
            remote.url, remote.api_key, allow_insecure=remote.allow_insecure, bookmark=last.bookmark()
        ) as connected:
            try:
                yield connected
            finally:
                last.keep(connected.bookmark)


def reached_without_encoder(settings: "setting.Settings", purpose: str) -> AbstractAsyncContextManager[Connection]:
    """Like `reached`, without loading the encoder, for work that needs no vectors."""
    return reached(replace(settings, encoder=setting.EncoderSettings(name="none")), purpose)


Reach: TypeAlias = "Callable[[setting.Settings, str], AbstractAsyncContextManager[Connection]]"


@asynccontextmanager
async def answering(
    settings: "setting.Settings", purpose: str, *, otherwise: Reach = reached
) -> AsyncIterator[Connection]:
    """Yield the connection for questions: the home's service if one runs with these settings, else that of `otherwise`,
    which also gets writes, and questions that the service cannot answer now.
    """
    found = None if settings.remote.url is not None or local_option.get() else _own_service(settings)
    async with AsyncExitStack() as stack:

        async def open_graph() -> Connection:
            return await stack.enter_async_context(otherwise(settings, purpose))

        yield cast("Connection", _ServiceFirst(*found, open_graph)) if found else await open_graph()


def answering_without_encoder(settings: "setting.Settings", purpose: str) -> AbstractAsyncContextManager[Connection]:
    """Like `answering`, for questions that need no vectors."""
    return answering(settings, purpose, otherwise=reached_without_encoder)


def _own_service(settings: "setting.Settings") -> tuple[Path, str] | None:
    """Return the socket of this home's service and its key, or None if there is none."""
    path = local_socket.socket_of(settings)
    if path is None or not local_client.is_own_socket(path):
        return None
    try:
        return path, (settings.home / keys.ADMIN_KEY_FILE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None


class _ServiceFirst:
    """Verbs of a Librarian: questions go to the service at a socket; everything else, and questions that it cannot
    answer, to the graph, which is then opened.
    """

    def __init__(self, path: Path, api_key: str, open_graph: Callable[[], Awaitable[Connection]]) -> None:
        self._path, self._api_key, self._open_graph = path, api_key, open_graph
        self._graph: Connection | None = None

    def __getattr__(self, verb: str) -> Callable[..., Awaitable[Any]]:
        async def asked(*args: Any, **options: Any) -> Any:
            if self._graph is None and _only_reads(verb):
                outcome = local_client.outcome_at(self._path, self._api_key, verbs.VERBS[verb](*args, **options))
                if not isinstance(outcome, errors.ApiError):
                    return outcome
                if not _cannot_answer(outcome):
                    raise outcome
            self._graph = self._graph or await self._open_graph()
            return await getattr(self._graph, verb)(*args, **options)

        return asked


def _only_reads(verb: str) -> bool:
    return any(row.name == verb and not row.writes for row in operations.OPERATIONS)


def _cannot_answer(error: "errors.ApiError") -> bool:
    """Return whether the graph may answer instead of the service."""
    return isinstance(error, errors.ServiceUnreachable) or error.status in _REFUSALS or error.status >= _SERVER_ERROR


async def propose_pending(librarian: Connection) -> None:
    """Read new messages for facts if configured, as there may be no service to do it."""
    if not isinstance(librarian, client.AsyncLibrarianClient):
        await librarian.propose_pending()


@asynccontextmanager
async def encoding(librarian: Connection, *, unless: bool) -> AsyncIterator[dict[str, int] | None]:
    """Encode items as the block stores them. Yields the earlier counts of items in languages that the encoder does not
    read, for `encode_pending`, which encodes the rest.
    """
    if unless or isinstance(librarian, client.AsyncLibrarianClient):
        yield None
    else:
        before = await librarian.unread_items()
        async with supervisor.beside(librarian.embeddings.encode_as_they_come()):
            yield before


async def encode_pending(librarian: Connection, *, unless: bool, before: Mapping[str, int] | None = None) -> int | None:
    """Encode pending items, as there may be no service to do it; a remote one encodes on its own.

    Returns how many items still wait; None if nothing had to be done here. Prints how many more items than `before`
    are in languages that the encoder does not read.
    """
    if unless or isinstance(librarian, client.AsyncLibrarianClient):
        return None
    before = await librarian.unread_items() if before is None else before
    with Bar("Encoding") as bar:
        await librarian.embed_pending(on_progress=bar.update)
    for language, items in (await librarian.unread_items()).items():
        if items > (earlier := before.get(language, 0)):
            say(
                f"{items - earlier:,} items in {language!r} get no vector, as the encoder does not read that language: "
                "words find them. `librarian doctor` says more."
            )
    return await librarian.pending_embeddings()


class SeenBookmark(Struct, frozen=True):
    """A client's bookmark, and when it was saved (Unix time)."""

    bookmark: str
    at: float


@dataclass(frozen=True, slots=True)
class LastSeen:
    """Bookmark of the last commands' writes through one service, so that the next command reads them from any replica.

    It is saved in the cache; failures to read or write it are ignored.
    """

    cache: Path
    url: str

    def bookmark(self) -> str:
        """Return the bookmark of the last commands' writes, or an empty text."""
        noted = self._all().get(self.url)
        return "" if noted is None else noted.bookmark

    def keep(self, bookmark: str) -> None:
        """Save a bookmark for the next command; an empty one deletes it."""
        noted = self._all()
        before = noted.pop(self.url, None)
        if bookmark == ("" if before is None else before.bookmark):
            return
        if bookmark:
            noted[self.url] = SeenBookmark(bookmark, time.time())
        with contextlib.suppress(OSError):
            self.cache.mkdir(mode=_CACHE_MODE, parents=True, exist_ok=True)
            keys.write_private(self.cache / _BOOKMARKS, msgspec.json.encode(noted))

    def _all(self) -> dict[str, SeenBookmark]:
        try:
            noted = msgspec.json.decode((self.cache / _BOOKMARKS).read_bytes(), type=dict[str, SeenBookmark])
        except (OSError, msgspec.DecodeError):
            return {}
        now = time.time()
        return {url: seen for url, seen in noted.items() if 0 <= now - seen.at < _KEPT_S}
