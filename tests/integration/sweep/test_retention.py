"""Retention: what is old expires by rules, can be taken back until it is purged, and pinned items stay."""

from datetime import timedelta

import pytest

from librarian.items.contracts import ForgottenQuery, ItemQuery
from librarian.sweep.contracts import RetentionRule, SweepQuery, SweepRequest
from librarian.sweep.retention import Retention
from librarian.transfer.feed.contracts import ChangeQuery

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
def told(librarian, namespace):
    """The changes of the test's namespace since the last call, as (action, uid)."""
    cursor = "0"

    async def since():
        nonlocal cursor
        page = await librarian.changes(namespace, ChangeQuery(after=cursor, limit=500))
        cursor = page.cursor
        return sorted((change.action, change.uid) for change in page.changes)

    return since


@pytest.fixture
def purging_at_once(librarian, monkeypatch):
    monkeypatch.setattr(librarian.sweeps, "_retention", Retention(purge_after=timedelta(0)))


async def test_what_is_old_expires_and_comes_back_with_an_undo(librarian, ingest, namespace, told):
    """A dry run changes nothing and is a plan; the sweep's changes are listed, and undone unless changed since. The
    change feed tells both.
    """
    await ingest(*ROWS)
    plan = await librarian.sweep(namespace, SweepRequest(dry_run=True, retention=RULES))
    named = [change.memory_id for change in plan.changes if change.action == "expire"]
    assert (sorted(named), plan.findings.expired) == (["later", "old"], 2)
    assert {change.memory_id for change in plan.changes if change.action != "expire"}.isdisjoint(named)
    assert len(await listed(librarian, namespace)) == 5
    await told()
    done = await librarian.sweep(namespace, SweepRequest(plan=plan))
    assert (done.findings.expired, done.findings.refused) == (2, 0)
    assert await told() == [("changed", "later"), ("changed", "old")]
    assert await listed(librarian, namespace) == {"kept", "new", "idea"}
    shown = await librarian.get_sweep(namespace, done.sweep_id, SweepQuery())
    assert {change.reason for change in shown.changes if change.memory_id == "old"} == {"older than 365 days"}
    await librarian.patch_item(namespace, "later", {"expires_at": "2021-01-01T00:00:00Z"})
    await told()
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    assert await told() == [("changed", "old")]
    assert await listed(librarian, namespace) == {"old", "kept", "new", "idea"}
    assert [each.memory_id for each in undone.kept if each.action == "expire"] == ["later"]


async def test_retention_and_facts_in_one_plan(librarian, ingest, namespace):
    """Nothing is read off a message that expires; a dry run says what the sweep does, and an undo takes all back."""
    said = {"kind": "message", "conversation_id": "c", "author_name": "Ines", "author_id": "p"}
    await ingest(
        {**said, "uid": "old", "sent_at": OLD, "text": "We moved to Porto last month."},
        {**said, "uid": "new", "text": "I work at the bakery now."},
    )
    plan = await librarian.sweep(namespace, SweepRequest(dry_run=True, facts=True, retention=RULES))
    assert {(change.memory_id, change.action) for change in plan.changes} == {("old", "expire"), ("new", "fact")}
    done = await librarian.sweep(namespace, SweepRequest(plan=plan))
    (fact,) = await listed(librarian, namespace) - {"new"}
    assert (done.summary, done.findings.expired, done.findings.facts_accepted) == (plan.summary, 1, 1)
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    assert (undone.facts_removed, await listed(librarian, namespace)) == (1, {"old", "new"})
    again = await librarian.sweep(namespace, SweepRequest(facts=True, retention=RULES))
    assert (again.findings, await listed(librarian, namespace)) == (plan.findings, {"new", fact})


async def test_what_expired_long_ago_is_purged(librarian, ingest, namespace, purging_at_once, told):
    """Not by a dry run. Its uid stays away, what it said may be said again; what did not expire is untouched."""
    await ingest(*ROWS)
    await librarian.sweep(namespace, SweepRequest(retention=RULES[:1]))
    assert (await librarian.sweep(namespace, SweepRequest(dry_run=True))).findings.purged == 1
    assert (await librarian.get_item(namespace, "old")).uid == "old"
    await told()
    assert (await librarian.sweep(namespace, SweepRequest())).findings.purged == 1
    assert await told() == [("forgotten", "old")]
    assert await listed(librarian, namespace) == {"kept", "new", "idea", "later"}
    assert len((await librarian.list_forgotten(namespace, ForgottenQuery())).forgotten) == 1
    report = await ingest(*ROWS, {**ROWS[0], "uid": "again"})
    assert (report.held_back_uids, report.added) == (["old"], 1)
