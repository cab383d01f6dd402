"""Corrections: facts get a successor, memories another text; and what supersession leaves when a fact goes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.items.contracts import Correction
from librarian.search.contracts import SearchInput

JANUARY, MARCH, APRIL = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 4))
LIVES = {
    "kind": "fact", "uid": "old", "subject": "Ada", "predicate": "lives in", "object": "Bonn", "person_id": "ada",
    "fact_type": "home", "valid_from": "2026-01-01T00:00:00Z", "tags": ["people"], "evidence": ["m"], "name": "home",
}  # fmt: skip


def fact(uid: str, since: str, *older: str) -> dict[str, Any]:
    return {"kind": "fact", "uid": uid, "text": f"{uid} holds", "valid_from": since, "supersedes": list(older)}


async def ends(librarian: Any, executor: Any, namespace: str, uid: str) -> Any:
    """When the fact ceases to hold, which its embeddings must know as well."""
    item = await librarian.get_item(namespace, uid)
    end = item.properties.get("valid_to")
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Fact {namespace: $ns, uid: $uid})-[:HAS_EMBEDDING]->(e) "
        "RETURN collect(e.valid_to = m.valid_to) AS same",
        {"ns": namespace, "uid": uid},
    )
    assert found[0]["same"] == [True]
    return end


async def test_a_corrected_fact_becomes_history(librarian, executor, ingest, namespace):
    """The new fact takes over what is not given, except evidence and validity; the old one ends where it begins."""
    await ingest({"kind": "message", "uid": "m", "text": "I live in Bonn"}, LIVES)
    done = await librarian.correct(namespace, "old", Correction(object="Kyoto", valid_from=MARCH, reason="moved"))
    await librarian.embed_pending()
    new = done.item
    assert done.superseded == "old"
    assert (new.text, new.name, new.evidence, new.version) == ("Ada lives in Kyoto", "Ada lives in Kyoto", [], 1)
    kept = {name: new.properties.get(name) for name in ("person_id", "fact_type", "tags", "subject", "fact_object")}
    assert kept == {
        "person_id": "ada",
        "fact_type": "home",
        "tags": ["people"],
        "subject": "Ada",
        "fact_object": "Kyoto",
    }
    assert (new.properties["valid_from"], new.properties.get("valid_to")) == (MARCH, None)
    assert await ends(librarian, executor, namespace, "old") == MARCH
    (revision,) = (await librarian.revisions(namespace, "old")).revisions
    assert (revision.reason, revision.properties.get("valid_to")) == ("moved", None)
    assert (await librarian.get_item(namespace, "old")).version == 2

    async def found(**filters: Any) -> list[str]:
        query = {"queries": ["where does Ada live"], "filters": {"kinds": ["fact"], **filters}}
        return [hit.uid for hit in (await librarian.search(namespace, msgspec.convert(query, SearchInput))).results]

    assert await found() == [new.uid]
    assert await found(as_of="2026-02-01T00:00:00Z") == ["old"]


@pytest.mark.parametrize(
    ("correction", "text", "triple"),
    [
        (Correction(text="Ada moved"), "Ada moved", ("Ada", "lives in", None)),
        (Correction(text="Ada moved", object="Kyoto"), "Ada moved", ("Ada", "lives in", "Kyoto")),
        (Correction(subject="Bo"), "Bo lives in Bonn", ("Bo", "lives in", "Bonn")),
        (Correction(confidence=0.5), "Ada lives in Bonn", ("Ada", "lives in", "Bonn")),
    ],
    ids=["text alone drops the object", "both as given", "the text follows the triple", "only the confidence"],
)
async def test_text_and_triple_of_a_correction_agree(librarian, ingest, namespace, correction, text, triple):
    """The part that is not given follows the given one."""
    await ingest(LIVES, embed=False)
    item = (await librarian.correct(namespace, "old", correction)).item
    assert item.text == text
    assert tuple(item.properties.get(name) for name in ("subject", "predicate", "object")) == triple
    assert item.properties["valid_from"] > datetime.now(UTC) - timedelta(minutes=5)


async def test_the_same_correction_twice_is_one(librarian, ingest, namespace):
    """Repeating it, with or without its time, gives the fact that is there; another one is refused by naming that."""
    await ingest(LIVES, embed=False)
    for correction in (Correction(object="Kyoto", evidence=["m"]), Correction(object="Kyoto", evidence=["m"])):
        last = await librarian.correct(namespace, "old", correction)
    assert (last.superseded, last.item.version) == ("old", 1)
    for other in (Correction(object="Rome"), Correction(object="Kyoto", evidence=["m"], valid_from=MARCH)):
        with pytest.raises(Conflict, match=last.item.uid):
            await librarian.correct(namespace, "old", other)
    newest = await librarian.correct(namespace, last.item.uid, Correction(object="Rome"))
    assert newest.superseded == last.item.uid
    again = await librarian.correct(namespace, "old", Correction(object="Kyoto", evidence=["m"]))
    assert again.item.uid == last.item.uid


@pytest.mark.parametrize(
    ("correction", "field"),
    [
        (Correction(object="Kyoto", valid_from=JANUARY), "$.valid_from"),
        (Correction(reason="because"), "$.text"),
        (Correction(text=" "), "$.text"),
    ],
    ids=["not later", "nothing said", "blank"],
)
async def test_a_correction_that_cannot_hold_names_its_field(librarian, ingest, namespace, correction, field):
    """The old fact stays as it was."""
    await ingest(LIVES, embed=False)
    with pytest.raises(InvalidInput) as caught:
        await librarian.correct(namespace, "old", correction)
    assert caught.value.field == field
    assert (await librarian.get_item(namespace, "old")).version == 1


async def test_a_corrected_memory_keeps_type_and_tags(librarian, ingest, namespace):
    """Only its text changes, once, and ingesting its row again does not undo that."""
    row = {"kind": "memory", "uid": "k", "text": "the pool has 20", "type": "Decision", "tags": ["db"]}
    await ingest(row, embed=False)
    for _ in range(2):
        done = await librarian.correct(namespace, "k", Correction(text="the pool has 50", reason="raised"))
    assert (done.superseded, done.item.text, done.item.name) == (None, "the pool has 50", "the pool has 50")
    assert (done.item.properties["type"], done.item.properties["tags"], done.item.version) == ("Decision", ["db"], 2)
    assert [r.reason for r in (await librarian.revisions(namespace, "k")).revisions] == ["raised"]
    assert (await ingest(row, embed=False)).unchanged == 1
    with pytest.raises(InvalidInput) as caught:
        await librarian.correct(namespace, "k", Correction(text="x", object="y"))
    assert caught.value.field == "$.object"


async def test_a_message_is_not_corrected(librarian, ingest, namespace):
    """It is a record; the refusal says what to do instead. An absent item is not found."""
    await ingest({"kind": "message", "uid": "m", "text": "hi"}, embed=False)
    with pytest.raises(Conflict) as caught:
        await librarian.correct(namespace, "m", Correction(text="hello"))
    assert caught.value.remedy
    with pytest.raises(NotFound):
        await librarian.correct(namespace, "nobody", Correction(text="hello"))


async def test_deleting_the_newer_fact_reopens_the_older_one(librarian, executor, ingest, namespace):
    """With the end it had before, its vector included."""
    await ingest({**fact("a", "2026-01-01T00:00:00Z"), "valid_to": "2027-01-01T00:00:00Z"})
    await ingest(fact("b", "2026-03-01T00:00:00Z", "a"))
    assert await ends(librarian, executor, namespace, "a") == MARCH
    await librarian.delete_item(namespace, "b")
    assert await ends(librarian, executor, namespace, "a") == datetime(2027, 1, 1, tzinfo=UTC)


async def test_a_fact_that_no_longer_supersedes_reopens_what_it_closed(librarian, executor, ingest, namespace):
    """By patch, and by ingest of a row that says otherwise; a later start moves the older one's end."""
    await ingest(fact("a", "2026-01-01T00:00:00Z"))
    await ingest(fact("b", "2026-03-01T00:00:00Z", "a"))
    await librarian.patch_item(namespace, "b", {"valid_from": "2026-04-01T00:00:00Z"})
    assert await ends(librarian, executor, namespace, "a") == APRIL
    await librarian.patch_item(namespace, "b", {"supersedes": None})
    assert await ends(librarian, executor, namespace, "a") is None
    await ingest(fact("b", "2026-03-01T00:00:00Z", "a"))
    await ingest({**fact("b", "2026-03-01T00:00:00Z", "a"), "tags": ["x"]})
    assert await ends(librarian, executor, namespace, "a") == MARCH
    await ingest(fact("b", "2026-03-02T00:00:00Z"))
    assert await ends(librarian, executor, namespace, "a") is None


