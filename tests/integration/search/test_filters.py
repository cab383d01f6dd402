"""Filters fill the limit: random filters on a real graph against the same filters in plain Python."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from librarian.app import Librarian
from librarian.items.filters import item_filter
from librarian.search.contracts import SearchInput
from retrieval.passages import readable
from retrieval.pipeline import Reach, SearchPipeline, VectorArm
from retrieval.thresholds import FixedBound
from retrieval.types import KEYWORD, Overfetch, SearchRequest, SearchResult

QUERIES = ["who fixed the deploy", "invoice export", "flaky test in CI", "decision about booking quotes"]
FILTERS = [
    *("kinds", "types", "authors", "conversation_id", "session_id", "person_id", "domain", "tags", "agent"),
    *("path_prefix", "occurred_from", "occurred_to", "as_of"),
]
# Words of many items, so that the full-text indexes have more than a first look takes.
COMMON = "note file person harbor deploy test cache booking quote"
WORDS = ["zebra", "麒麟"]
# A first look that finds next to nothing, and a deeper one that often needs the exact scan.
SHALLOW = Reach(rows_per_hit=1, min_rows=1, deeper_rows=40)
# Without shrinking: the drawn filters are few and labelled, and each example searches a real graph.
relaxed = settings(
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def pipeline(librarian: Librarian, reach: Reach) -> SearchPipeline:
    return SearchPipeline(
        librarian.parts.executor, VectorArm(librarian.parts.encoder, librarian.parts.space.calibrations), reach
    )


def draw_filters(data: st.DataObject, world: Any) -> dict[str, Any]:
    """Up to three filters, which at least one item of the world passes where one item has all the properties."""
    names = sorted(data.draw(st.sets(st.sampled_from(FILTERS), max_size=3), label="filters"))
    items = [world.items[uid] for uid in sorted(world.items)]
    alike = [item for item in items if all(item.told(name) for name in names)]
    like = data.draw(st.sampled_from(alike), label="like") if alike else None
    drawn = {name: draw_value(data, name, like, [item for item in items if item.told(name)]) for name in names}
    if {"occurred_from", "occurred_to"} <= drawn.keys():
        drawn["occurred_from"], drawn["occurred_to"] = sorted([drawn["occurred_from"], drawn["occurred_to"]])
    return drawn


def draw_value(data: st.DataObject, name: str, like: Any, holders: Sequence[Any]) -> Any:
    """A value of one filter that `like` passes, if given, else one of the `holders`."""
    own = (like or data.draw(st.sampled_from(holders), label=name)).told(name)
    if name == "path_prefix":
        return own[: data.draw(st.integers(1, len(own)), label="prefix")]
    if name in ("kinds", "types", "authors"):
        others = st.sampled_from(sorted({item.told(name) for item in holders}))
        return sorted({own, *data.draw(st.lists(others, max_size=2), label=name)})
    return own


def wire(filters: Mapping[str, Any], limit: int, *queries: str, **options: Any) -> SearchInput:
    return msgspec.convert({"queries": list(queries), "limit": limit, "filters": dict(filters), **options}, SearchInput)


def asking(namespace: str, filters: Mapping[str, Any], limit: int, *queries: str) -> SearchRequest:
    """A search that takes whatever there is: a caller's own threshold of 0 leaves nothing out."""
    return SearchRequest(
        queries, item_filter(namespace, wire(filters, limit, *queries).filters), limit, bound=FixedBound(0.0)
    )


def within_reach(found: Sequence[str], matching: Mapping[str, Any]) -> dict[str, Any]:
    """The items that have a vector, and those found by words: nothing else leads to a text that the encoder does not
    read.
    """
    return {uid: item for uid, item in matching.items() if uid in found or readable(item.text, {"en"})[0]}


def check(found: Sequence[str], matching: Mapping[str, Any], limit: int) -> None:
    """Every hit passes, no two say the same, and they are as many as there can be."""
    assert set(found) <= matching.keys()
    said = {item.same_as for item in matching.values()}
    assert len({matching[uid].same_as for uid in found}) == len(found) == min(limit, len(said))


