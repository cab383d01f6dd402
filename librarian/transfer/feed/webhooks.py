"""Webhooks: signed deliveries of changes to registered addresses.

Every service polls for due deliveries; the holder of a lease sends them. A delivery holds up to a hundred changes and
keeps its id when it is retried; the position after it is saved once the receiver has accepted it.
"""

import asyncio
import random
import time
from datetime import UTC, datetime
from secrets import token_hex

import msgspec
import structlog

from graph import feed
from graph import webhooks as graph
from graph.errors import ChangesGone, LeaseHeld
from graph.leases import leased
from librarian.base import metrics
from librarian.base.audit import audit
from librarian.base.errors import Conflict, NotFound, NotReady
from librarian.base.problems import caught, is_known
from librarian.base.settings.settings import WebhookSettings
from librarian.runtime.lifecycle import Lifecycle
from librarian.transfer.feed import signing
from librarian.transfer.feed.addresses import checked_url
from librarian.transfer.feed.contracts import WebhookCreated, WebhookIn, WebhookList, WebhookOut, WebhookTest
from librarian.transfer.feed.delivery import Outcome, Payload, send
from librarian.transfer.feed.room import change_out

MOST_WEBHOOKS = 20
"""Per namespace."""
_CHANGES_AT_ONCE = 100
_AT_ONCE = 8
_LOOK_EVERY_S = 1.0
_COUNT_EVERY_S = 10.0
_FIRST_WAIT_S = 5.0
_LONGEST_WAIT_S = 3600.0
_GONE = 410

log = structlog.stdlib.get_logger("librarian.webhooks")


