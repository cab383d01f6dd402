"""A sweep from the plan to its undoing."""

import pytest
from structlog.testing import capture_logs

from librarian.base import metrics
from librarian.base.errors import InvalidInput, NotFound
from librarian.items.contracts import Filters, LinkInput
from librarian.sweep.contracts import SweepQuery
from librarian.sweep.plan import PAGE


async def test_a_dry_run_changes_nothing(sweep, memories, stored):
    """The plan lists what a sweep would do, and nothing is written."""
    before = await stored()
    report = await sweep(dry_run=True)
    assert report.dry_run
    assert report.summary.memories_scanned == len(memories)
    assert report.changes
    assert await stored() == before


async def test_a_sweep_does_what_its_dry_run_says(sweep, memories):
    """Summary, findings and changes of both are the same."""
    planned, done = await sweep(dry_run=True), await sweep()
    assert (done.summary, done.findings) == (planned.summary, planned.findings)
    assert [(one.memory_id, one.action, one.text, one.edge_id) for one in done.changes] == [
        (one.memory_id, one.action, one.text, one.edge_id) for one in planned.changes
    ]


async def test_types_and_sections_are_written(sweep, memories, memory):
    """A marked text gets its type and its sections, each of its sentences in one of them; the rest is as it was."""
    await sweep()
    swept = await memory("decision")
    assert (swept["type"], swept["importance"], swept["domain"]) == ("Decision", 8, "billing")
    assert "## OUTCOME" in swept["text"]
    assert "It runs on port 5433 and must not be reachable from outside." in swept["text"]
    assert (await memory("vague"))["type"] is None
    assert (await memory("vague"))["text"] == "Blue, mostly."


async def test_a_cause_is_drawn_with_its_quotes(sweep, memories, librarian, namespace):
    """From the cause to the problem, with words that stand in either text."""
    report = await sweep()
    (edge,) = [one for one in report.changes if one.action == "causal_edge" and one.relation == "Causes"]
    assert (edge.memory_id, edge.target_id) == ("cause", "problem")
    texts = {row["uid"]: row["text"] for row in memories}
    assert edge.source_quote in texts["cause"]
    assert edge.target_quote in texts["problem"]


async def test_what_is_found_is_counted(sweep, memories, librarian):
    """Near-duplicates are proposed to be merged into the fuller one; what is missing or saturated is counted."""
    await librarian.embed_pending()
    report = await sweep(dry_run=True)
    (merge,) = [one for one in report.changes if one.action == "merge"]
    assert (merge.memory_id, merge.target_id) == ("twin-a", "twin-b")
    found = report.findings
    assert (found.missing_agent, found.missing_type, found.missing_time) == (7, 7, 6)
    assert (found.missing_importance, found.importance_saturated, found.saturated) == (4, 2, False)
    assert found.types_before == {"none": 7, "Pattern": 1}
    one_of_two = (await sweep(dry_run=True, domains=["ops"])).findings
    assert (one_of_two.importance_saturated, one_of_two.saturated) == (1, False)
    assert sum(found.types_after.values()) == len(memories)


async def test_a_second_sweep_finds_nothing_to_do(sweep, memories, stored):
    """Typed, written and connected memories are left alone, and no proposal is repeated."""
    await sweep()
    after = await stored()
    again = await sweep()
    assert [(one.memory_id, one.action) for one in again.changes] == []
    assert await stored() == after


async def test_undoing_restores_what_was(sweep, memories, stored, librarian, namespace):
    """Every memory and edge is as it was before the sweep; a second undo finds nothing to do."""
    before = await stored()
    done = await sweep()
    assert await stored() != before
    out = await librarian.undo_sweep(namespace, done.sweep_id)
    assert (out.status, out.changes_kept) == ("undone", 0)
    assert out.memories_restored > 0
    assert await stored() == before
    assert (await librarian.undo_sweep(namespace, done.sweep_id)).memories_restored == 0
    assert (await librarian.get_sweep(namespace, done.sweep_id, SweepQuery())).status == "undone"


async def test_what_no_sweep_writes_may_change_without_keeping_its_text(sweep, memories, memory, librarian, namespace):
    """Another importance given since stays; the text and the type go back all the same."""
    before = await memory("decision")
    done = await sweep()
    assert (await memory("decision"))["text"] != before["text"]
    await librarian.patch_item(namespace, "decision", {"importance": 2})
    out = await librarian.undo_sweep(namespace, done.sweep_id)
    assert (out.changes_kept, out.kept) == (0, [])
    assert await memory("decision") == before | {"importance": 2}


