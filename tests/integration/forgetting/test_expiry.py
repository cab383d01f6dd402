"""Expired items are not found unless they are asked for; pinned ones do not expire."""

from datetime import UTC, datetime, timedelta

import pytest

from librarian.base.errors import InvalidInput
from librarian.items.contracts import DeleteInput, Filters, ItemQuery, RememberInput
from librarian.search.contracts import ContextInput, SearchInput, WhyNotInput

PAST, LATER = "2020-01-01T00:00:00Z", (datetime.now(UTC) + timedelta(days=3)).isoformat()
ASKED = "Which pin does the bakery door have?"
ROWS = [
    {"kind": "message", "uid": "old", "conversation_id": "c", "position": 1, "author": "Ada", "expires_at": PAST,
     "text": "The bakery door has the pin 4711."},
    {"kind": "message", "uid": "new", "conversation_id": "c", "position": 2, "author": "Ada", "expires_at": LATER,
     "text": "The bakery door has the pin 8822."},
    {"kind": "fact", "uid": "fact", "text": "The bakery door has a pin.", "evidence": ["old", "new"], "pinned": True},
]  # fmt: skip


@pytest.fixture
async def expiring(ingest, namespace):
    assert (await ingest(*ROWS)).failed == 0
    return namespace


async def test_what_has_expired_is_not_found(librarian, expiring):
    """Neither by a search, nor in a list, a context pack or as evidence; a filter, its uid or a deletion finds it."""
    search = SearchInput(queries=[ASKED])
    assert {hit.uid for hit in (await librarian.search(expiring, search)).results} == {"new", "fact"}
    search.filters = Filters(expired=True)
    assert {hit.uid for hit in (await librarian.search(expiring, search)).results} == {"old", "new", "fact"}
    listed = await librarian.list_items(expiring, ItemQuery())
    assert {item.uid for item in listed.items} == {"new", "fact"}
    assert "4711" not in (await librarian.context(expiring, ContextInput(query=ASKED))).text
    assert [each.uid for each in (await librarian.get_item(expiring, "fact")).evidence] == ["new"]
    asked = WhyNotInput(uid="old", queries=[ASKED])
    assert (await librarian.why_not(expiring, asked)).filters == ["expired"]
    old = await librarian.get_item(expiring, "old")
    assert old.properties["expires_at"].isoformat() == "2020-01-01T00:00:00+00:00"
    preview = await librarian.delete_items(expiring, DeleteInput(filters=Filters(conversation_id="c")))
    assert preview.counts.items == 2
    with pytest.raises(InvalidInput):
        await librarian.delete_items(expiring, DeleteInput(filters=Filters(expired=True)))


async def test_pinning_and_expiring_are_changes_like_any_other(librarian, expiring):
    """A patch takes the end away, or pins; both at once contradict each other."""
    await librarian.patch_item(expiring, "old", {"expires_at": None, "pinned": True})
    assert {item.uid for item in (await librarian.list_items(expiring, ItemQuery())).items} == {"old", "new", "fact"}
    with pytest.raises(InvalidInput):
        await librarian.patch_item(expiring, "old", {"expires_at": LATER})
    ends = datetime(2020, 1, 1, tzinfo=UTC)
    kept = await librarian.remember(expiring, RememberInput(text="The pin was 1234.", expires_at=ends))
    assert kept.item.uid not in {item.uid for item in (await librarian.list_items(expiring, ItemQuery())).items}