class WebhooksRoom:
    """Registers webhooks and sends their deliveries. `paused` is the recent number of paused webhooks."""

    def __init__(self, lifecycle: Lifecycle, settings: WebhookSettings) -> None:
        self._lifecycle = lifecycle
        self._settings = settings
        self._count_at = 0.0
        self.paused = 0

    async def add_webhook(self, namespace: str, webhook: WebhookIn) -> WebhookCreated:
        """Register a webhook for changes from now on. Raises InvalidInput, and Conflict if there are too many or the
        address has one.
        """
        checked_url(webhook.url, private=self._settings.private)
        webhook_id = f"wh_{token_hex(8)}"
        secret = signing.secret_of(self._settings.secret_file, namespace, webhook_id)
        executor = self._lifecycle.parts.executor
        if len(await graph.list_webhooks(executor, namespace)) >= MOST_WEBHOOKS:
            raise Conflict(f"The namespace has {MOST_WEBHOOKS} webhooks.", remedy="Remove one.")
        made = await graph.create(executor, namespace, webhook_id, webhook.url, webhook.kinds)
        if made is None:
            raise Conflict("The address has a webhook.", remedy="Remove it to change its secret or kinds.")
        audit("webhook.add", namespace, webhook_id=webhook_id)
        return WebhookCreated(webhook=_out(made), secret=signing.shown(secret))

    async def list_webhooks(self, namespace: str) -> WebhookList:
        """Return the webhooks of a namespace, oldest first."""
        found = await graph.list_webhooks(self._lifecycle.parts.executor, namespace)
        return WebhookList(webhooks=[_out(webhook) for webhook in found])

    async def remove_webhook(self, namespace: str, webhook_id: str) -> WebhookOut:
        """Remove a webhook and return it. Raises NotFound."""
        removed = await graph.delete(self._lifecycle.parts.executor, namespace, webhook_id)
        if removed is None:
            raise _no_webhook(webhook_id)
        audit("webhook.remove", namespace, webhook_id=webhook_id)
        return _out(removed)

    async def test_webhook(self, namespace: str, webhook_id: str) -> WebhookTest:
        """Send a test delivery now. If it succeeds, a paused webhook becomes active again; if its unsent changes are no
        longer kept, it continues from now. Raises NotFound.
        """
        executor = self._lifecycle.parts.executor
        found = await graph.list_webhooks(executor, namespace)
        webhook = next((each for each in found if each.webhook_id == webhook_id), None)
        if webhook is None:
            raise _no_webhook(webhook_id)
        payload = Payload(type="test", timestamp=datetime.now(UTC), data={"namespace": namespace})
        said = await send(self._settings, webhook, f"{webhook_id}_test_{token_hex(8)}", payload)
        gone = await caught(feed.check(executor, namespace, webhook.cursor)) is not None
        if said.error is None:
            reached = await feed.head(executor, namespace) if gone else webhook.cursor
            await graph.advance(executor, webhook, reached, said.status)
        audit("webhook.test", namespace, webhook_id=webhook_id, status=said.status, error=said.error)
        return WebhookTest(delivered=said.error is None, status=said.status, error=said.error, changes_gone=gone)

    async def send_changes(self) -> None:
        """Send due deliveries, unless another replica does, until cancelled."""
        reported = ""
        while True:
            error = await caught(self._send_due())
            reason = "" if error is None or isinstance(error, LeaseHeld | NotReady) else type(error).__name__
            if reason and reason != reported:
                log.warning("webhooks wait", reason=reason, exc_info=None if error and is_known(error) else error)
            reported = reason
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _send_due(self) -> None:
        """Hold the lease while deliveries are due."""
        executor = self._lifecycle.parts.executor
        if time.monotonic() >= self._count_at:
            self.paused = len(await graph.paused(executor))
            metrics.webhooks_paused.set(self.paused)
            self._count_at = time.monotonic() + _COUNT_EVERY_S
        if not await graph.due(executor, 1):
            return
        async with leased(executor, graph.LOCK, "webhooks") as lease:
            while due := await graph.due(executor, _AT_ONCE, lease.owner):
                errors = await asyncio.gather(*(caught(self._deliver(webhook)) for webhook in due))
                if error := next(filter(None, errors), None):
                    raise error

    async def _deliver(self, webhook: graph.Webhook) -> None:
        """Send the next delivery of one webhook and record the outcome."""
        executor = self._lifecycle.parts.executor
        limit = _CHANGES_AT_ONCE if webhook.up_to is None else webhook.up_to - webhook.cursor.seq
        try:
            await feed.check(executor, webhook.namespace, webhook.cursor)
            page = await feed.read(executor, webhook.namespace, webhook.cursor, limit)
        except ChangesGone as error:
            await self._delay(webhook, Outcome(None, error.code), error.code, give_up_s=0)
            return
        entries = [entry for entry in page.entries if webhook.kinds is None or entry.change.kind in webhook.kinds]
        if not entries:
            await graph.advance(executor, webhook, page.cursor, None)
            return
        if webhook.up_to is None:
            await graph.bound(executor, webhook, page.cursor.seq)
        payload = Payload(
            type="changes",
            timestamp=entries[-1].at,
            data={
                "namespace": webhook.namespace,
                "changes": list(map(change_out, entries)),
                "cursor": str(page.cursor),
            },
        )
        delivery_id = f"{webhook.webhook_id}_{webhook.cursor.seq + 1}_{page.cursor.seq}"
        said = await send(self._settings, webhook, delivery_id, payload)
        if said.error is None:
            await graph.advance(executor, webhook, page.cursor, said.status)
            metrics.webhook_deliveries.labels("taken").inc()
        else:
            await self._delay(webhook, said, said.error, give_up_s=_give_up_s(said, self._settings.hours))

    async def _delay(self, webhook: graph.Webhook, said: Outcome, error: str, *, give_up_s: int) -> None:
        wait = wait_s(webhook.failures)
        state = await graph.delay(
            self._lifecycle.parts.executor, webhook, status=said.status, error=error, wait_s=wait, give_up_s=give_up_s
        )
        metrics.webhook_deliveries.labels("failed").inc()
        about = {"webhook_id": webhook.webhook_id, "namespace": webhook.namespace, "status": said.status}
        if state == "paused":
            log.warning("webhook paused", **about, error=error, attempt=webhook.failures + 1)
        else:  # a temporary outage of a receiver needs no operator
            log.info("webhook delivery failed", **about, error=error, attempt=webhook.failures + 1)


def wait_s(failures: int) -> float:
    """Return the seconds until the next attempt: doubled after each failure up to an hour, with 20 % jitter."""
    return min(_FIRST_WAIT_S * 2.0 ** min(failures, 20), _LONGEST_WAIT_S) * random.uniform(0.8, 1.2)  # noqa: S311 - no secret


def _give_up_s(said: Outcome, hours: int) -> int:
    return 0 if said.status == _GONE else hours * 3600


def _no_webhook(webhook_id: str) -> NotFound:
    return NotFound(f"There is no webhook {webhook_id!r}.", field="webhook_id", remedy="List the webhooks.")


def _out(webhook: graph.Webhook) -> WebhookOut:
    fields = {name: getattr(webhook, name) for name in WebhookOut.__struct_fields__ if hasattr(webhook, name)}
    waits = webhook.state == "active" and webhook.failures > 0
    return msgspec.convert(
        {**fields, "cursor": str(webhook.cursor), "next_attempt_at": webhook.next_at if waits else None}, WebhookOut
    )
