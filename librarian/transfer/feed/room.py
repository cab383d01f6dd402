"""Reads the change feed, page by page or as a stream."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from graph import feed
from graph.executor import deadline
from librarian.base.errors import InvalidInput
from librarian.runtime.lifecycle import Lifecycle
from librarian.transfer.feed.contracts import ChangeList, ChangeOut, ChangeQuery

PAGE = 500
_LOOK_EVERY_S = 0.5


class FeedRoom:
    """The changes of a namespace, for followers."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._looks: dict[str, asyncio.Task[feed.Cursor]] = {}

    async def changes(self, namespace: str, query: ChangeQuery) -> ChangeList:
        """Return one page of the changes after `query.after`; without that none, only the current position.

        Raises ChangesGone if some of them are no longer kept.
        """
        executor = self._lifecycle.parts.executor
        if query.after is None:
            return ChangeList(changes=[], cursor=str(await feed.head(executor, namespace)), more=False)
        after = _cursor(query.after)
        await feed.check(executor, namespace, after)
        page = await feed.read(executor, namespace, after, query.limit)
        return ChangeList(
            changes=[change_out(entry) for entry in page.entries], cursor=str(page.cursor), more=page.more
        )

    async def follow_changes(self, namespace: str, after: str | None = None) -> AsyncGenerator[ChangeList, None]:
        """Yield pages of the changes after `after` (None: from now on) without end; first the starting position, and an
        empty page whenever nothing has happened for half a second. Raises ChangesGone.
        """
        page = await self.changes(namespace, ChangeQuery(after=after, limit=PAGE))
        yield page
        while True:
            if not page.more:
                newest = await self._next_look(namespace)
                if str(newest) == page.cursor:
                    yield ChangeList(changes=[], cursor=page.cursor, more=False)
                    continue
            page = await self.changes(namespace, ChangeQuery(after=page.cursor, limit=PAGE))
            yield page

    async def _next_look(self, namespace: str) -> feed.Cursor:
        """Return the position of the feed after the next poll, which all followers of a namespace share."""
        look = self._looks.get(namespace)
        if look is None:
            look = self._looks[namespace] = asyncio.create_task(self._look(namespace))
        return await asyncio.shield(look)

    async def _look(self, namespace: str) -> feed.Cursor:
        deadline.set(None)  # shared by several requests
        try:
            await asyncio.sleep(_LOOK_EVERY_S)
            return await feed.head(self._lifecycle.parts.executor, namespace)
        finally:
            del self._looks[namespace]


def _cursor(text: str) -> feed.Cursor:
    found = feed.Cursor.read(text)
    if found is None:
        raise InvalidInput("invalid change feed cursor", field="after", remedy="Send the `cursor` of a change.")
    return found


def change_out(entry: feed.Entry) -> ChangeOut:
    """Return a change in its wire form."""
    change = entry.change
    fields = {name: getattr(change, name) for name in ("action", "kind", "uid", "type", "source", "target")}
    return msgspec.convert({**fields, "seq": entry.cursor.seq, "cursor": str(entry.cursor), "at": entry.at}, ChangeOut)
