"""Forgotten items do not come back, whichever way they try, and whoever brings one hears of that."""

import io
from typing import Any

import pytest

from graph.errors import ItemForgotten
from librarian.base.errors import NotFound
from librarian.items.contracts import (
    Correction,
    DeleteInput,
    ForgottenQuery,
    ItemQuery,
    LiftInput,
    LinkInput,
    MemoryIn,
    RememberInput,
)
from librarian.items.importers.registry import rows_of
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest

SECRET = "Ada's locker in the basement has the number 4711 and the code of the safe"
ROWS: list[dict[str, Any]] = [
    {"kind": "message", "uid": "m1", "message_id": "id1", "conversation_id": "c", "author": "Ada", "position": 1,
     "text": f"By the way: {SECRET}."},
    {"kind": "message", "uid": "m2", "conversation_id": "c", "author": "Bo", "text": "ok", "position": 2},
    {"kind": "message", "uid": "m3", "conversation_id": "c", "author": "Ada", "text": "ok", "position": 3},
    {"kind": "memory", "uid": "k1", "text": SECRET, "domain": "home"},
    {"kind": "memory", "uid": "k2", "text": "The pool has twenty connections.", "domain": "home"},
    {"kind": "fact", "uid": "f1", "subject": "Ada", "predicate": "has locker", "object": "4711", "person_id": "ada"},
    {"kind": "edge", "source": "k1", "target": "k2", "type": "CAUSES"},
]  # fmt: skip
REWORDED = "In the basement Ada's locker has number 4711, and the safe's code."
FORGOTTEN = ("m1", "m2", "k1", "f1")


async def forget(librarian: Any, namespace: str, *uids: str) -> None:
    preview = await librarian.delete_items(namespace, DeleteInput(uids=list(uids)))
    asked = DeleteInput(uids=list(uids), confirm_token=preview.confirm_token)
    assert (await librarian.delete_items(namespace, asked)).counts.items == len(uids)


@pytest.fixture
async def forgetful(librarian: Any, ingest: Any, namespace: str) -> str:
    """The rows above, most of them forgotten."""
    assert (await ingest(*ROWS)).failed == 0
    await forget(librarian, namespace, *FORGOTTEN)
    return namespace


async def uids_of(executor: Any, namespace: str) -> set[str]:
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Item {namespace: $ns}) RETURN collect(m.uid)", {"ns": namespace}
    )
    return set(found[0][0])


async def test_an_ingest_holds_it_back_and_says_so(librarian, executor, ingest, forgetful):
    """The same rows again add nothing that was forgotten; its neighbours stay, and its edge is held back with it."""
    report = await ingest(*ROWS)
    assert (report.added, report.unchanged, report.failed, report.held_back) == (0, 2, 0, 5)
    assert sorted(report.held_back_uids) == sorted(FORGOTTEN)
    assert any("held back" in note for note in report.notes)
    assert await uids_of(executor, forgetful) == {"m3", "k2"}


async def test_what_is_deleted_without_tombstones_may_come_again(librarian, executor, ingest, namespace):
    """One item or many; they are not listed as forgotten."""
    await ingest(*ROWS)
    await librarian.delete_item(namespace, "k1", tombstones=False)
    asked = DeleteInput(uids=["m1", "f1"])
    preview = await librarian.delete_items(namespace, asked)
    asked = DeleteInput(uids=["m1", "f1"], confirm_token=preview.confirm_token)
    assert (await librarian.delete_items(namespace, asked, tombstones=False)).counts.items == 2
    assert await uids_of(executor, namespace) == {"m2", "m3", "k2"}
    report = await ingest(*ROWS)
    assert (report.added, report.held_back) == (4, 0)
    assert (await librarian.list_forgotten(namespace, ForgottenQuery())).forgotten == []


async def test_the_same_words_under_another_uid_are_held_back(ingest, executor, forgetful):
    """Case, width, blanks and punctuation don't matter; what everybody says in a few words may be said again."""
    again = [
        {"kind": "memory", "uid": "k9", "text": SECRET.upper() + " !"},
        {"kind": "memory", "uid": "k8", "text": f"By the way {SECRET}"},
        {"kind": "fact", "uid": "f9", "text": "Ada has locker 4711", "valid_from": "2026-01-01T00:00:00Z"},
        {"kind": "message", "uid": "m9", "text": "ok"},
    ]
    report = await ingest(*again)
    assert (report.added, report.held_back) == (1, 3)
    assert await uids_of(executor, forgetful) == {"m3", "k2", "m9"}