@relaxed
@given(data=st.data(), limit=st.integers(1, 50))
async def test_the_limit_is_filled_under_any_filters(worlds: Any, librarian: Librarian, data: Any, limit: int):
    """A hybrid search gives min(limit, different items that pass the filters), and nothing else, in each namespace."""
    world = data.draw(st.sampled_from(worlds), label="world")
    filters = draw_filters(data, world)
    query = data.draw(st.sampled_from(QUERIES), label="query")
    answer = await librarian.search(world.namespace, wire(filters, limit, query, similarity_threshold=0.0))
    assert set(answer.arms.values()) == {"ok"}
    found = [hit.uid for hit in answer.results]
    check(found, within_reach(found, world.matching(filters)), limit)


@relaxed
@given(data=st.data(), limit=st.integers(1, 50))
async def test_the_limit_is_filled_by_deeper_looks(worlds: Any, librarian: Librarian, data: Any, limit: int):
    """The same when the first look finds next to nothing; the answer has one remark at most, several queries or not."""
    world = data.draw(st.sampled_from(worlds), label="world")
    filters = draw_filters(data, world)
    queries = data.draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=3), label="queries")
    result = await pipeline(librarian, SHALLOW).search(asking(world.namespace, filters, limit, *queries))
    assert set(result.arms.values()) == {"ok"}
    assert len(result.notes) <= 1
    check(uids(result), within_reach(uids(result), world.matching(filters)), limit)


@relaxed
@given(data=st.data(), limit=st.integers(1, 50), word=st.sampled_from(WORDS), shallow=st.booleans())
async def test_the_limit_is_filled_by_keywords_alone(
    worlds: Any, librarian: Librarian, data: Any, limit: int, word: str, shallow: bool
):
    """Without the vector arm the items that hold a word of the query are found, all of them if need be."""
    world = data.draw(st.sampled_from(worlds), label="world")
    filters = draw_filters(data, world)
    asked = replace(asking(world.namespace, filters, limit, word), arms=frozenset({KEYWORD}))
    result = await pipeline(librarian, SHALLOW if shallow else Reach()).search(asked)
    check(uids(result), world.matching(filters, word), limit)


