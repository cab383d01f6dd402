"""Lists tombstones and lifts them."""

from graph import tombstones as graph
from graph.executor import Executor
from graph.tombstones import Tombstone
from graph.types import time_of
from librarian.base import cursors
from librarian.base.errors import InvalidInput
from librarian.items.contracts import ForgottenList, ForgottenOut, ForgottenQuery, ItemIn, LiftInput, LiftOutput
from librarian.items.rows import RowBuilder

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


async def lift(executor: Executor, namespace: str, what: LiftInput) -> LiftOutput:
    """Allow forgotten items to return. Raises InvalidInput if none is named."""
    if what.uids is None and what.tombstone_ids is None:
        raise InvalidInput("name uids or tombstone_ids", field="$.uids")
    lifted = await graph.lift(executor, namespace, what.uids or [], what.tombstone_ids or [])
    return LiftOutput(lifted=lifted)


async def lift_row(executor: Executor, namespace: str, uid: str, row: ItemIn) -> None:
    """Allow the item `uid`, described by `row`, to return."""
    item = RowBuilder().item(namespace, row).item
    await graph.lift_said(executor, namespace, graph.Said(uid, item.kind, graph.said_by(item).texts))


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
