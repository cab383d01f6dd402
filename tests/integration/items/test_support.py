"""Support of items by others: marks that follow when a source ends or is forgotten, and go with its return."""

from datetime import UTC, datetime
from typing import Any

import pytest

from librarian.items.contracts import Correction, DeleteInput
from librarian.search.contracts import ContextInput, RelevantInput, SearchInput

WORLD: list[dict[str, Any]] = [
    {"kind": "message", "uid": "m1", "author": "Ada", "text": "The billing database runs on PostgreSQL 14."},
    {"kind": "message", "uid": "m2", "author": "Bo", "text": "Nightly exports finish at six."},
    {"kind": "fact", "uid": "f1", "subject": "billing", "predicate": "runs on", "object": "PostgreSQL 14",
     "valid_from": "2026-01-01T00:00:00Z", "evidence": ["m1"]},
    {"kind": "memory", "uid": "k1", "text": "Billing upgrades need the PostgreSQL 14 runbook.", "evidence": ["f1"]},
    {"kind": "memory", "uid": "k2", "text": "Ask Bo to rehearse the PostgreSQL 14 runbook.", "evidence": ["k1"]},
    {"kind": "memory", "uid": "k3", "text": "Exports and billing share a window.", "evidence": ["k1", "m2"]},
]  # fmt: skip


async def marks(librarian: Any, namespace: str, *uids: str) -> dict[str, tuple[str, list[str]]]:
    """Of those that are unsupported why, and the way there."""
    found = {uid: (await librarian.get_item(namespace, uid)).unsupported for uid in uids or ("f1", "k1", "k2", "k3")}
    return {uid: (lost.because, lost.way) for uid, lost in found.items() if lost is not None}


async def forget(librarian: Any, namespace: str, uid: str) -> Any:
    preview = await librarian.delete_items(namespace, DeleteInput(uids=[uid]))
    await librarian.delete_items(namespace, DeleteInput(uids=[uid], confirm_token=preview.confirm_token))
    return preview


async def test_a_corrected_fact_takes_its_followers_with_it(librarian, ingest, namespace):
    """Items that cite it, however far, are marked with the way there; deleting the correction restores all."""
    await ingest(*WORLD, embed=False)
    assert await marks(librarian, namespace) == {}
    new = (await librarian.correct(namespace, "f1", Correction(object="PostgreSQL 17"))).item
    assert await marks(librarian, namespace) == {
        "k1": ("superseded", ["f1"]),
        "k2": ("superseded", ["k1", "f1"]),
    }
    assert (await librarian.get_item(namespace, "m1")).superseded_by == new.uid
    await librarian.delete_item(namespace, new.uid)
    assert await marks(librarian, namespace) == {}
    assert (await librarian.get_item(namespace, "m1")).superseded_by is None


async def test_a_forgotten_message_is_missed_until_it_comes_back(librarian, ingest, namespace):
    """The preview names what nothing would support; the same row again supports it all."""
    await ingest(*WORLD, embed=False)
    versions = {uid: (await librarian.get_item(namespace, uid)).version for uid in ("f1", "k2")}
    preview = await forget(librarian, namespace, "m1")
    assert [item.uid for item in preview.unsupported] == ["f1", "k1", "k2"]
    assert await marks(librarian, namespace) == {
        "f1": ("forgotten", []),
        "k1": ("forgotten", ["f1"]),
        "k2": ("forgotten", ["k1", "f1"]),
    }
    await forget(librarian, namespace, "m2")
    assert (await marks(librarian, namespace, "k3")) == {"k3": ("forgotten", [])}
    await ingest(*WORLD[:2], embed=False, even_if_forgotten=True)
    assert await marks(librarian, namespace) == {}
    assert versions == {uid: (await librarian.get_item(namespace, uid)).version for uid in ("f1", "k2")}


async def test_what_was_forgotten_itself_comes_back_without_what_it_rested_on(librarian, ingest, namespace):
    """It is unsupported until its source comes back too; what cites something that never was waits for it."""
    await ingest(*WORLD, embed=False)
    await forget(librarian, namespace, "m1")
    await forget(librarian, namespace, "f1")
    await ingest(WORLD[2], embed=False, even_if_forgotten=True)
    waiting = {"kind": "memory", "uid": "k4", "text": "Somebody will tell.", "evidence": ["never"]}
    await ingest(waiting, embed=False)
    assert await marks(librarian, namespace, "f1", "k1", "k2", "k4") == {
        "f1": ("forgotten", []),
        "k1": ("forgotten", ["f1"]),
        "k2": ("forgotten", ["k1", "f1"]),
    }
    await ingest(WORLD[0], embed=False, even_if_forgotten=True)
    assert await marks(librarian, namespace, "f1", "k1", "k2", "k4") == {}