@pytest.mark.parametrize("name", FILTERS)
async def test_every_look_keeps_to_every_filter(worlds: Any, librarian: Librarian, name: str):
    """Each filter alone, with a value that few items have, in the first, the deeper and the exact look."""
    for world in worlds:
        told = sorted(item.told(name) for item in world.items.values() if item.told(name))
        value = told[len(told) // 2]
        filters = {name: [value] if name in ("kinds", "types", "authors") else value}
        matching = world.matching(filters)
        assert 0 < len(matching) < len(world.items)
        for reach in (Reach(), Reach(1, 1, 10_000), Reach(1, 1, 1)):
            result = await pipeline(librarian, reach).search(asking(world.namespace, filters, 50, COMMON))
            check(uids(result), within_reach(uids(result), matching), 50)


def uids(result: SearchResult) -> list[str]:
    return [hit.item.uid for hit in result.hits]


@pytest.mark.parametrize(
    ("deeper_rows", "limit", "how"),
    [(1_000, 3, Overfetch.DEEPER), (5, 3, Overfetch.EXACT), (1_000, 4, Overfetch.EXHAUSTED)],
)
async def test_one_remark_says_what_filled_the_limit(
    ingest: Any, librarian: Librarian, namespace: str, deeper_rows: int, limit: int, how: Overfetch
):
    """Filled by a deeper look, by an exact scan, or that no more items match; one line for any number of queries."""
    await ingest(*({"kind": "memory", "uid": f"k{i}", "text": f"cache note {i}"} for i in range(60)))
    await ingest(*({"kind": "memory", "uid": f"r{i}", "text": f"cache boat {i}", "tags": ["rare"]} for i in range(3)))
    asked = asking(namespace, {"tags": ["rare"]}, limit, "cache", "cache note")
    result = await pipeline(librarian, Reach(1, 1, deeper_rows)).search(asked)
    assert result.overfetch is how
    assert len(result.notes) == 1
    assert sorted(uids(result)) == ["r0", "r1", "r2"]


async def test_enough_at_first_sight_needs_no_remark(ingest: Any, librarian: Librarian, namespace: str):
    """A filter that leaves fewer items than the limit is no remark as long as the indexes gave all they have."""
    await ingest(*({"kind": "memory", "uid": f"k{i}", "text": f"cache note {i}", "tags": ["a"]} for i in range(5)))
    answer = await librarian.search(namespace, wire({"tags": ["a"]}, 10, "cache note"))
    assert len(answer.results) == 5
    assert answer.notes == []


async def test_duplicates_do_not_use_up_the_looks(ingest: Any, librarian: Librarian, namespace: str):
    """More equal items than a first look takes in are one hit, and the others are found behind them."""
    await ingest(*({"kind": "memory", "uid": f"same{i}", "text": "the cache was cleared"} for i in range(220)))
    await ingest(*({"kind": "memory", "uid": f"other{i}", "text": f"cache {i} is warm"} for i in range(3)))
    asked = asking(namespace, {}, 4, "the cache was cleared")
    result = await pipeline(librarian, Reach(rows_per_hit=1, min_rows=5, deeper_rows=10)).search(asked)
    assert sorted(uids(result))[:3] == ["other0", "other1", "other2"]
    assert len(result.hits) == 4
    assert result.overfetch is not None


FACTS = [
    {"kind": "fact", "uid": "old", "text": "Mia leads the team", "valid_from": "2026-01-01T00:00:00Z"},
    {"kind": "fact", "uid": "new", "text": "Ken leads the team", "valid_from": "2026-03-01T00:00:00Z",
     "supersedes": ["old"]},
    {"kind": "fact", "uid": "ever", "text": "the team sits in Lisbon"},
    {"kind": "fact", "uid": "replaced", "text": "the team has four people"},
    {"kind": "fact", "uid": "replacing", "text": "the team has five people", "supersedes": ["replaced"]},
    {"kind": "message", "uid": "late", "text": "the team meets", "sent_at": "2026-06-01T00:00:00Z"},
    {"kind": "memory", "uid": "undated", "text": "the team likes tea"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("as_of", "facts"),
    [
        (None, {"new", "ever", "replacing"}),
        ("2025-06-01T00:00:00Z", {"ever", "replaced", "replacing"}),
        ("2026-02-01T00:00:00Z", {"old", "ever", "replaced", "replacing"}),
        ("2026-03-01T00:00:00Z", {"new", "ever", "replaced", "replacing"}),
    ],
)
async def test_as_of_shows_what_held_and_had_happened(
    ingest: Any, librarian: Librarian, namespace: str, as_of: str | None, facts: set[str]
):
    """With as_of the facts valid then, superseded or not, and nothing else of a later time; what has no time always.
    Without it no superseded fact.
    """
    await ingest(*FACTS)
    answer = await librarian.search(namespace, wire({"as_of": as_of} if as_of else {}, 10, "the team"))
    assert {hit.uid for hit in answer.results} == facts | {"undated"} | (set() if as_of else {"late"})


async def test_as_of_shows_nothing_of_another_tenant(ingest: Any, librarian: Librarian, namespace: str):
    """Facts that another namespace knew then, of the same uids and person, neither show nor supersede."""
    others = [{**row, "text": f"{row['text']} elsewhere"} for row in FACTS]
    await ingest(*others, into=f"{namespace}s")
    await ingest(FACTS[0])
    for as_of in ("2025-06-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z", None):
        answer = await librarian.search(namespace, wire({"as_of": as_of} if as_of else {}, 10, "the team"))
        assert {hit.uid for hit in answer.results} <= {FACTS[0]["uid"]}
        assert "elsewhere" not in repr(answer.results)