async def test_a_memory_is_restored_once(sweep, ingest, stored, librarian, namespace):
    """Its type and its text go back together, also where a page of an undoing would end between the two."""
    rows = [{"uid": "a", "text": "Blue, mostly."}]
    rows += [
        {"uid": f"m{one:02}", "text": f"Decision: rule {one} holds. The old one was unclear.", "domain": "rules"}
        for one in range(PAGE // 2 + 10)
    ]
    await ingest(*({"kind": "memory", **row} for row in rows), embed=False)
    before = await stored()
    done = await sweep()
    assert [one.memory_id for one in done.changes[PAGE - 1 : PAGE + 1]] == ["m49", "m49"]
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    assert (undone.memories_restored, undone.proposals_withdrawn) == (PAGE // 2 + 10, 1)
    assert await stored() == before


async def test_how_sure_a_type_was_stays_with_it(sweep, memories, memory, librarian, namespace):
    """A sweep that writes the sections of a memory which an earlier one has typed is no surer of the type, nor is its
    undoing.
    """
    await sweep()
    await librarian.patch_item(namespace, "decision", {"text": "We chose MariaDB because it is fast."})
    before = await memory("decision")
    assert before["type_confidence"] < 1
    done = await sweep()
    swept = await memory("decision")
    assert (swept["type_confidence"], swept["text"] != before["text"]) == (before["type_confidence"], True)
    await librarian.undo_sweep(namespace, done.sweep_id)
    assert await memory("decision") == before


async def test_sweeps_are_undone_one_after_the_other(sweep, memories, stored, ingest, librarian, namespace):
    """The newest first, each exactly; a sweep that a later one has built on waits for that one's undoing."""
    before = await stored()
    first = await sweep(domains=["billing"])
    between = await stored()
    second = await sweep()
    await librarian.undo_sweep(namespace, second.sweep_id)
    assert await stored() == between
    assert (await librarian.undo_sweep(namespace, first.sweep_id)).changes_kept == 0
    assert await stored() == before


async def test_the_original_may_come_in_again(sweep, memories, stored, ingest):
    """After a sweep the same rows change nothing: what the sweep has made of them stays."""
    await sweep()
    after = await stored()
    report = await ingest(*({"kind": "memory", **row} for row in memories), embed=False)
    assert report.unchanged == len(memories)
    assert await stored() == after


async def test_a_text_that_is_divided_into_sections_keeps_its_vectors(
    sweep, memories, memory, librarian, executor, namespace
):
    """Its sentences are those that were there: nothing waits for the encoder, so the next sweep compares what this one
    compared. Undoing leaves it to the encoder to make the vectors of the old text.
    """
    await librarian.embed_pending()
    waiting = "MATCH (m:Memory:PendingEmbedding {namespace: $namespace}) RETURN m.uid AS uid"
    vectors = """MATCH (m:Memory {namespace: $namespace})-[:HAS_EMBEDDING]->(e:Embedding)
        RETURN m.uid AS uid, e.vector AS vector ORDER BY uid, e.ordinal"""
    before = await executor.run_migration(vectors, {"namespace": namespace})
    text = (await memory("decision"))["text"]
    run = await sweep()
    assert (await memory("decision"))["text"] != text
    assert await executor.run_migration(waiting, {"namespace": namespace}) == []
    assert await executor.run_migration(vectors, {"namespace": namespace}) == before
    await librarian.undo_sweep(namespace, run.sweep_id)
    await librarian.embed_pending()
    assert await executor.run_migration(vectors, {"namespace": namespace}) == before


@pytest.mark.parametrize("drawn", ["BLOCKS", "RELATES_TO"])
async def test_what_a_human_has_stated_stays(sweep, memories, memory, librarian, namespace, drawn):
    """A stated type is not changed, and where a human has drawn an edge no sweep draws another, nor claims a cause that
    they have not seen.
    """
    await librarian.link(namespace, LinkInput(source="problem", type=drawn, target="cause"))
    report = await sweep()
    assert (await memory("stated"))["type"] == "Pattern"
    assert (await memory("stated"))["tags"][0] == "release"
    ends = {frozenset((one.memory_id, one.target_id)) for one in report.changes if one.action == "causal_edge"}
    assert frozenset(("cause", "problem")) not in ends


async def test_only_the_scope_is_looked_at(sweep, memories):
    """Domains, importance and a limit narrow a sweep."""
    assert (await sweep(dry_run=True, domains=["ops"])).summary.memories_scanned == 2
    assert (await sweep(dry_run=True, min_importance=9)).summary.memories_scanned == 2
    assert (await sweep(dry_run=True, limit=3)).summary.memories_scanned == 3
    assert (await sweep(dry_run=True, filters=Filters(agent="ada"))).summary.memories_scanned == 1


async def test_limited_sweeps_go_on_where_the_last_one_ended(sweep, memories):
    """Each looks at other memories and says how many are left; behind the last one it begins anew."""
    first = await sweep(limit=3)
    total = first.summary.memories_scanned + first.findings.memories_left
    looked_at = 3
    while looked_at < total:
        report = await sweep(limit=3)
        looked_at += report.summary.memories_scanned
        assert report.findings.memories_left == total - looked_at
    assert (await sweep(limit=3, dry_run=True)).findings.memories_left == total - 3


async def test_a_domain_that_no_memory_names_is_refused(sweep, memories):
    """With the domains that there are."""
    with pytest.raises(InvalidInput, match="marketing") as refused:
        await sweep(domains=["billing", "marketing"])
    assert "billing, ops" in refused.value.remedy


async def test_an_empty_namespace_is_swept_at_once(sweep, librarian, namespace):
    """Nothing to do is no error, and there is nothing to undo in a sweep that never was."""
    assert (await sweep()).summary.memories_scanned == 0
    with pytest.raises(NotFound):
        await librarian.undo_sweep(namespace, "sweep-20200101-001")


async def test_a_sweep_tells_of_itself(sweep, memories):
    """The run, each type and each edge are events with the fields of the specification, without texts, and counted."""
    with capture_logs() as logs:
        report = await sweep()
    told = {name: [log for log in logs if log["event"] == name] for name in (
        "LibrarianSweepRun", "MemoryRetyped", "CausalEdgeInferred")}  # fmt: skip
    (run,) = told["LibrarianSweepRun"]
    assert {"timestamp", "memories_processed", "dry_run", "domains", "duration_ms"} <= set(run)
    assert (run["memories_processed"], run["dry_run"]) == (len(memories), False)
    assert len(told["MemoryRetyped"]) == report.summary.memories_retyped
    assert {"memory_id", "old_type", "new_type", "confidence"} <= set(told["MemoryRetyped"][0])
    assert {"source_id", "target_id", "relation", "confidence"} <= set(told["CausalEdgeInferred"][0])
    assert "Postgres" not in str(logs)
    assert b'librarian_sweep_changes_total{action="retype",what="Decision"}' in metrics.exposition()
    assert b'librarian_sweep_runs_total{dry_run="false"}' in metrics.exposition()


async def test_sweeps_are_listed_and_read_page_by_page(sweep, memories, librarian, namespace):
    """The newest first; the changes of one in their order, with what became of each."""
    first = await sweep(domains=["ops"])
    second = await sweep()
    page = await librarian.list_sweeps(namespace, SweepQuery(limit=1))
    assert [one.sweep_id for one in page.sweeps] == [second.sweep_id]
    rest = await librarian.list_sweeps(namespace, SweepQuery(limit=1, cursor=page.next_cursor))
    assert [one.sweep_id for one in rest.sweeps] == [first.sweep_id]
    read, cursor = [], None
    while True:
        report = await librarian.get_sweep(namespace, second.sweep_id, SweepQuery(limit=3, cursor=cursor))
        read += report.changes
        if (cursor := report.next_cursor) is None:
            break
    assert [(one.memory_id, one.action, one.seq) for one in read] == [
        (one.memory_id, one.action, one.seq) for one in second.changes
    ]
    assert report.summary == second.summary


async def test_memories_of_one_subject_are_connected_sparsely(sweep, ingest, librarian, stored):
    """Over several pages a sweep draws what its dry run says, few related edges for each memory, and a second sweep
    draws none.
    """
    words = ["harbor", "crane", "berth", "pilot", "customs", "vessel", "container", "quay", "tide", "winch"]
    rows = [
        {"uid": f"m{one:03}", "text": f"The {words[one % 10]} and the {words[one // 10 % 10]} wait for ship {one}."}
        for one in range(130)
    ]
    await ingest(*({"kind": "memory", **row} for row in rows))
    planned, done = await sweep(dry_run=True), await sweep()
    assert planned.findings.related_created == done.findings.related_created > 0
    assert [one.edge_id for one in planned.changes] == [one.edge_id for one in done.changes]
    assert (await sweep()).findings.related_created == 0