async def test_a_forgotten_message_is_missed_by_its_message_id_too(librarian, ingest, namespace):
    """Whatever comes in after it cites a message that is gone; one that nobody has seen yet may still come. The message
    itself, let in again, supports it all.
    """
    said = {
        "kind": "message",
        "uid": "m9",
        "message_id": "mail-9",
        "conversation_id": "c",
        "text": "Exports stop at six.",
    }
    await ingest(said, embed=False)
    await forget(librarian, namespace, "m9")
    cite = [{"kind": "memory", "uid": uid, "text": f"So says {uid}."} for uid in ("late", "early")]
    await ingest({**cite[0], "evidence": ["mail-9"]}, {**cite[1], "evidence": ["mail-10"]}, embed=False)
    assert await marks(librarian, namespace, "late", "early") == {"late": ("forgotten", [])}
    await ingest(said, embed=False, even_if_forgotten=True)
    assert await marks(librarian, namespace, "late", "early") == {}


async def test_a_corrected_memory_and_an_ended_fact_support_nothing(librarian, ingest, namespace):
    """Other words end the support of a memory, another type does not; an end in the future ends it then."""
    await ingest(*WORLD, embed=False)
    await librarian.patch_item(namespace, "k1", {"type": "Decision"})
    assert await marks(librarian, namespace) == {}
    await librarian.correct(namespace, "k1", Correction(text="Billing upgrades need no runbook."))
    assert await marks(librarian, namespace) == {"k2": ("corrected", ["k1"])}
    await librarian.patch_item(namespace, "k2", {"tags": ["runbook"]})
    assert await marks(librarian, namespace) == {"k2": ("corrected", ["k1"])}
    await librarian.patch_item(namespace, "k1", {"text": WORLD[3]["text"]})
    assert await marks(librarian, namespace) == {}
    await librarian.patch_item(namespace, "f1", {"valid_to": "2999-01-01T00:00:00Z"})
    assert await marks(librarian, namespace) == {}
    await librarian.patch_item(namespace, "f1", {"valid_to": "2026-02-01T00:00:00Z"})
    assert await marks(librarian, namespace) == {"k1": ("ended", ["f1"]), "k2": ("ended", ["k1", "f1"])}
    lost = (await librarian.get_item(namespace, "k1")).unsupported
    assert lost.since == datetime(2026, 2, 1, tzinfo=UTC)


async def test_what_is_said_anew_rests_on_its_source_as_it_is_now(librarian, ingest, namespace):
    """Who rewrites an item that cites a corrected one has seen the correction; so has who cites it from now on."""
    await ingest(*WORLD, embed=False)
    await librarian.correct(namespace, "k1", Correction(text="Billing upgrades need no runbook."))
    await librarian.patch_item(namespace, "k2", {"text": "Nothing to rehearse any more."})
    assert await marks(librarian, namespace) == {}
    await ingest({**WORLD[5], "uid": "k4", "evidence": ["m2"]}, embed=False)
    await ingest({**WORLD[5], "uid": "k4"}, embed=False)
    assert await marks(librarian, namespace, "k4") == {}


@pytest.mark.parametrize("left", [["m2"], []])
async def test_what_is_cited_no_more_supports_no_more(librarian, ingest, namespace, left):
    """Also where the words stay: the other sources of an item are all that it rests on."""
    await ingest(*WORLD, embed=False)
    await librarian.patch_item(namespace, "k3", {"evidence": left})
    assert [source.uid for source in (await librarian.get_item(namespace, "k3")).evidence] == left
    assert "k3" not in {item.uid for item in (await librarian.impact(namespace, "k1")).supported}


async def test_impact_says_beforehand_what_rests_on_an_item(librarian, ingest, namespace):
    """Items that would lose all support, items that keep some, and where edges lead; nothing is changed."""
    await ingest(
        *WORLD,
        {"kind": "memory", "uid": "k4", "text": "The upgrade is late."},
        {"kind": "edge", "source": "k1", "target": "k4", "type": "CAUSES"},
        embed=False,
    )
    found = await librarian.impact(namespace, "f1")
    assert [(item.uid, item.way) for item in found.unsupported] == [("k1", ["f1"]), ("k2", ["k1", "f1"])]
    assert [item.uid for item in found.supported] == ["k3"]
    assert [(led.uid, led.source, led.type) for led in found.leads_to] == [("k4", "k1", "CAUSES")]
    assert await marks(librarian, namespace) == {}


@pytest.fixture
async def corrected(librarian, ingest, namespace):
    await ingest(*WORLD, {"kind": "memory", "uid": "k9", "text": "The runbook for billing upgrades has a new owner."})
    await librarian.correct(namespace, "f1", Correction(object="PostgreSQL 17"))
    await librarian.embed_pending()


async def test_what_is_unsupported_says_so_and_stands_below(librarian, corrected, namespace):
    """Hits, the context pack and an answer tell it; another text about the same goes first."""
    query = "which runbook do billing upgrades need"
    found = await librarian.search(namespace, SearchInput(queries=[query]))
    lost = {hit.uid: hit.unsupported for hit in found.results}
    assert lost["k1"].because == "superseded"
    assert lost["k9"] is None
    order = list(lost)
    assert order.index("k9") < order.index("k1")
    pack = await librarian.context(namespace, ContextInput(query=query))
    assert "[memory: k1], no longer supported: what it rests on was superseded" in pack.text
    hits = (await librarian.relevant_memory(namespace, RelevantInput(query=query))).hits
    assert {hit.uid for hit in hits if hit.unsupported} == {"k1", "k2"}
