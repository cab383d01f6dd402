"""What a client has written, as bookmarks of the service, so that whichever replica answers next builds on it."""

import threading
from collections.abc import Mapping, Sequence

BOOKMARK_HEADER = "Librarian-Bookmark"
# As many as the service takes.
_MOST = 64
_USELESS = frozenset({"invalid_bookmark", "bookmark_not_reached"})


class Bookmarks:
    """The bookmarks to send; safe for several threads. `value` is what a header carries, empty where there are none."""

    def __init__(self, value: str = "") -> None:
        self._known = dict.fromkeys(_split(value))
        self._lock = threading.Lock()

    @property
    def value(self) -> str:
        """All of them, for the header or for another client."""
        with self._lock:
            return ",".join(self._known)

    def learn(self, sent: str, headers: Mapping[str, str]) -> None:
        """Take over what an answer to a request with `sent` carries: it stands for `sent` too."""
        received = _split(headers.get(BOOKMARK_HEADER.lower(), ""))
        if received:
            self._replace(_split(sent), received)

    def refused(self, code: str) -> None:
        """A request failed for good with the problem `code`: bookmarks that no database knows are not kept."""
        if code in _USELESS:
            with self._lock:
                self._known = {}

    def _replace(self, before: Sequence[str], after: Sequence[str]) -> None:
        with self._lock:
            kept = [bookmark for bookmark in self._known if bookmark not in before and bookmark not in after]
            self._known = dict.fromkeys([*kept, *after][-_MOST:])


def _split(value: str) -> tuple[str, ...]:
    return tuple(bookmark.strip() for bookmark in value.split(",") if bookmark.strip())
