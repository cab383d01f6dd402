"""Retention: what is old expires by rules, can be taken back until it is purged, and pinned items stay."""

from datetime import timedelta

import pytest

from librarian.items.contracts import ForgottenQuery, ItemQuery
from librarian.sweep.contracts import RetentionRule, SweepQuery, SweepRequest
from librarian.sweep.retention import Retention

OLD, TOLD = "2020-01-01T00:00:00Z", "The bakery on the corner sells rye bread on Mondays only"
ROWS = [
    {"kind": "message", "uid": "old", "conversation_id": "c", "sent_at": OLD, "text": f"{TOLD}, says Ada."},
    {"kind": "message", "uid": "kept", "conversation_id": "c", "sent_at": OLD, "text": f"{TOLD}!", "pinned": True},
    {"kind": "message", "uid": "new", "conversation_id": "c", "text": f"{TOLD}, as I said."},
    {"kind": "memory", "uid": "idea", "occurred_at": OLD, "text": "Idea: a stand for rye bread."},
    {"kind": "memory", "uid": "later", "occurred_at": OLD, "text": "Note about flour.", "domain": "flour"},
]  # fmt: skip
RULES = [RetentionRule(kinds=["message"], older_than_days=365), RetentionRule(domain="flour", older_than_days=7)]


async def listed(librarian, namespace):
    return {item.uid for item in (await librarian.list_items(namespace, ItemQuery())).items}


@pytest.fixture
def purging_at_once(librarian, monkeypatch):
    monkeypatch.setattr(librarian.sweeps, "_retention", Retention(purge_after=timedelta(0)))


async def test_what_is_old_expires_and_comes_back_with_an_undo(librarian, ingest, namespace):
    """A dry run changes nothing and is a plan; the sweep's changes are listed, and undone unless changed since."""
    await ingest(*ROWS)
    plan = await librarian.sweep(namespace, SweepRequest(dry_run=True, retention=RULES))
    named = [change.memory_id for change in plan.changes if change.action == "expire"]
    assert (sorted(named), plan.findings.expired) == (["later", "old"], 2)
    assert {change.memory_id for change in plan.changes if change.action != "expire"}.isdisjoint(named)
    assert len(await listed(librarian, namespace)) == 5
    done = await librarian.sweep(namespace, SweepRequest(plan=plan))
    assert (done.findings.expired, done.findings.refused) == (2, 0)
    assert await listed(librarian, namespace) == {"kept", "new", "idea"}
    shown = await librarian.get_sweep(namespace, done.sweep_id, SweepQuery())
    assert {change.reason for change in shown.changes if change.memory_id == "old"} == {"older than 365 days"}
    await librarian.patch_item(namespace, "later", {"expires_at": "2021-01-01T00:00:00Z"})
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    assert await listed(librarian, namespace) == {"old", "kept", "new", "idea"}
    assert [each.memory_id for each in undone.kept if each.action == "expire"] == ["later"]


async def test_what_expired_long_ago_is_purged(librarian, ingest, namespace, purging_at_once):
    """Not by a dry run. Its uid stays away, what it said may be said again; what did not expire is untouched."""
    await ingest(*ROWS)
    await librarian.sweep(namespace, SweepRequest(retention=RULES[:1]))
    assert (await librarian.sweep(namespace, SweepRequest(dry_run=True))).findings.purged == 1
    assert (await librarian.get_item(namespace, "old")).uid == "old"
    assert (await librarian.sweep(namespace, SweepRequest())).findings.purged == 1
    assert await listed(librarian, namespace) == {"kept", "new", "idea", "later"}
    assert len((await librarian.list_forgotten(namespace, ForgottenQuery())).forgotten) == 1
    report = await ingest(*ROWS, {**ROWS[0], "uid": "again"})
    assert (report.held_back_uids, report.added) == (["old"], 1)
