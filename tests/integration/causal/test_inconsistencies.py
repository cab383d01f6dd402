"""Contradictions and cycles."""

from datetime import UTC, datetime
from typing import Any

from librarian.app import Librarian
from librarian.causal.contracts import ContradictionQuery, CycleQuery


def fact(uid: str, object_: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fact", "uid": uid, "subject": "Mika", "predicate": "lives in", "object": object_,
            "person_id": "mika", "fact_type": "home", **more}  # fmt: skip


async def pairs(librarian: Librarian, namespace: str, **asked: Any) -> list[tuple[str, str]]:
    found = await librarian.contradictions(namespace, ContradictionQuery(**asked))
    return [(entry.first.uid, entry.second.uid) for entry in found.facts]


async def test_facts_contradict_when_their_times_overlap(librarian: Librarian, namespace: str, ingest: Any):
    """Another object for one person, type, relationship and time; not a case of letters, a later or superseded one."""
    await ingest(
        fact("f1", "Kobe", valid_from="2025-01-01T00:00:00Z", valid_to="2026-01-01T00:00:00Z"),
        fact("f2", "Osaka", valid_from="2025-06-01T00:00:00Z"),
        fact("f3", "kobe ", valid_from="2025-02-01T00:00:00Z", valid_to="2025-03-01T00:00:00Z"),
        fact("f4", "Nara", valid_from="2024-01-01T00:00:00Z", valid_to="2025-01-01T00:00:00Z"),
        fact("f5", "Ise", fact_type="dream"),
        fact("f6", "Tsu", person_id="ren"),
        fact("f7", "Uji", valid_from="2025-07-01T00:00:00Z", supersedes=["f2"]),
        embed=False,
    )
    assert await pairs(librarian, namespace) == [("f1", "f2"), ("f1", "f7")]
    assert await pairs(librarian, namespace, as_of=datetime(2025, 6, 15, tzinfo=UTC)) == [("f1", "f2")]
    assert await pairs(librarian, namespace, person_id="ren") == []
    first = await librarian.contradictions(namespace, ContradictionQuery(limit=1))
    assert (len(first.facts), first.more) == (1, True)
    assert first.facts[0].second.valid_to == datetime(2025, 7, 1, tzinfo=UTC)


async def test_causing_and_blocking_one_item_is_a_contradiction(librarian: Librarian, namespace: str, connect: Any):
    """Of the same pair and direction; a proposal counts on request, a rejected edge never."""
    await connect(
        "a CAUSES b", "a BLOCKS b", "b CAUSES c", "c BLOCKS b", "c CAUSES d", ("c BLOCKS d", {"state": "proposed"}),
        "d CAUSES e", ("d BLOCKS e", {"state": "rejected"}),
    )  # fmt: skip
    found = await librarian.contradictions(namespace, ContradictionQuery())
    assert [(entry.source.uid, entry.target.uid, len(entry.edges)) for entry in found.edges] == [("a", "b", 2)]
    more = await librarian.contradictions(namespace, ContradictionQuery(include_proposed=True))
    assert [(entry.source.uid, entry.target.uid) for entry in more.edges] == [("a", "b"), ("c", "d")]


async def test_cycles_are_found_with_their_edges(librarian: Librarian, namespace: str, connect: Any):
    """The shortest through each item, beginning with the smallest uid; the surest edge where there are several."""
    await connect(
        ("a CAUSES b", {"confidence": 0.5}), ("a ENABLES b", {"confidence": 0.8}), ("b CAUSES a", {"confidence": 0.5}),
        "b CAUSES c", "c BLOCKS d", "d CAUSES e", "e CAUSES c", "e RELATES_TO a",
        ("e CAUSES f", {"state": "proposed"}), ("f CAUSES e", {"state": "proposed"}),
    )  # fmt: skip
    found = await librarian.cycles(namespace, CycleQuery())
    assert [[item.uid for item in entry.items] for entry in found.cycles] == [["a", "b"], ["c", "d", "e"]]
    assert [edge.type for edge in found.cycles[0].edges] == ["ENABLES", "CAUSES"]
    assert (found.cycles[0].confidence, found.more) == (0.4, False)
    causes = await librarian.cycles(namespace, CycleQuery(types=["CAUSES"]))
    assert [[item.uid for item in entry.items] for entry in causes.cycles] == [["a", "b"]]
    proposed = await librarian.cycles(namespace, CycleQuery(include_proposed=True))
    assert ["e", "f"] in [[item.uid for item in entry.items] for entry in proposed.cycles]
    cut = await librarian.cycles(namespace, CycleQuery(limit=1))
    assert (len(cut.cycles), cut.more) == (1, True)
