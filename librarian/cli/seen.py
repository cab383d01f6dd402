"""What the last commands wrote through a service, so that the next one reads it, whichever replica answers."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from librarian.keys import write_private

_FILE = "bookmarks.json"
# No member of a cluster that works lags so far behind.
_KEPT_S = 600
_CACHE_MODE = 0o700


class Seen(Struct, frozen=True):
    """A client's bookmark, and when it was written down (Unix time)."""

    bookmark: str
    at: float


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The note about one service, among those in the cache; one that cannot be read or written does not matter."""

    cache: Path
    url: str

    def bookmark(self) -> str:
        """What the last commands wrote, or nothing."""
        noted = self._all().get(self.url)
        return "" if noted is None else noted.bookmark

    def keep(self, bookmark: str) -> None:
        """Note it down for the next command; an empty one removes the note."""
        noted = self._all()
        before = noted.pop(self.url, None)
        if bookmark == ("" if before is None else before.bookmark):
            return
        if bookmark:
            noted[self.url] = Seen(bookmark, time.time())
        with contextlib.suppress(OSError):
            self.cache.mkdir(mode=_CACHE_MODE, parents=True, exist_ok=True)
            write_private(self.cache / _FILE, msgspec.json.encode(noted))

    def _all(self) -> dict[str, Seen]:
        try:
            noted = msgspec.json.decode((self.cache / _FILE).read_bytes(), type=dict[str, Seen])
        except (OSError, msgspec.DecodeError):
            return {}
        now = time.time()
        return {url: seen for url, seen in noted.items() if 0 <= now - seen.at < _KEPT_S}
