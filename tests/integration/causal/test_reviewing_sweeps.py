"""A human decides about types and merges that a sweep proposes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from graph.executor import Executor
from librarian.app import Librarian
from librarian.base.errors import Conflict, InvalidInput
from librarian.cli.review import Keyboard, decide_by_keys, write_labels
from librarian.evaluation.causal import read_cases
from librarian.evaluation.types import read_texts
from librarian.items.contracts import DeleteInput, EdgeQuery, ItemQuery, LinkInput
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest
from librarian.sweep.lessons import ENOUGH

TWIN = "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day"
STATED = "Problem: the nightly export failed, error: disk quota exceeded on the export volume."


def memory(uid: str, text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "memory", "uid": uid, "text": text, **more}


async def proposed(librarian: Librarian, namespace: str, sort: Any) -> list[Any]:
    return (await librarian.list_reviews(namespace, ReviewQuery(sorts=[sort]))).reviews


@pytest.fixture
async def twins(librarian: Librarian, namespace: str, ingest: Any) -> str:
    """Two memories that say the same, with what hangs on the shorter one; the id of their merge."""
    await ingest(
        memory("fuller", f"{TWIN}, too.", tags=["cache"], importance=3),
        memory("shorter", f"{TWIN}.", tags=["deploy"], importance=7, agent="ada"),
        memory("effect", "The first search of the day is fast."),
        memory("middle", "Somebody waits for the hook."),
        {"kind": "fact", "uid": "fact", "text": "The hook runs at 06:00.", "evidence": ["shorter"]},
    )
    await librarian.patch_item(namespace, "shorter", {"tags": ["deploy", "hook"]})
    await librarian.link(namespace, LinkInput(source="shorter", type="CAUSES", target="effect"))
    for entry in ("shorter", "fuller"):
        await librarian.link(
            namespace, LinkInput(source=entry, type="ENABLES", target="middle", reason=f"of the {entry}")
        )
    await librarian.link(
        namespace,
        LinkInput(source="middle", type="RELATES_TO", target="shorter", source_quote="hook.", target_quote="hook at"),
    )
    await librarian.link(namespace, LinkInput(source="shorter", type="RELATES_TO", target="fuller"))
    await librarian.sweep(namespace, SweepRequest())
    (entry,) = await proposed(librarian, namespace, "merge")
    assert (entry.item.uid, entry.other.uid) == ("shorter", "fuller")
    return str(entry.review_id)


async def test_an_accepted_merge_keeps_the_fuller_one(librarian: Librarian, namespace: str, twins: str):
    """It has the tags, the importance, the edges, what the other supported, and the history of both."""
    done = await librarian.review(namespace, twins, ReviewInput(verdict="accept", reason="the same"))
    assert done.review.item.uid == "shorter"
    assert TWIN in done.review.item.text
    kept = await librarian.get_item(namespace, "fuller")
    assert kept.properties["tags"] == ["cache", "deploy", "hook"]
    assert (kept.properties["importance"], kept.properties["agent"]) == (7, "ada")
    revisions = (await librarian.revisions(namespace, "fuller")).revisions
    assert sorted(entry.properties["tags"] for entry in revisions) == [
        ["cache"], ["cache"], ["deploy"], ["deploy", "hook"], ["deploy", "hook"]
    ]  # fmt: skip
    assert all(f"{TWIN}, too." in entry.text or f"{TWIN}." in entry.text for entry in revisions)
    assert [evidence.uid for evidence in (await librarian.get_item(namespace, "fact")).evidence] == ["fuller"]
    edges = (await librarian.list_edges(namespace, EdgeQuery(methods=["human"]))).edges
    drawn = sorted((edge.source, edge.type, edge.target) for edge in edges)
    assert drawn == [
        ("fuller", "CAUSES", "effect"), ("fuller", "ENABLES", "middle"), ("fuller", "RELATES_TO", "middle")
    ]  # fmt: skip
    quotes = {edge.type: (edge.source_quote, edge.target_quote, edge.reason) for edge in edges}
    assert quotes["RELATES_TO"] == ("hook at", "hook.", None)
    assert quotes["ENABLES"][2] == "of the fuller"
    assert [entry.uid for entry in (await librarian.list_items(namespace, ItemQuery())).items].count("shorter") == 0


async def test_memories_that_cite_each_other_may_be_merged(
    librarian: Librarian, executor: Executor, namespace: str, ingest: Any
):
    """None is evidence for itself, and nothing waits for the one that is gone."""
    await ingest(
        memory("fuller", f"{TWIN}, too.", evidence=["shorter"]), memory("shorter", f"{TWIN}.", evidence=["fuller"])
    )
    await librarian.sweep(namespace, SweepRequest())
    (merge,) = await proposed(librarian, namespace, "merge")
    await librarian.review(namespace, merge.review_id, ReviewInput(verdict="accept"))
    assert (await librarian.get_item(namespace, "fuller")).evidence == []
    left = "MATCH (m:Memory {namespace: $namespace}) RETURN m.evidence_refs AS refs, m:UnresolvedReferences AS waits"
    assert await executor.run_migration(left, {"namespace": namespace}) == [{"refs": None, "waits": False}]


async def test_what_was_merged_stays_merged(librarian: Librarian, namespace: str, twins: str, ingest: Any):
    """Its source may be ingested again; only another text is another memory."""
    await librarian.review(namespace, twins, ReviewInput(verdict="accept"))
    row = memory("shorter", f"{TWIN}.", tags=["deploy"], importance=7, agent="ada")
    assert (await ingest(row, embed=False)).unchanged == 1
    assert not (await librarian.review(namespace, twins, ReviewInput(verdict="accept"))).decided
    assert (await ingest({**row, "text": "Something else."}, embed=False)).added == 1


async def test_a_rejected_merge_is_not_proposed_again(librarian: Librarian, namespace: str, twins: str):
    """Both stay as they are."""
    await librarian.review(namespace, twins, ReviewInput(verdict="reject", reason="two hooks"))
    assert (await librarian.get_item(namespace, "shorter")).properties["tags"][:2] == ["deploy", "hook"]
    await librarian.sweep(namespace, SweepRequest())
    assert await proposed(librarian, namespace, "merge") == []
    with pytest.raises(Conflict):
        await librarian.review(namespace, twins, ReviewInput(verdict="accept"))


async def test_a_merge_with_what_is_gone_is_no_proposal(librarian: Librarian, namespace: str, twins: str):
    """Nobody can decide about it any more."""
    token = (await librarian.delete_items(namespace, DeleteInput(uids=["fuller"]))).confirm_token
    await librarian.delete_items(namespace, DeleteInput(uids=["fuller"], confirm_token=token))
    assert await proposed(librarian, namespace, "merge") == []


async def test_a_flag_gives_a_memory_its_type(librarian: Librarian, namespace: str, ingest: Any):
    """The one that is proposed, or another one that the human names; the next sweep leaves it alone."""
    await ingest(memory("a", STATED, type="Pattern"), memory("b", "Blue, mostly."), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    flags = {entry.item.uid: entry for entry in await proposed(librarian, namespace, "flag")}
    assert (flags["a"].old_type, flags["a"].new_type) == ("Pattern", "Problem")
    await librarian.review(namespace, flags["a"].review_id, ReviewInput(verdict="accept"))
    if flags["b"].new_type == "Unknown":
        with pytest.raises(InvalidInput):
            await librarian.review(namespace, flags["b"].review_id, ReviewInput(verdict="accept"))
    done = await librarian.review(namespace, flags["b"].review_id, ReviewInput(verdict="accept", type="Insight"))
    assert (done.review.new_type, done.review.given_type) == (flags["b"].new_type, "Insight")
    for uid, type_ in (("a", "Problem"), ("b", "Insight")):
        item = await librarian.get_item(namespace, uid)
        assert (item.properties["type"], item.properties["type_confidence"]) == (type_, 1.0)
    await librarian.sweep(namespace, SweepRequest())
    assert await proposed(librarian, namespace, "flag") == []


async def test_the_tags_follow_the_type(librarian: Librarian, namespace: str, ingest: Any):
    """A memory with sections that a human retypes names its new type in its tags, and nothing else of its text
    changes; no sweep flags it for that, and undoing the sweep that wrote the sections keeps it.
    """
    told = "TIL: the hook warms the cache. It was cold because deploys empty it. Since then searches take 20 ms."
    await ingest(memory("b", told), embed=False)
    done = await librarian.sweep(namespace, SweepRequest())
    text = (await librarian.get_item(namespace, "b")).text
    await librarian.patch_item(namespace, "b", {"type": "Reference"})
    item = await librarian.get_item(namespace, "b")
    assert item.text == text.replace("\n- type:Insight\n", "\n- type:Reference\n") != text
    assert (await librarian.sweep(namespace, SweepRequest())).changes == []
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    assert {change.memory_id for change in undone.kept} == {"b"}
    by_hand = (await librarian.patch_item(namespace, "b", {"type": "Pattern", "text": text})).text
    assert by_hand == text


async def test_a_disputed_memory_waits_untouched(librarian: Librarian, namespace: str, ingest: Any):
    """A text of another type than is stated gets no sections before somebody has decided which it is; words of another
    type alone dispute nothing.
    """
    told = "The importer crashes on empty rows, and the queue hangs behind it."
    await ingest(memory("a", STATED, type="Pattern"), memory("b", told, type="Insight"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    assert (await librarian.get_item(namespace, "a")).text == STATED
    (flag,) = await proposed(librarian, namespace, "flag")
    await librarian.review(namespace, flag.review_id, ReviewInput(verdict="accept"))
    item = await librarian.get_item(namespace, "a")
    assert (item.properties["type"], item.text) == ("Problem", STATED)


async def test_sections_by_hand_name_the_type(librarian: Librarian, namespace: str, ingest: Any):
    """The type in the tags is what somebody has stated: a sweep takes it over and leaves the text alone."""
    text = f"## CONTEXT\n{STATED}\n## REASONING\n## OUTCOME\nWe live with it.\n## TAGS\ntype: decision\n"
    await ingest(memory("a", text), embed=False)
    before = (await librarian.get_item(namespace, "a")).properties
    done = await librarian.sweep(namespace, SweepRequest())
    item = await librarian.get_item(namespace, "a")
    assert (item.properties["type"], item.text) == ("Decision", text)
    await librarian.undo_sweep(namespace, done.sweep_id)
    restored = await librarian.get_item(namespace, "a")
    assert (restored.text, restored.properties.get("type")) == (text, before.get("type"))


async def test_a_rejected_flag_leaves_the_type(librarian: Librarian, namespace: str, ingest: Any):
    """And no sweep asks again."""
    await ingest(memory("a", STATED, type="Pattern"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    (flag,) = await proposed(librarian, namespace, "flag")
    await librarian.review(namespace, flag.review_id, ReviewInput(verdict="reject"))
    await librarian.sweep(namespace, SweepRequest())
    assert (await librarian.get_item(namespace, "a")).properties["type"] == "Pattern"
    assert await proposed(librarian, namespace, "flag") == []


async def test_a_type_is_given_once(librarian: Librarian, namespace: str, ingest: Any):
    """The same one again changes nothing, another one is refused; who gave it, when and why is kept."""
    await ingest(memory("b", "Blue, mostly."), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    (flag,) = await proposed(librarian, namespace, "flag")
    with pytest.raises(InvalidInput, match="accepted"):
        await librarian.review(namespace, flag.review_id, ReviewInput(verdict="reject", type="Insight"))
    given = ReviewInput(verdict="accept", type="Insight", reason="I was there")
    first = (await librarian.review(namespace, flag.review_id, given)).review
    assert (first.state, first.given_type, first.review_reason) == ("accepted", "Insight", "I was there")
    assert first.reviewed_by is not None
    assert first.reviewed_at is not None
    again = await librarian.review(namespace, flag.review_id, ReviewInput(verdict="accept", type="Insight"))
    assert (again.decided, again.review) == (False, first)
    for other in (ReviewInput(verdict="accept", type="Pattern"), ReviewInput(verdict="reject")):
        with pytest.raises(Conflict, match="decided about this before"):
            await librarian.review(namespace, flag.review_id, other)
    assert (await librarian.revisions(namespace, "b")).revisions[0].reason == f"review of {flag.run_id}"


async def test_a_decision_about_a_type_is_revised_with_a_reason(librarian: Librarian, namespace: str, ingest: Any):
    """The memory goes back to the type that it had, and to the given one when that is decided after all."""
    await ingest(memory("a", STATED, type="Pattern"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    (flag,) = await proposed(librarian, namespace, "flag")

    async def decide(verdict: Any, **more: Any) -> tuple[bool, str, Any]:
        done = await librarian.review(namespace, flag.review_id, ReviewInput(verdict=verdict, **more))
        return done.decided, done.review.state, (await librarian.get_item(namespace, "a")).properties["type"]

    assert await decide("accept") == (True, "accepted", "Problem")
    with pytest.raises(InvalidInput, match="takes a reason"):
        await decide("reject", revise=True)
    with pytest.raises(Conflict, match="decided about this before"):
        await decide("reject", reason="it is how we work")
    assert await decide("reject", reason="it is how we work", revise=True) == (True, "rejected", "Pattern")
    assert await decide("accept", reason="no, it is broken", revise=True) == (True, "accepted", "Problem")
    await librarian.patch_item(namespace, "a", {"type": "Insight"})
    assert await decide("reject", reason="learned since", revise=True) == (True, "rejected", "Insight")


async def test_what_is_rejected_again_and_again_is_only_proposed(librarian: Librarian, namespace: str, ingest: Any):
    """Three rejections of one kind of reason teach the sweeps of the namespace; a revised one takes that back."""
    pairs = [
        (f"c{n}", f"OPS-{n}: the valve {n} was replaced", f"e{n}", f"Line {n} stood still because of OPS-{n}.")
        for n in range(1, 6)
    ]
    rows = [[memory(cause, told), memory(effect, said)] for cause, told, effect, said in pairs]
    await ingest(*(row for pair in rows[:3] for row in pair), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    query = ReviewQuery(sorts=["edge"], states=["unreviewed"])
    drawn = [one.review_id for one in (await librarian.list_reviews(namespace, query)).reviews]
    assert len(drawn) == ENOUGH
    for review_id in drawn:
        await librarian.review(namespace, review_id, ReviewInput(verdict="reject"))
    await ingest(*rows[3], embed=False)
    taught = await librarian.sweep(namespace, SweepRequest())
    (edge,) = [change for change in taught.changes if change.action == "causal_edge"]
    assert (edge.edge_state, taught.findings.lessons) == ("proposed", {'with "because of"': ENOUGH})
    again = ReviewInput(verdict="accept", reason="it was right", revise=True)
    await librarian.review(namespace, drawn[0], again)
    await ingest(*rows[4], embed=False)
    untaught = await librarian.sweep(namespace, SweepRequest())
    (edge,) = [change for change in untaught.changes if change.action == "causal_edge"]
    assert (edge.edge_state, untaught.findings.lessons) == ("accepted", {})


async def test_a_merge_is_carried_out_after_all_and_not_taken_back(librarian: Librarian, namespace: str, twins: str):
    """A rejection may be revised; two memories that became one stay one."""
    await librarian.review(namespace, twins, ReviewInput(verdict="reject"))
    again = ReviewInput(verdict="accept", reason="they are the same", revise=True)
    assert (await librarian.review(namespace, twins, again)).review.state == "accepted"
    with pytest.raises(Conflict) as refused:
        await librarian.review(namespace, twins, ReviewInput(verdict="reject", reason="they are not", revise=True))
    assert "history" in str(refused.value.remedy)


@pytest.mark.parametrize("verdict", ["accept", "reject"])
async def test_no_sweep_and_no_undo_touches_a_decided_edge(
    librarian: Librarian, namespace: str, ingest: Any, verdict: Any
):
    """A human's decision on an edge that a sweep drew stays through its undoing and through other sweeps; what nobody
    decided is withdrawn.
    """
    when = {"occurred_at": "2026-03-01T00:00:00Z"}
    problem = "Problem: the nightly export failed. This was caused by the verbose logging in export_job.py."
    cause = memory("cause", "Verbose logging was switched on in export_job.py on Monday.", **when)
    await ingest(cause, memory("problem", problem, occurred_at="2026-03-02T00:00:00Z"), embed=False)
    done = await librarian.sweep(namespace, SweepRequest())
    (edge,) = (await librarian.list_edges(namespace, EdgeQuery())).edges
    await librarian.review(namespace, edge.edge_id, ReviewInput(verdict=verdict, reason="looked it up"))
    decided = await librarian.get_edge(namespace, edge.edge_id)
    assert await proposed(librarian, namespace, "flag") != []
    undone = await librarian.undo_sweep(namespace, done.sweep_id)
    kept = [(entry.memory_id, entry.reason) for entry in undone.kept if entry.action == "causal_edge"]
    assert kept == [("cause", "a human has decided about this edge since")]
    assert (undone.edges_removed, undone.proposals_withdrawn) == (0, done.summary.unknown_flagged)
    assert await proposed(librarian, namespace, "flag") == []
    again = await librarian.sweep(namespace, SweepRequest())
    assert [entry.action for entry in again.changes if entry.action == "causal_edge"] == []
    assert await librarian.get_edge(namespace, edge.edge_id) == decided


async def test_undoing_a_sweep_keeps_what_a_human_decided(librarian: Librarian, namespace: str, twins: str):
    """An accepted merge stays, and so does its record."""
    await librarian.review(namespace, twins, ReviewInput(verdict="accept"))
    await librarian.undo_sweep(namespace, twins.rpartition("-")[0])
    accepted = await librarian.list_reviews(namespace, ReviewQuery(sorts=["merge"], states=["accepted"]))
    assert [entry.review_id for entry in accepted.reviews] == [twins]


async def test_decisions_become_labels(
    librarian: Librarian, namespace: str, twins: str, connect: Any, ingest: Any, tmp_path: Path
):
    """In files that the evaluations read: pairs with their relation or none, texts with their type, twins or not."""
    await connect(("a CAUSES b", {"state": "proposed"}), ("a BLOCKS c", {"state": "proposed"}))
    await ingest(memory("flagged", STATED, type="Pattern"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    for entry in (await librarian.list_reviews(namespace, ReviewQuery())).reviews:
        if entry.review_id == f"{namespace}:a-BLOCKS-c":
            await librarian.review(namespace, entry.review_id, ReviewInput(verdict="reject"))
        elif entry.sort != "flag" or entry.item.uid == "flagged":
            await librarian.review(namespace, entry.review_id, ReviewInput(verdict="accept"))
    written = await write_labels(tmp_path, librarian.review_labels(namespace))
    assert {path.name: rows for path, rows in written.items()} == {
        "causal.jsonl": 2,
        "types.jsonl": 1,
        "merges.jsonl": 1,
    }
    cases = read_cases(tmp_path / "causal.jsonl")
    relations = {(case.second.text, tuple(relation for relation, _ in case.answers)) for case in cases}
    assert relations == {("memory b", ("CAUSES",)), ("memory c", ())}
    (typed,) = read_texts(tmp_path / "types.jsonl")
    assert typed.type == "Problem"


async def test_keys_decide_one_review_after_the_other(
    librarian: Librarian, namespace: str, connect: Any, capsys: pytest.CaptureFixture[str]
):
    """a accepts, R asks for a reason and rejects, s skips, anything else says what there is."""
    await connect(*((f"a CAUSES b{n}", {"state": "proposed"}) for n in range(4)))
    keys = iter(["a", "?", "R", "f", "s", "q"])
    keyboard = Keyboard(key=lambda: next(keys), line=lambda _: "not so")
    await decide_by_keys(librarian, namespace, query=ReviewQuery(), keyboard=keyboard)
    states = [(await librarian.get_edge(namespace, f"{namespace}:a-CAUSES-b{n}")).state for n in range(4)]
    assert states == ["accepted", "rejected", "proposed", "proposed"]
    assert (await librarian.get_edge(namespace, f"{namespace}:a-CAUSES-b1")).review_reason == "not so"
    output = capsys.readouterr()
    assert "“words of a”" in output.out
    assert "2 of 3 decided." in output.err


async def test_two_humans_decide_once(librarian: Librarian, executor: Executor, namespace: str, ingest: Any):
    """Of two decisions at once one is kept, and the other is told; both had seen that nobody had decided."""
    await ingest(memory("b", "Blue, mostly."), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    (flag,) = await proposed(librarian, namespace, "flag")
    waiting = (
        "SHOW TRANSACTIONS YIELD metaData, status "
        "WHERE metaData.statement = 'decide_review' AND status STARTS WITH 'Blocked' RETURN status"
    )
    async with executor.driver.session() as session, await session.begin_transaction() as transaction:
        await transaction.run("MATCH (m:Memory {namespace: $namespace}) REMOVE m:Locked", {"namespace": namespace})
        decisions = [
            asyncio.create_task(librarian.review(namespace, flag.review_id, given))
            for given in (ReviewInput(verdict="accept", type="Insight"), ReviewInput(verdict="reject"))
        ]
        while len(await executor.run_migration(waiting)) < len(decisions):
            assert not any(task.done() for task in decisions)
            await asyncio.sleep(0.01)
        await transaction.rollback()
    answers = await asyncio.gather(*decisions, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "ReviewOutput"]
