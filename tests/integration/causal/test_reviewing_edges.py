"""A human decides about edges: what becomes of them, and that it stays."""

from typing import Any

import pytest

from librarian.app import Librarian
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.causal.contracts import CausalInput
from librarian.items.contracts import LinkInput
from librarian.sweep.contracts import ReviewInput, ReviewQuery

PROPOSED = {"state": "proposed", "reason": "a cue", "run_id": "sweep-20260101-001"}


async def ids(librarian: Librarian, namespace: str, *states: Any) -> list[str]:
    page = await librarian.list_reviews(namespace, ReviewQuery(states=list(states)))
    return [entry.review_id.removeprefix(f"{namespace}:") for entry in page.reviews]


async def test_each_edge_is_in_one_state(librarian: Librarian, namespace: str, connect: Any):
    """Proposed ones are open, a rule's are unreviewed; what a human drew is none of a reviewer's business."""
    await connect(("a CAUSES b", PROPOSED), "a BLOCKS c", ("a ENABLES d", {"method": "human"}))
    assert await ids(librarian, namespace, "open") == ["a-CAUSES-b"]
    assert await ids(librarian, namespace, "unreviewed") == ["a-BLOCKS-c"]
    assert await ids(librarian, namespace, "accepted", "rejected") == []
    page = await librarian.list_reviews(namespace, ReviewQuery())
    (entry,) = page.reviews
    assert (entry.sort, entry.state, entry.item.uid, entry.other and entry.other.uid) == ("edge", "open", "a", "b")
    assert entry.edge is not None
    assert (entry.edge.type, entry.edge.source_quote, entry.reason) == ("CAUSES", "words of a", "a cue")


async def test_an_accepted_proposal_is_followed(librarian: Librarian, namespace: str, connect: Any):
    """It gets its real type, and keeps its id, quotes, origin and reason beside who decided and why."""
    await connect(("a CAUSES b", {**PROPOSED, "confidence": 0.5}))
    review_id = f"{namespace}:a-CAUSES-b"
    done = await librarian.review(namespace, review_id, ReviewInput(verdict="accept", reason="seen in the log"))
    assert (done.decided, done.review.state) == (True, "accepted")
    edge = await librarian.get_edge(namespace, review_id)
    assert (edge.state, edge.type, edge.method, edge.confidence) == ("accepted", "CAUSES", "rule", 0.5)
    assert (edge.reason, edge.review_reason, edge.run_id) == ("a cue", "seen in the log", "sweep-20260101-001")
    assert edge.reviewed_by is not None
    assert edge.reviewed_at is not None
    assert [entry.uid for entry in (await librarian.effects_of(namespace, CausalInput(uid="a"))).items] == ["b"]


@pytest.mark.parametrize("more", [PROPOSED, {}], ids=["proposed", "drawn by a rule"])
async def test_a_rejected_edge_is_followed_no_more(librarian: Librarian, namespace: str, connect: Any, more: Any):
    """It stays as a rejected proposal, which no question follows."""
    await connect(("a CAUSES b", more))
    await librarian.review(namespace, f"{namespace}:a-CAUSES-b", ReviewInput(verdict="reject"))
    edge = await librarian.get_edge(namespace, f"{namespace}:a-CAUSES-b")
    assert (edge.state, edge.type, edge.source_quote) == ("rejected", "CAUSES", "words of a")
    everything = CausalInput(uid="a", include_proposed=True)
    assert (await librarian.effects_of(namespace, everything)).items == []
    assert await ids(librarian, namespace, "rejected") == ["a-CAUSES-b"]


async def test_a_decision_is_revised_with_a_reason(librarian: Librarian, namespace: str, connect: Any):
    """The edge is followed no more, and followed again, with its quotes and the latest reason."""
    await connect(("a CAUSES b", PROPOSED))
    review_id = f"{namespace}:a-CAUSES-b"
    await librarian.review(namespace, review_id, ReviewInput(verdict="accept"))
    for verdict, state in (("reject", "rejected"), ("accept", "accepted")):
        given = ReviewInput(verdict=verdict, reason=f"to {verdict} is right", revise=True)
        done = await librarian.review(namespace, review_id, given)
        edge = await librarian.get_edge(namespace, review_id)
        assert (done.decided, edge.state, edge.review_reason) == (True, state, given.reason)
        assert (edge.type, edge.source_quote) == ("CAUSES", "words of a")
        assert (await librarian.review(namespace, review_id, given)).decided is False


async def test_a_decision_stands(librarian: Librarian, namespace: str, connect: Any):
    """Said again it changes nothing; another one is refused, as is one about an edge that a human drew."""
    await connect(("a CAUSES b", PROPOSED), ("a BLOCKS c", {"method": "human"}))
    review_id = f"{namespace}:a-CAUSES-b"
    await librarian.review(namespace, review_id, ReviewInput(verdict="reject", reason="first"))
    before = await librarian.get_edge(namespace, review_id)
    again = await librarian.review(namespace, review_id, ReviewInput(verdict="reject", reason="second"))
    assert not again.decided
    with pytest.raises(Conflict):
        await librarian.review(namespace, review_id, ReviewInput(verdict="accept"))
    assert await librarian.get_edge(namespace, review_id) == before
    with pytest.raises(Conflict):
        await librarian.review(namespace, f"{namespace}:a-BLOCKS-c", ReviewInput(verdict="reject"))


async def test_an_accepted_edge_may_contradict_another(librarian: Librarian, namespace: str, connect: Any):
    """A human's right, and worth a word."""
    await connect("a CAUSES b", ("a BLOCKS b", PROPOSED))
    done = await librarian.review(namespace, f"{namespace}:a-BLOCKS-b", ReviewInput(verdict="accept"))
    assert "contradiction" in done.notes[0]


async def test_decisions_that_cannot_be_taken(librarian: Librarian, namespace: str, connect: Any):
    """An id of nothing, of another namespace, and a type for what has none."""
    await connect(("a CAUSES b", PROPOSED))
    review_id = f"{namespace}:a-CAUSES-b"
    for where, name in ((namespace, "nothing"), (namespace, "sweep-20260101-001-0"), (f"{namespace}s", review_id)):
        with pytest.raises(NotFound):
            await librarian.review(where, name, ReviewInput(verdict="accept"))
    with pytest.raises(InvalidInput):
        await librarian.review(namespace, review_id, ReviewInput(verdict="accept", type="Problem"))
    assert await ids(librarian, namespace, "open") == ["a-CAUSES-b"]


async def test_pages_follow_each_other(librarian: Librarian, namespace: str, connect: Any):
    """By edge_id, each once, also while what was shown is being decided."""
    await connect(*((f"a CAUSES b{n}", PROPOSED) for n in range(5)))
    query = ReviewQuery(limit=2)
    seen: list[str] = []
    while True:
        page = await librarian.list_reviews(namespace, query)
        seen += [entry.review_id for entry in page.reviews]
        await librarian.review(namespace, page.reviews[0].review_id, ReviewInput(verdict="accept"))
        if page.next_cursor is None:
            break
        query.cursor = page.next_cursor
    assert seen == [f"{namespace}:a-CAUSES-b{n}" for n in range(5)]


async def test_a_human_who_draws_the_edge_has_decided(librarian: Librarian, namespace: str, connect: Any):
    """A proposal that `link` makes real is accepted, by whoever drew it."""
    await connect(("a CAUSES b", PROPOSED))
    await librarian.link(namespace, LinkInput(source="a", type="CAUSES", target="b"))
    assert await ids(librarian, namespace, "open") == []
    assert await ids(librarian, namespace, "accepted") == ["a-CAUSES-b"]
