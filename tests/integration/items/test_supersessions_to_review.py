"""Facts that may replace others: proposed as reviews, decided, and decided otherwise."""

from datetime import UTC, datetime
from typing import Any

import pytest

from librarian.base.errors import Conflict, NotFound
from librarian.items.contracts import EdgeQuery, RememberInput, UnlinkInput
from librarian.sweep.contracts import ReviewInput, ReviewQuery

ACCEPT, REJECT = ReviewInput(verdict="accept"), ReviewInput(verdict="reject")


def fact(uid: str, object_: str, month: int = 1, predicate: str = "has", **more: Any) -> dict[str, Any]:
    said = {"subject": "Ana", "predicate": predicate, "object": object_, "valid_from": f"2026-{month:02}-01T00:00:00Z"}
    return {"kind": "fact", "uid": uid, **said, **more}


async def reviews(librarian: Any, namespace: str, *states: Any) -> Any:
    query = ReviewQuery(sorts=["supersede"], states=list(states or ["open"]))
    return (await librarian.list_reviews(namespace, query)).reviews


async def end_of(librarian: Any, namespace: str, uid: str) -> Any:
    return str((await librarian.get_item(namespace, uid)).properties.get("valid_to"))[:10]


@pytest.fixture
async def proposed(librarian, namespace, ingest):
    """The review of whether a bike takes the place of a dog."""
    await ingest(fact("dog", "a dog"), embed=False)
    report = await ingest(fact("bike", "a bike", 2), embed=False)
    assert report.notes == ["1 facts may be superseded (decide with: librarian review --sort supersede): dog by bike"]
    (review,) = await reviews(librarian, namespace)
    return review


async def test_what_is_not_sure_waits_for_a_human(librarian, namespace, ingest, proposed):
    """Both facts hold; the review names them, and is no edge."""
    assert (proposed.item.uid, proposed.other.uid, proposed.state) == ("bike", "dog", "open")
    assert proposed.reason == '"has" may have one value at a time'
    assert await end_of(librarian, namespace, "dog") == "None"
    assert (await librarian.list_edges(namespace, EdgeQuery())).edges == []
    for refused in (librarian.get_edge(namespace, proposed.review_id),
                    librarian.unlink(namespace, UnlinkInput(edge_id=proposed.review_id))):  # fmt: skip
        with pytest.raises(NotFound):
            await refused
    await ingest(fact("boat", "a boat", 3), embed=False)
    assert [review.review_id for review in await reviews(librarian, namespace)] == [proposed.review_id]


async def test_accepted_it_supersedes_and_revised_no_more(librarian, namespace, ingest, proposed):
    """The older fact ends and comes back; the decision survives another form of the newer one."""
    done = await librarian.review(namespace, proposed.review_id, ACCEPT)
    assert (done.decided, done.review.state, done.review.sort) == (True, "accepted", "supersede")
    assert not (await librarian.review(namespace, proposed.review_id, ACCEPT)).decided
    assert await end_of(librarian, namespace, "dog") == "2026-02-01"
    await ingest(fact("bike", "a bike", 2, text="Ana has a red bike."), embed=False)
    assert await end_of(librarian, namespace, "dog") == "2026-02-01"
    with pytest.raises(Conflict):
        await librarian.review(namespace, proposed.review_id, REJECT)
    revision = ReviewInput(verdict="reject", revise=True, reason="she has both")
    assert (await librarian.review(namespace, proposed.review_id, revision)).review.state == "rejected"
    assert await end_of(librarian, namespace, "dog") == "None"
    assert [one.review_id for one in await reviews(librarian, namespace, "rejected")] == [proposed.review_id]


async def test_rejected_it_is_not_proposed_again(librarian, namespace, ingest, proposed):
    """Also where the newer fact comes in other words."""
    await librarian.review(namespace, proposed.review_id, REJECT)
    report = await ingest(fact("bike", "a bike", 2, text="Ana has a red bike."), embed=False)
    assert (report.updated, report.notes) == (1, [])
    assert await end_of(librarian, namespace, "dog") == "None"
    assert await reviews(librarian, namespace) == []


async def test_a_value_surely_replaced_stays_so_when_its_row_changes(librarian, namespace, ingest):
    """And what is remembered is proposed, too; a proposal about what has ended since is none."""
    await ingest(fact("old", "Oslo", predicate="lives in"), fact("new", "Bern", 2, "lives in"), embed=False)
    await ingest(fact("new", "Bern", 2, "lives in", text="Ana lives in Bern now."), embed=False)
    assert await end_of(librarian, namespace, "old") == "2026-02-01"
    await ingest(fact("tea", "tea", predicate="drinks"), embed=False)
    what = RememberInput(kind="fact", subject="Ana", predicate="drinks", object="coffee",
                         valid_from=datetime(2026, 5, 1, tzinfo=UTC))  # fmt: skip
    kept = await librarian.remember(namespace, what)
    (review,) = await reviews(librarian, namespace)
    assert (review.item.uid, review.other.uid) == (kept.item.uid, "tea")
    await librarian.patch_item(namespace, "tea", {"valid_to": "2026-04-01T00:00:00Z"})
    assert await reviews(librarian, namespace) == []
