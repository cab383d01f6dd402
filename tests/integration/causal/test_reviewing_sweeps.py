"""A human decides about types and merges that a sweep proposes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from librarian.cli.review_keys import Keyboard, decide_by_keys
from librarian.cli.review_labels import write_labels
from librarian.contracts.changes import DeleteInput
from librarian.contracts.edges import EdgeQuery
from librarian.contracts.items import LinkInput
from librarian.contracts.listing import ItemQuery
from librarian.contracts.reviews import ReviewInput, ReviewQuery
from librarian.contracts.sweeps import SweepRequest
from librarian.errors import Conflict, InvalidInput
from librarian.service import Librarian
from librarian.usecases.causal_cases import read_cases
from librarian.usecases.evaluate_types import read_texts

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
        {"kind": "fact", "uid": "fact", "text": "The hook runs at 06:00.", "evidence": ["shorter"]},
    )
    await librarian.patch_item(namespace, "shorter", {"tags": ["deploy", "hook"]})
    await librarian.link(namespace, LinkInput(source="shorter", type="CAUSES", target="effect"))
    await librarian.link(namespace, LinkInput(source="shorter", type="RELATES_TO", target="fuller"))
    await librarian.sweep(namespace, SweepRequest())
    (one,) = await proposed(librarian, namespace, "merge")
    assert (one.item.uid, one.other.uid) == ("shorter", "fuller")
    return str(one.review_id)


async def test_an_accepted_merge_keeps_the_fuller_one(librarian: Librarian, namespace: str, twins: str):
    """It has the tags, the importance, the edges, what the other supported, and the history of both."""
    done = await librarian.review(namespace, twins, ReviewInput(verdict="accept", reason="the same"))
    assert done.review.item.uid == "shorter"
    assert TWIN in done.review.item.text
    kept = await librarian.get_item(namespace, "fuller")
    assert kept.properties["tags"] == ["cache", "deploy", "hook"]
    assert (kept.properties["importance"], kept.properties["agent"]) == (7, "ada")
    revisions = (await librarian.revisions(namespace, "fuller")).revisions
    assert {f"{TWIN}.", f"{TWIN}, too."} <= {one.text for one in revisions}
    assert [evidence.uid for evidence in (await librarian.get_item(namespace, "fact")).evidence] == ["fuller"]
    edges = (await librarian.list_edges(namespace, EdgeQuery())).edges
    assert ("fuller", "CAUSES", "effect") in [(edge.source, edge.type, edge.target) for edge in edges]
    assert "shorter" not in {uid for edge in edges for uid in (edge.source, edge.target)}
    assert [one.uid for one in (await librarian.list_items(namespace, ItemQuery())).items].count("shorter") == 0


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
    flags = {one.item.uid: one for one in await proposed(librarian, namespace, "flag")}
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


async def test_a_rejected_flag_leaves_the_type(librarian: Librarian, namespace: str, ingest: Any):
    """And no sweep asks again."""
    await ingest(memory("a", STATED, type="Pattern"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    (flag,) = await proposed(librarian, namespace, "flag")
    await librarian.review(namespace, flag.review_id, ReviewInput(verdict="reject"))
    await librarian.sweep(namespace, SweepRequest())
    assert (await librarian.get_item(namespace, "a")).properties["type"] == "Pattern"
    assert await proposed(librarian, namespace, "flag") == []


async def test_undoing_a_sweep_keeps_what_a_human_decided(librarian: Librarian, namespace: str, twins: str):
    """An accepted merge stays, and so does its record."""
    await librarian.review(namespace, twins, ReviewInput(verdict="accept"))
    await librarian.undo_sweep(namespace, twins.rpartition("-")[0])
    accepted = await librarian.list_reviews(namespace, ReviewQuery(sorts=["merge"], states=["accepted"]))
    assert [one.review_id for one in accepted.reviews] == [twins]


async def test_decisions_become_labels(
    librarian: Librarian, namespace: str, twins: str, connect: Any, ingest: Any, tmp_path: Path
):
    """In files that the evaluations read: pairs with their relation or none, texts with their type, twins or not."""
    await connect(("a CAUSES b", {"state": "proposed"}), ("a BLOCKS c", {"state": "proposed"}))
    await ingest(memory("flagged", STATED, type="Pattern"), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    for one in (await librarian.list_reviews(namespace, ReviewQuery())).reviews:
        if one.review_id == f"{namespace}:a-BLOCKS-c":
            await librarian.review(namespace, one.review_id, ReviewInput(verdict="reject"))
        elif one.sort != "flag" or one.item.uid == "flagged":
            await librarian.review(namespace, one.review_id, ReviewInput(verdict="accept"))
    written = await write_labels(tmp_path, librarian.review_labels(namespace))
    assert {path.name: rows for path, rows in written.items()} == {
        "causal.jsonl": 2,
        "types.jsonl": 1,
        "merges.jsonl": 1,
    }
    cases, _ = read_cases(tmp_path / "causal.jsonl")
    assert {(case.second.text, case.relation) for case in cases} == {("memory b", "CAUSES"), ("memory c", None)}
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


async def test_two_humans_decide_once(librarian: Librarian, namespace: str, twins: str):
    """Of two decisions at once one is kept, and the other is told."""
    answers = await asyncio.gather(
        librarian.review(namespace, twins, ReviewInput(verdict="accept")),
        librarian.review(namespace, twins, ReviewInput(verdict="reject")),
        return_exceptions=True,
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "ReviewOutput"]