async def test_what_another_item_still_says_is_not_forgotten(librarian, ingest, namespace):
    """Who forgets one of two that say the same has not forgotten what they say, until the other goes too."""
    two = [{"kind": "memory", "uid": uid, "text": SECRET} for uid in ("k1", "k2")]
    await ingest(*two)
    await forget(librarian, namespace, "k1")
    assert (await ingest({**two[0], "uid": "k3"})).added == 1
    await forget(librarian, namespace, "k2", "k3")
    assert (await ingest({**two[0], "uid": "k4"})).held_back == 1


async def test_single_writes_are_refused(librarian, forgetful):
    """An agent that remembers, puts, changes or corrects hears that a human has to allow it; nothing is written."""
    with pytest.raises(ItemForgotten):
        await librarian.remember(forgetful, RememberInput(text=SECRET))
    with pytest.raises(ItemForgotten):
        await librarian.patch_item(forgetful, "k2", {"text": SECRET})
    with pytest.raises(ItemForgotten):
        await librarian.correct(forgetful, "k2", Correction(text=SECRET))
    assert (await librarian.get_item(forgetful, "k2")).text == ROWS[4]["text"]


async def test_a_fact_whose_correction_was_forgotten_can_be_corrected_again(librarian, ingest, namespace):
    """Every correction of a fact has one uid: only the words of the forgotten one are held."""
    await ingest({"kind": "fact", "uid": "f", "subject": "Ada", "predicate": "lives in", "object": "Bonn"})
    wrong = await librarian.correct(namespace, "f", Correction(object="Paris"))
    await forget(librarian, namespace, wrong.item.uid)
    with pytest.raises(ItemForgotten):
        await librarian.correct(namespace, "f", Correction(object="Paris"))
    assert (await librarian.correct(namespace, "f", Correction(object="Kyoto"))).item.text == "Ada lives in Kyoto"


@pytest.mark.parametrize("existing", ["skip", "replace"])
async def test_imports_and_restores_hold_it_back(librarian, executor, ingest, namespace, existing):
    """An export from before is read without what was forgotten since, also where everything else is deleted first;
    neither people nor conversations come back that nothing is left of. What comes in with it in other words
    is marked, and so is what has lost its support.
    """
    cites = {"kind": "memory", "uid": "cites", "text": "A visitor needs two codes.", "evidence": ["id1"]}
    await ingest(*ROWS, {"kind": "memory", "uid": "anew", "text": REWORDED}, cites)
    before = io.BytesIO()
    await librarian.export_into(before, [namespace], vectors=True)
    await forget(librarian, namespace, *FORGOTTEN)
    report = await librarian.import_from(before, existing=existing)
    assert (report.held_back, sorted(report.held_back_uids)) == (4, sorted(FORGOTTEN))
    assert report.resembling_uids == (["anew"] if existing == "replace" else [])
    assert await uids_of(executor, namespace) == {"m3", "k2", "anew", "cites"}
    assert (await librarian.get_item(namespace, "cites")).unsupported.because == "forgotten"
    left, _, _ = await executor.driver.execute_query("MATCH (p:Person {namespace: $ns}) RETURN p", {"ns": namespace})
    assert left == []
    await librarian.import_from(before, existing="skip", even_if_forgotten=True)
    assert await uids_of(executor, namespace) == {"m1", "m2", "m3", "k1", "k2", "f1", "anew", "cites"}
    assert (await librarian.get_item(namespace, "cites")).unsupported is None


async def test_an_export_takes_its_tombstones_along(librarian, ingest, executor, forgetful, namespace):
    """Where it is read, the same is held back, under another name too; and it holds nothing that was forgotten."""
    other = f"{namespace}-copy"
    later = io.BytesIO()
    await librarian.export_into(later, [forgetful])
    assert b"4711" not in later.getvalue()
    assert (await librarian.import_from(later, other)).created["tombstone"] == 4
    assert (await ingest(*ROWS, into=other)).held_back == 5
    assert await uids_of(executor, other) == {"m3", "k2"}


async def test_importers_and_index_hold_it_back(librarian, executor, namespace):
    """An export of another program, and a file that is indexed again, bring nothing back."""
    notes = b"# Locker\n\n" + SECRET.encode() + b"\n\n# Pool\n\nThe pool has twenty connections, as measured.\n"
    first = await librarian.ingest(rows_of("markdown", notes, "notes.md").lines(), namespace=namespace)
    code = f"def locker_{4711}():\n    '''{SECRET}'''\n    return 4711\n".encode()
    assert (await librarian.put_file(namespace, "src/locker.py", code)).held_back == 0
    doomed = list(await uids_of(executor, namespace))
    await forget(librarian, namespace, *doomed)
    again = await librarian.ingest(rows_of("markdown", notes, "notes.md").lines(), namespace=namespace)
    assert (first.added, again.added, again.held_back) == (first.added, 0, first.added)
    await librarian.delete_file(namespace, "src/locker.py")
    put = await librarian.put_file(namespace, "src/locker.py", code)
    assert put.held_back == 1
    assert await uids_of(executor, namespace) == set()
    left, _, _ = await executor.driver.execute_query(
        "MATCH (n {namespace: $ns}) WHERE any(key IN keys(n) WHERE toString(n[key]) CONTAINS '4711') RETURN n",
        {"ns": namespace},
    )
    assert left == []


