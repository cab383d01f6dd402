"""`Librarian-Bookmark`: makes writes through one replica visible through others on the same database cluster.

The answer to a write carries a bookmark; a request with that bookmark waits until its database member has the write.
Bookmarks come from the database; they are not secret and grant no rights.
"""

import asyncio
import re

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.bookmarks import Chain, chain
from graph.capability import ping
from graph.errors import BookmarkNotReached, InvalidBookmark
from librarian.app import Librarian

BOOKMARK_HEADER = "Librarian-Bookmark"
MOST_BOOKMARKS = 64
# Members of a cluster lag by milliseconds; a write still missing after this will not arrive soon.
PATIENCE_S = 5.0
BOOKMARK = r"FB:[A-Za-z0-9+/=_-]{1,500}"
_USABLE = re.compile(BOOKMARK)


class ReadYourWrites:
    """Gives each request its own chain of bookmarks, and returns those of its writes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request with a chain."""
        mine = Chain()
        chain.set(mine)
        scope["state"]["chain"] = mine

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and mine.wrote:
                MutableHeaders(scope=message)[BOOKMARK_HEADER] = ",".join(sorted(mine.known))
            await send(message)

        await self._app(scope, receive, noting)


async def catch_up(request: Request, librarian: Librarian) -> None:
    """Wait until the database has the writes of the received bookmarks, so that the whole request builds on them.

    Raises InvalidBookmark, or BookmarkNotReached after PATIENCE_S seconds.
    """
    sent = bookmarks_of(request)
    if not sent:
        return
    mine: Chain = request.state.chain
    mine.follow(sent)
    try:
        async with asyncio.timeout(PATIENCE_S):
            await ping(librarian.parts.executor)
    except TimeoutError:
        raise BookmarkNotReached from None


def bookmarks_of(request: Request) -> list[str]:
    """Return the bookmarks that the client sent. Raises InvalidBookmark for a malformed one."""
    sent = [bookmark.strip() for line in request.headers.getlist(BOOKMARK_HEADER) for bookmark in line.split(",")]
    if len(sent) > MOST_BOOKMARKS or not all(map(_USABLE.fullmatch, sent)):
        raise InvalidBookmark
    return sent
