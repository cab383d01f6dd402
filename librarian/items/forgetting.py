"""Lists tombstones."""

from graph import tombstones as graph
from graph.executor import Executor
from graph.tombstones import Tombstone
from graph.types import time_of
from librarian.base import cursors
from librarian.items.contracts import ForgottenList, ForgottenOut, ForgottenQuery

RESEMBLING = "may restate something forgotten: `librarian list --resembling` shows them; forget or pin each"
NOTE = "held back, because they were forgotten before: `librarian forgotten` lists them"


async def list_forgotten(executor: Executor, namespace: str, query: ForgottenQuery) -> ForgottenList:
    """Return one page, latest first. Raises InvalidInput for a cursor of another query."""
    after = None
    if query.cursor is not None:
        after = _position(namespace, query, query.cursor)
    found = await graph.list_tombstones(executor, namespace, query.limit + 1, after)
    page, next_cursor = cursors.page(
        namespace, query, found, query.limit, lambda each: [each.forgotten_at, each.identity]
    )
    return ForgottenList(forgotten=[_out(each) for each in page], next_cursor=next_cursor)


def _position(namespace: str, query: ForgottenQuery, cursor: str) -> tuple[str, str]:
    position = cursors.decode(namespace, query, cursor)
    try:
        time, identity = position
        time_of(time)
    except ValueError:
        raise cursors.invalid() from None
    return time, identity


def _out(tombstone: Tombstone) -> ForgottenOut:
    return ForgottenOut(
        tombstone_id=tombstone.identity,
        kind=tombstone.kind,
        actor=tombstone.actor,
        forgotten_at=time_of(tombstone.forgotten_at),
    )
