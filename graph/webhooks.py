"""Webhooks in the graph: where the changes of a namespace are sent, and how far delivery has come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph import feed
from graph.executor import Executor, Row
from graph.types import native

LOCK = "webhooks"
"""Name of the lease that the sender holds."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that has sent everything up to `cursor`. `up_to` is the last change of a delivery that was tried.

    `kinds` are those that it reports (None: all). `state` is active, or paused until a test succeeds.
    """

    namespace: str
    webhook_id: str
    url: str
    kinds: Sequence[str] | None
    state: str
    cursor: feed.Cursor
    up_to: int | None
    failures: int
    failing_since: datetime | None
    next_at: datetime
    last_status: int | None
    last_error: str | None
    created_at: datetime
    delivered_at: datetime | None


async def create(
    executor: Executor, namespace: str, webhook_id: str, url: str, kinds: Sequence[str] | None
) -> Webhook | None:
    """Register a webhook for changes from now on; None if the address has one."""
    now = await feed.head(executor, namespace)
    params = {"namespace": namespace, "webhook_id": webhook_id, "url": url, "kinds": kinds}
    rows = await executor.write("put_webhook", {**params, "seq": now.seq, "tag": now.tag})
    made = _webhook(namespace, rows[0]["webhook"])
    return made if made.webhook_id == webhook_id else None


async def list_webhooks(executor: Executor, namespace: str) -> list[Webhook]:
    """Return the webhooks of a namespace, oldest first."""
    rows = await executor.fetch_all("list_webhooks", {"namespace": namespace})
    return [_webhook(namespace, row["webhook"]) for row in rows]


async def delete(executor: Executor, namespace: str, webhook_id: str) -> Webhook | None:
    """Remove a webhook and return it, or None."""
    rows = await executor.write("delete_webhook", {"namespace": namespace, "webhook_id": webhook_id})
    return _webhook(namespace, rows[0]["webhook"]) if rows else None


async def due(executor: Executor, limit: int, owner: str | None = None) -> Sequence[Webhook]:
    """Return webhooks of all namespaces that have something to send now, longest waiting first; none if `owner` has
    lost the lease LOCK.
    """
    rows = await executor.fetch_all("due_webhooks", {"limit": limit, "lock": LOCK, "owner": owner})
    return [_webhook(row["namespace"], row["webhook"]) for row in rows]


async def paused(executor: Executor) -> Sequence[tuple[str, str, str]]:
    """Return namespace, id and last error of every paused webhook."""
    rows = await executor.fetch_all("paused_webhooks")
    return [(row["namespace"], row["webhook_id"], row["error"]) for row in rows]


async def bound(executor: Executor, webhook: Webhook, up_to: int) -> None:
    """Record the end of the next delivery, so that a repetition sends the same."""
    await executor.write("bound_delivery", {**_at(webhook), "seq": webhook.cursor.seq, "up_to": up_to})


async def advance(executor: Executor, webhook: Webhook, reached: feed.Cursor, status: int | None) -> None:
    """Advance to `reached`, unless another replica has; `status` is None if nothing had to be sent."""
    params = {**_at(webhook), "from_seq": webhook.cursor.seq, "seq": reached.seq, "tag": reached.tag, "status": status}
    await executor.write("advance_webhook", params)


async def delay(
    executor: Executor, webhook: Webhook, *, status: int | None, error: str, wait_s: float, give_up_s: int
) -> str | None:
    """Retry in `wait_s`, or pause after failing for `give_up_s` (0: at once); returns the state."""
    attempt = {"status": status, "error": error, "wait_s": wait_s, "give_up_s": give_up_s}
    rows = await executor.write("delay_webhook", {**_at(webhook), "from_seq": webhook.cursor.seq, **attempt})
    return rows[0]["state"] if rows else None


def _at(webhook: Webhook) -> dict[str, Any]:
    return {"namespace": webhook.namespace, "webhook_id": webhook.webhook_id}


def _webhook(namespace: str, row: Row) -> Webhook:
    stored = {name: native(value) for name, value in row.items()}
    cursor = feed.Cursor(stored.pop("seq"), stored.pop("tag") or "")
    return Webhook(namespace=namespace, cursor=cursor, **stored)
