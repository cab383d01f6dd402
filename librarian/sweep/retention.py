"""Retention: expiry of items by age, and purging of items that expired long ago."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graph import sweep as graph
from graph.deletion import CHUNK_ITEMS, delete_items
from graph.executor import Executor
from graph.ingest import link_order
from graph.types import Provenance
from librarian.base import strictjson
from librarian.base.audit import actor, audit
from librarian.base.errors import InvalidInput, SettingsError
from librarian.items.filters import item_filter
from librarian.sweep.apply import CHUNK
from librarian.sweep.changes import Expire
from librarian.sweep.contracts import RetentionRule


@dataclass(frozen=True, slots=True)
class Retention:
    """The default rules of sweeps, and the delay before expired items are purged."""

    rules: Sequence[RetentionRule] = ()
    purge_after: timedelta = timedelta(days=30)


NO_RETENTION = Retention()


def rules_of(raw: str) -> list[RetentionRule]:
    """Return the rules of LIBRARIAN_RETENTION, a JSON array of them. Raises SettingsError."""
    try:
        return strictjson.decode(raw.encode(), list[RetentionRule])
    except InvalidInput as fault:
        raise SettingsError(
            f"LIBRARIAN_RETENTION: {fault} ({fault.field})",
            remedy='Write rules such as [{"kinds": ["message"], "older_than_days": 90}].',
        ) from None


async def expiring(
    executor: Executor, namespace: str, rules: Sequence[RetentionRule]
) -> AsyncGenerator[list[Expire], None]:
    """Yield pages of the items that the rules let expire, each item once."""
    now, taken = datetime.now(UTC), set[str]()
    for rule in rules:
        where = item_filter(namespace, rule)
        before, after = now - timedelta(days=rule.older_than_days), ""
        reason = f"older than {rule.older_than_days} days"
        while page := await graph.aged(executor, where, before, after=after, limit=CHUNK):
            after = page[-1][0]
            yield [Expire(uid, version, now, reason) for uid, version in page if uid not in taken]
            taken.update(uid for uid, _ in page)


async def due(executor: Executor, namespace: str, retention: Retention) -> int:
    """Return how many items a sweep would purge now."""
    return await graph.count_expired(executor, namespace, datetime.now(UTC) - retention.purge_after)


async def purge(executor: Executor, namespace: str, retention: Retention) -> int:
    """Forget items that expired long enough ago, and return their number.

    Their uids stay blocked; their texts may be stored again.
    """
    before, by, gone = datetime.now(UTC) - retention.purge_after, Provenance("purge", actor.get()), 0
    while versions := await graph.expired_before(executor, namespace, before, limit=CHUNK_ITEMS):
        deleted, kept = await delete_items(executor, namespace, versions, forgotten=by, words=False)
        gone += sum(deleted.by_kind.values())
        if kept:
            break  # they are being changed right now: the next sweep retries them
    if gone:
        await link_order(executor, namespace)
        audit("items.purge", namespace, items=gone)
    return gone
