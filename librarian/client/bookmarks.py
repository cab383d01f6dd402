"""Bookmarks of a client's writes, so that every replica of the service answers from a state that includes them."""

import threading
from collections.abc import Mapping, Sequence

BOOKMARK_HEADER = "Librarian-Bookmark"
# As many as the service accepts.
_MOST = 64
_USELESS = frozenset({"invalid_bookmark", "bookmark_not_reached"})


class Bookmarks:
    """The bookmarks to send; thread-safe. `value` is the initial content of the header, empty if there are none."""

    def __init__(self, value: str = "") -> None:
        self._bookmarks = dict.fromkeys(_split(value))
        self._lock = threading.Lock()

    @property
    def value(self) -> str:
        """All bookmarks, for the header or another client."""
        with self._lock:
            return ",".join(self._bookmarks)

    def learn(self, sent: str, headers: Mapping[str, str]) -> None:
        """Adopt the bookmarks of an answer to a request with `sent`, which they supersede."""
        received = _split(headers.get(BOOKMARK_HEADER.lower(), ""))
        if received:
            self._replace(_split(sent), received)

    def refused(self, code: str) -> None:
        """Drop the bookmarks if a request failed with the problem `code` because the database does not know them."""
        if code in _USELESS:
            with self._lock:
                self._bookmarks = {}

    def _replace(self, before: Sequence[str], after: Sequence[str]) -> None:
        with self._lock:
            kept = [bookmark for bookmark in self._bookmarks if bookmark not in before and bookmark not in after]
            self._bookmarks = dict.fromkeys([*kept, *after][-_MOST:])


def _split(value: str) -> tuple[str, ...]:
    return tuple(bookmark.strip() for bookmark in value.split(",") if bookmark.strip())