async def test_an_end_that_somebody_set_since_stays(librarian, executor, ingest, namespace):
    """Deleting the newer fact gives back only an end that it has set."""
    await ingest(fact("a", "2026-01-01T00:00:00Z"))
    await ingest(fact("b", "2026-03-01T00:00:00Z", "a"))
    await librarian.patch_item(namespace, "a", {"valid_to": "2026-02-01T00:00:00Z"})
    await librarian.delete_item(namespace, "b")
    assert await ends(librarian, executor, namespace, "a") == datetime(2026, 2, 1, tzinfo=UTC)


async def test_a_superseded_fact_can_be_patched_and_stays_superseded(librarian, executor, ingest, namespace):
    """Its own validity and the end that the newer fact gives it are kept apart."""
    await ingest(fact("a", "2026-01-01T00:00:00Z"))
    await ingest(fact("b", "2026-03-01T00:00:00Z", "a"))
    await librarian.patch_item(namespace, "a", {"tags": ["x"]})
    assert await ends(librarian, executor, namespace, "a") == MARCH
    await ingest({**fact("a", "2026-01-01T00:00:00Z"), "tags": ["y"]})
    assert await ends(librarian, executor, namespace, "a") == MARCH
    await librarian.delete_item(namespace, "b")
    assert await ends(librarian, executor, namespace, "a") is None


@pytest.mark.parametrize("order", ["bc", "cb"])
@pytest.mark.parametrize("gone", ["b", "c"])
async def test_of_two_newer_facts_the_one_that_stays_still_closes(librarian, executor, ingest, namespace, order, gone):
    """Whichever came first and whichever goes, the older fact ends where the remaining one begins."""
    starts = {"b": "2026-03-01T00:00:00Z", "c": "2026-04-01T00:00:00Z"}
    await ingest(fact("a", "2026-01-01T00:00:00Z"))
    for uid in order:
        await ingest(fact(uid, starts[uid], "a"))
    assert await ends(librarian, executor, namespace, "a") == MARCH
    await librarian.delete_item(namespace, gone)
    assert await ends(librarian, executor, namespace, "a") == (APRIL if gone == "b" else MARCH)
    await librarian.delete_item(namespace, "c" if gone == "b" else "b")
    assert await ends(librarian, executor, namespace, "a") is None
