"""When something held, and what was on file at a moment: on get, list, search and context."""

from datetime import UTC, datetime

import msgspec
import pytest

from librarian.base.errors import NotFound
from librarian.items.contracts import Correction, ItemQuery
from librarian.search.contracts import ContextInput, SearchInput

FEBRUARY, APRIL = "2026-02-01T00:00:00Z", datetime(2026, 4, 1, tzinfo=UTC)


@pytest.fixture
async def moved(librarian, ingest, namespace):
    """Ada lives in Bonn, then in Kyoto from March on; and a note says first that the tea is green. Gives the moment
    before the changes.
    """
    await ingest(
        {"kind": "message", "uid": "m1", "author": "Ada", "text": "I live in Bonn.", "sent_at": "2026-01-01T00:00:00Z"},
        {"kind": "fact", "uid": "old", "subject": "Ada", "predicate": "lives in", "object": "Bonn", "evidence": ["m1"],
         "valid_from": "2026-01-01T00:00:00Z"},
        {"kind": "memory", "uid": "k", "text": "The tea in the kitchen of Ada is green."},
    )  # fmt: skip
    before = datetime.now(UTC)
    report = await ingest(
        {"kind": "message", "uid": "m2", "author": "Ada", "text": "I moved, I live in Kyoto now.",
         "sent_at": "2026-03-01T00:00:00Z"},
        {"kind": "fact", "uid": "new", "subject": "Ada", "predicate": "lives in", "object": "Kyoto",
         "evidence": ["m2"], "valid_from": "2026-03-01T00:00:00Z"},
    )  # fmt: skip
    assert report.notes == ["1 facts were superseded by newer values of the same: old by new"]
    await librarian.correct(namespace, "k", Correction(text="The tea in the kitchen of Ada is black."))
    await librarian.embed_pending()
    return before


async def test_get_and_list_know_both_clocks(librarian, moved, namespace):
    """A superseded fact is open in what was known before; what came later is not there."""
    assert (await librarian.get_item(namespace, "old")).properties["valid_to"] == datetime(2026, 3, 1, tzinfo=UTC)
    assert "valid_to" not in (await librarian.get_item(namespace, "old", known_at=moved)).properties
    assert (await librarian.get_item(namespace, "k", known_at=moved)).text.endswith("green.")
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "new", known_at=moved)
    with pytest.raises(NotFound):
        await librarian.get_item(namespace, "old", as_of=APRIL)
    assert (await librarian.get_item(namespace, "old", as_of=APRIL, known_at=moved)).uid == "old"
    assert (await librarian.get_item(namespace, "m1")).superseded_by == "new"
    assert (await librarian.get_item(namespace, "m1", known_at=moved)).superseded_by is None

    async def listed(**filters):
        found = await librarian.list_items(namespace, msgspec.convert(filters, ItemQuery))
        return {item.uid for item in found.items}

    assert await listed(known_at=moved.isoformat()) == {"m1", "old", "k"}
    assert await listed(as_of=FEBRUARY) == {"m1", "old", "k"}
    assert await listed(as_of=APRIL.isoformat(), known_at=moved.isoformat()) == {"m1", "old", "k"}
    assert await listed(as_of=APRIL.isoformat()) == {"m1", "m2", "new", "k"}


@pytest.mark.parametrize("clock", ["as_of", "known_at"])
async def test_search_and_context_know_both_clocks(librarian, moved, namespace, clock):
    """The old value where it held, and where nothing else was known; else the new one."""
    then = {clock: FEBRUARY if clock == "as_of" else moved.isoformat()}
    query = "where does Ada live"

    async def found(**filters):
        given = {"queries": [query], "filters": {"kinds": ["fact", "message"], **filters}}
        return {
            hit.uid: hit for hit in (await librarian.search(namespace, msgspec.convert(given, SearchInput))).results
        }

    past, present = await found(**then), await found()
    assert past.keys() == {"old", "m1"}
    assert past["m1"].superseded_by is None
    assert "old" not in present
    assert present["m1"].superseded_by == "new"
    pack = await librarian.context(namespace, msgspec.convert({"query": query, **then}, ContextInput))
    assert "Bonn" in pack.text
    assert "Kyoto" not in pack.text


async def test_old_words_are_shown_and_judged(librarian, moved, namespace):
    """A memory says what it said then."""
    given = {"queries": ["what colour is the tea"], "filters": {"known_at": moved.isoformat(), "kinds": ["memory"]}}
    (hit,) = (await librarian.search(namespace, msgspec.convert(given, SearchInput))).results
    assert hit.content == "The tea in the kitchen of Ada is green."
