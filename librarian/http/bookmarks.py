"""`Librarian-Bookmark`: what one replica wrote, another one on the same database cluster reads.

An answer to a request that wrote carries a bookmark; a request that carries it waits until the database member that
serves it knows that write. Bookmarks are marks of the database, no secrets, and give no right to anything.
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
# Members of a cluster lag milliseconds; what is not there by then, is not soon.
PATIENCE_S = 5.0
BOOKMARK = r"FB:[A-Za-z0-9+/=_-]{1,500}"
_USABLE = re.compile(BOOKMARK)


class ReadYourWrites:
    """Gives each request a chain of bookmarks of its own, and hands on what stands for its writes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request with a chain."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        mine = Chain()
        chain.set(mine)
        scope["state"]["chain"] = mine

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and mine.wrote:
                MutableHeaders(scope=message)[BOOKMARK_HEADER] = ",".join(sorted(mine.known))
            await send(message)

        await self._app(scope, receive, noting)


async def catch_up(request: Request, librarian: Librarian) -> None:
    """Wait until the database knows the work of the bookmarks that were sent, so that all of the request builds on it.

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
    """Return the bookmarks that the client sent. Raises InvalidBookmark for what cannot be one."""
    sent = [bookmark.strip() for line in request.headers.getlist(BOOKMARK_HEADER) for bookmark in line.split(",")]
    if len(sent) > MOST_BOOKMARKS or not all(map(_USABLE.fullmatch, sent)):
        raise InvalidBookmark
    return sent
