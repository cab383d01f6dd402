"""Why-not: each thing that keeps an item out of a search is named, and nothing of other namespaces is told."""

import uuid

import pytest

from librarian.app import Librarian
from librarian.base.errors import NotFound
from librarian.base.strictjson import convert
from librarian.items.contracts import Filters
from librarian.search.contracts import WhyNotInput

TEXT = "The lighthouse keeper repaired the foghorn before the storm."


@pytest.fixture
def why_not(librarian: Librarian, namespace: str):
    async def ask(uid, query="foghorn repair", **search):
        return await librarian.why_not(namespace, WhyNotInput(uid=uid, queries=[query], **search))

    return ask


def memory(uid, text=TEXT, **fields):
    return {"kind": "memory", "uid": uid, "text": text, **fields}


async def test_an_item_that_is_found_says_its_rank(ingest, why_not, librarian, namespace):
    """The rank is the one that the same search shows, and each arm tells its own."""
    await ingest(memory("keeper"), memory("cook", "The cook baked bread for the harbour."))
    found = await why_not("keeper")
    assert (found.verdict, found.rank) == ("found", 1)
    assert [(arm.arm, arm.rank) for arm in found.arms] == [("vector", 1), ("keyword", 1)]
    assert 0.5 < found.arms[0].score <= 1


FILTERED = {
    "kinds": ["fact"],
    "types": ["Decision"],
    "authors": ["Ada"],
    "conversation_id": "c9",
    "session_id": "s9",
    "person_id": "p9",
    "domain": "kitchen",
    "tags": ["sea", "land"],
    "agent": "cook",
    "path_prefix": "docs/",
    "occurred_from": "2026-02-02T00:00:00Z",
    "occurred_to": "2026-01-31T00:00:00Z",
}
ROW = {
    "type": "Problem",
    "domain": "harbour",
    "tags": ["sea"],
    "agent": "keeper",
    "occurred_at": "2026-02-01T00:00:00Z",
}


@pytest.mark.parametrize("name", FILTERED)
async def test_a_filter_that_keeps_it_out_is_named_alone(name, ingest, why_not, librarian, namespace):
    """Other filters that it passes are not blamed, and the search itself does not find it."""
    await ingest(memory("keeper", **ROW))
    passed = {"kinds": ["memory"], "tags": ["sea"], "domain": "harbour"}
    found = await why_not("keeper", filters=filters({**passed, name: FILTERED[name]}))
    assert (found.verdict, found.filters) == ("filtered", [name])


async def test_it_passes_the_filters_that_fit(ingest, why_not):
    """The filter wants the value that the row has."""
    await ingest(memory("keeper", **ROW))
    given = {"types": ["Problem"], "domain": "harbour", "tags": ["sea"], "agent": "keeper", "kinds": ["memory"]}
    times = {"occurred_from": "2026-02-01T00:00:00Z", "occurred_to": "2026-02-01T00:00:00Z"}
    assert (await why_not("keeper", filters=filters(given | times))).verdict == "found"


def filters(given):
    return convert(given, Filters)


async def test_a_fact_that_was_replaced_names_the_new_one(ingest, why_not):
    """`as_of` a time at which it held finds it; at a time before, the filter is to blame."""
    old = {"kind": "fact", "uid": "old", "subject": "Ada", "predicate": "keeps", "object": "the foghorn"}
    new = {**old, "uid": "new", "object": "the bell", "supersedes": ["old"], "valid_from": "2026-03-01T00:00:00Z"}
    await ingest({**old, "valid_from": "2026-01-01T00:00:00Z"}, new)
    found = await why_not("old", "who keeps the foghorn?")
    assert (found.verdict, found.superseded_by) == ("superseded", ["new"])
    assert (await why_not("old", filters=filters({"as_of": "2026-02-01T00:00:00Z"}))).verdict == "found"
    assert (await why_not("old", "who kept the foghorn in February 2026?")).verdict == "found"
    assert (await why_not("old", "who kept the foghorn in April 2026?")).verdict == "superseded"
    assert (await why_not("old", filters=filters({"as_of": "2025-02-01T00:00:00Z"}))).filters == ["as_of"]


async def test_a_duplicate_names_the_hit_that_stands_for_it(ingest, why_not, librarian, namespace):
    """One of two equal texts is shown; the other one points at it."""
    await ingest(memory("one"), memory("two"))
    verdicts = {uid: await why_not(uid) for uid in ("one", "two")}
    assert sorted(found.verdict for found in verdicts.values()) == ["duplicate", "found"]
    shown, other = ("one", "two") if verdicts["one"].verdict == "found" else ("two", "one")
    assert verdicts[other].duplicate_of == shown


async def test_the_limit_cuts_it_off(ingest, why_not):
    """Behind the limit its place among all candidates is told."""
    await ingest(memory("best"), memory("next", "A foghorn is loud."), memory("cook", "Bread is baked at five."))
    found = await why_not("next", limit=1)
    assert (found.verdict, found.rank) == ("cut_by_limit", 2)


async def test_an_item_without_a_vector_says_so(ingest, why_not):
    """Pending, and without a word of the query, nothing can find it."""
    await ingest(memory("best"))
    await ingest(memory("late", "Bread is baked at five."), embed=False)
    found = await why_not("late")
    assert found.verdict == "not_embedded"
    assert [arm.reason for arm in found.arms] == ["it has no vector yet", "it holds none of the query's words"]


async def test_outside_the_pool_both_ranks_are_told(ingest, why_not):
    """With more than a pool of better ones, each arm still tells where it has it."""
    crowd = [memory(f"m{i}", f"The foghorn repair number {i} was done.") for i in range(230)]
    await ingest(*crowd, memory("cook", "Bread is baked at five."))
    found = await why_not("cook", limit=3)
    assert found.verdict == "outside_pool"
    assert found.arms[0].rank == 231
    assert found.arms[1].reason == "it holds none of the query's words"


async def test_another_namespace_s_item_is_not_found(ingest, why_not):
    """It looks like one that does not exist."""
    theirs = f"test-{uuid.uuid4().hex[:12]}"
    await ingest(memory("secret"), into=theirs)
    for uid in ("secret", "nobody"):
        with pytest.raises(NotFound, match="no item has this uid"):
            await why_not(uid)


async def test_what_is_not_similar_enough_tells_how_similar_it_is(ingest, why_not):
    """The threshold that it misses is told beside it."""
    await ingest(memory("best"), memory("cook", "Bread is baked at five."))
    found = await why_not("cook", similarity_threshold=0.9)
    assert (found.verdict, found.threshold) == ("below_threshold", 0.9)
    assert 0 <= found.similarity_score < 0.9
