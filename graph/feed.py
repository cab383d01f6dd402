"""Reads the change feed of a namespace: changes in the order of commits, each with a number.

Numbers have no gaps. A cursor is a number with the tag of the transaction that took it, which reveals a graph that was
restored and has diverged since.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from graph.changes import decoded_changes
from graph.errors import ChangesGone
from graph.executor import Executor, Row
from graph.types import Change, native

_CURSOR = re.compile(r"(\d{1,18})-([0-9a-f]{8})", re.ASCII)
_SETS_AT_ONCE = 100
_DELETED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a feed, after change `seq`. Before the first change there is no `tag`."""

    seq: int = 0
    tag: str = ""

    def __str__(self) -> str:
        return f"{self.seq}-{self.tag}" if self.seq else "0"

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        """Parse a cursor; None for an invalid one."""
        if text == "0":
            return cls()
        found = _CURSOR.fullmatch(text)
        return cls(int(found[1]), found[2]) if found and int(found[1]) else None


@dataclass(frozen=True, slots=True)
class Entry:
    """One change, its time, and the cursor after it."""

    change: Change
    at: datetime
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Page:
    """Some changes in order, the cursor after them, and whether there are more."""

    entries: Sequence[Entry]
    cursor: Cursor
    more: bool


async def head(executor: Executor, namespace: str) -> Cursor:
    """Return the cursor after the last change."""
    row = await executor.fetch_one("read_change_log", {"namespace": namespace})
    return Cursor(row["seq"], row["tag"]) if row else Cursor()


async def check(executor: Executor, namespace: str, after: Cursor) -> None:
    """Raise ChangesGone unless all changes after `after` are kept and it belongs to this history of the graph."""
    row = await executor.fetch_one("find_change_set", {"namespace": namespace, "seq": max(after.seq, 1)})
    if row is None:
        if after.seq:
            raise ChangesGone
    elif row["first"] > max(after.seq, 1) or (after.seq and row["tag"] != after.tag):
        raise ChangesGone


async def read(executor: Executor, namespace: str, after: Cursor, limit: int) -> Page:
    """Return up to `limit` changes after `after`, which `check` has passed.

    Raises ChangesGone if some were deleted since. The last committed number is read first: whatever is committed during
    this read is left for the next page, and with it what a scan may have passed before the commit.
    """
    last = await head(executor, namespace)
    params = {"namespace": namespace, "after": after.seq, "up_to": last.seq, "limit": min(limit, _SETS_AT_ONCE)}
    rows = await executor.fetch_all("read_change_sets", params) if last.seq > after.seq else []
    if last.seq > after.seq and not rows:
        raise ChangesGone
    entries: list[Entry] = []
    for entry in (entry for row in rows for entry in _entries(row)):
        reached = entries[-1].cursor.seq if entries else after.seq
        if entry.cursor.seq <= reached:
            continue
        if len(entries) == limit:
            break
        if entry.cursor.seq != reached + 1:
            raise ChangesGone
        entries.append(entry)
    cursor = entries[-1].cursor if entries else after
    return Page(entries, cursor, cursor.seq < last.seq)


async def delete_old_changes(executor: Executor, hours: int) -> None:
    """Delete changes older than `hours` in all namespaces; the last transaction of each stays."""
    while (await executor.write("delete_old_changes", {"hours": hours, "limit": _DELETED_AT_ONCE}))[0]["deleted"]:
        pass


def _entries(row: Row) -> Iterator[Entry]:
    at: datetime = native(row["at"])
    for seq, change in enumerate(decoded_changes(row["changes"]), start=row["first"]):
        yield Entry(change, at, Cursor(seq, row["tag"]))
