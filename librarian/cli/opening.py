"""How commands get at a graph: a Librarian of this process, or the client of a service."""

import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct

from librarian.base.errors import InvalidInput
from librarian.cli.display import Bar, downloads
from librarian.cli.lazy import deferred

if TYPE_CHECKING:
    from librarian import app, client
    from librarian.base import keys
    from librarian.base.settings import settings as setting
else:
    app, client = deferred("librarian.app"), deferred("librarian.client")
    keys = deferred("librarian.base.keys")
    setting = deferred("librarian.base.settings.settings")

# Whom a command asks: the graph itself, or a service.
Connection: TypeAlias = "app.Librarian | client.AsyncLibrarianClient"

_BOOKMARKS = "bookmarks.json"
# No member of a cluster that works lags so far behind.
_KEPT_S = 600
_CACHE_MODE = 0o700


@asynccontextmanager
async def opened(settings: "setting.Settings", purpose: str) -> "AsyncIterator[app.Librarian]":
    """Yield a ready Librarian; the managed server stays up for ten minutes afterwards, for the next command.

    Raises InvalidInput when the command is to ask a service, as what it does needs the graph itself.
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
    """Yield the client of the service that the settings name, else a ready Librarian."""
    remote = settings.remote
    if remote.url is None:
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
    """Do what `reached` does for work that needs no vectors: ready sooner by the loading of the encoder."""
    return reached(replace(settings, encoder=setting.EncoderSettings(name="none")), purpose)


async def encode_pending(librarian: Connection, *, unless: bool) -> int | None:
    """Encode what waits for its vector, as perhaps no service is there to do it; a service encodes by itself.

    Returns how many items still wait, None where nothing was to be done here.
    """
    if unless or isinstance(librarian, client.AsyncLibrarianClient):
        return None
    with Bar("Encoding") as bar:
        await librarian.embed_pending(on_progress=bar.update)
    return await librarian.pending_embeddings()


class SeenBookmark(Struct, frozen=True):
    """A client's bookmark, and when it was written down (Unix time)."""

    bookmark: str
    at: float


@dataclass(frozen=True, slots=True)
class LastSeen:
    """What the last commands wrote through one service, so that the next one reads it, whichever replica answers.

    It is noted in the cache; a note that cannot be read or written does not matter.
    """

    cache: Path
    url: str

    def bookmark(self) -> str:
        """Return the bookmark of what the last commands wrote, or an empty text."""
        noted = self._all().get(self.url)
        return "" if noted is None else noted.bookmark

    def keep(self, bookmark: str) -> None:
        """Note a bookmark for the next command; an empty one removes the note."""
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