async def test_a_sweep_a_plan_and_a_merge_bring_nothing_back(librarian, executor, ingest, namespace):
    """A plan from before is refused for what is gone; what was merged into a forgotten memory goes with it."""
    same = "Problem: the nightly export failed because the disk of the export host was full"
    merged = [{"kind": "memory", "uid": uid, "text": text} for uid, text in (("a", same), ("b", f"{same} again"))]
    await ingest(*merged)
    plan = await librarian.sweep(namespace, SweepRequest(dry_run=True))
    await librarian.sweep(namespace, SweepRequest())
    found = await librarian.list_reviews(namespace, ReviewQuery(sorts=["merge"]))
    for each in found.reviews:
        await librarian.review(namespace, each.review_id, ReviewInput(verdict="accept"))
    assert len(await uids_of(executor, namespace)) == 1
    await forget(librarian, namespace, *await uids_of(executor, namespace))
    await librarian.sweep(namespace, SweepRequest(plan=plan))
    assert (await ingest(*merged)).held_back == 2
    assert await uids_of(executor, namespace) == set()


async def test_rewordings_are_kept_and_proposed(librarian, ingest, executor, forgetful):
    """They are reported, listed until somebody pins or forgets them, and no longer after a lift."""
    report = await ingest(
        {"kind": "memory", "uid": "anew", "text": REWORDED}, {"kind": "memory", "uid": "k3", "text": "Tea."}
    )
    assert (report.added, report.held_back, report.resembling_uids) == (2, 0, ["anew"])
    assert any("may restate" in note for note in report.notes)
    other = await librarian.remember(forgetful, RememberInput(text=f"{REWORDED} So Bo says."))
    listed = ItemQuery(resembling=True)
    assert {each.uid for each in (await librarian.list_items(forgetful, listed)).items} == {"anew", other.item.uid}
    await librarian.patch_item(forgetful, "anew", {"pinned": True})
    assert [each.uid for each in (await librarian.list_items(forgetful, listed)).items] == [other.item.uid]
    tombstone = other.item.properties["resembles"]
    await librarian.lift_forgotten(forgetful, LiftInput(tombstone_ids=[tombstone]))
    assert (await librarian.list_items(forgetful, listed)).items == []


async def test_lifting_lets_it_come_back(librarian, ingest, executor, forgetful):
    """By uid or by tombstone; a list says kind, time and who, and neither uid nor text."""
    listed = await librarian.list_forgotten(forgetful, ForgottenQuery(limit=3))
    rest = await librarian.list_forgotten(forgetful, ForgottenQuery(limit=3, cursor=listed.next_cursor))
    forgotten = [*listed.forgotten, *rest.forgotten]
    assert sorted(each.kind for each in forgotten) == ["fact", "memory", "message", "message"]
    assert {each.actor for each in forgotten} == {"python"}
    assert (await librarian.lift_forgotten(forgetful, LiftInput(uids=["k1", "nobody"]))).lifted == 1
    fact = next(each.tombstone_id for each in forgotten if each.kind == "fact")
    assert (await librarian.lift_forgotten(forgetful, LiftInput(tombstone_ids=[fact]))).lifted == 1
    report = await ingest(*ROWS)
    assert (report.added, report.held_back) == (3, 2)
    assert await uids_of(executor, forgetful) == {"m3", "k2", "k1", "f1"}
    assert (await ingest(*ROWS, even_if_forgotten=True)).added == 2
    assert (await librarian.list_forgotten(forgetful, ForgottenQuery())).forgotten == []


async def test_a_deleted_namespace_keeps_what_it_was_told_to_forget(librarian, ingest, executor, forgetful):
    """Its other items may be ingested again."""
    preview = await librarian.delete_namespace(forgetful)
    await librarian.delete_namespace(forgetful, preview.confirm_token)
    assert forgetful not in {each.namespace for each in (await librarian.namespaces()).namespaces}
    report = await ingest(*ROWS)
    assert (report.added, report.held_back) == (2, 5)


async def test_taking_back_what_was_uploaded_forgets_nothing(librarian, namespace):
    """The same upload may be kept after its undo."""
    rows = [MemoryIn(uid="k1", text=SECRET)]
    for _ in range(2):
        report, steps = await librarian.items.keep_rows(namespace, rows)
        assert report.added == 1
        assert await librarian.items.take_back(namespace, steps) == 0
    with pytest.raises(NotFound):
        await librarian.link(namespace, LinkInput(source="k1", target="k2", type="CAUSES"))
