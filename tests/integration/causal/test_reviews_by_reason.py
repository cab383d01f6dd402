"""Reviews by the kind of their reason: found, counted, and decided many at once."""

from typing import Any

import pytest

from librarian.app import Librarian
from librarian.base.errors import Conflict
from librarian.sweep.contracts import (
    ReasonOut,
    ReviewInput,
    ReviewManyInput,
    ReviewQuery,
    SweepRequest,
)

CLOSE = "the texts are close"
BECAUSE = 'with "because of"'


@pytest.fixture
async def proposed(namespace: str, connect: Any) -> None:
    """Three proposals for one kind of reason, one for another, and an edge that a rule has drawn for the first."""
    close = [
        (f"a RELATES_TO b{n}", {"state": "proposed", "reason": f"{CLOSE} (0.{n}1), both name b{n}"}) for n in range(3)
    ]
    await connect(
        *close,
        ("a CAUSES c", {"state": "proposed", "reason": f'{BECAUSE} it names the other ("c")'}),
        ("a RELATES_TO d", {"reason": f"{CLOSE} (0.99)"}),
    )


def short(found: list[Any]) -> list[str]:
    return [entry.review_id.partition(":")[2] for entry in found]


async def test_a_list_keeps_to_one_reason(librarian: Librarian, namespace: str, proposed: None, ingest: Any):
    """By how it begins, of edges and of what else sweeps propose, page by page."""
    query = ReviewQuery(because=CLOSE, limit=2)
    first = await librarian.list_reviews(namespace, query)
    assert first.next_cursor is not None
    rest = await librarian.list_reviews(namespace, ReviewQuery(because=CLOSE, limit=2, cursor=first.next_cursor))
    assert short(first.reviews + rest.reviews) == [f"a-RELATES_TO-b{n}" for n in range(3)]
    assert rest.next_cursor is None
    assert (await librarian.list_reviews(namespace, ReviewQuery(because="close"))).reviews == []
    stated = "Problem: the nightly export failed, error: disk quota exceeded on the export volume."
    await ingest({"kind": "memory", "uid": "flagged", "text": stated, "type": "Pattern"}, embed=False)
    await librarian.sweep(namespace, SweepRequest())
    flags = (
        await librarian.list_reviews(namespace, ReviewQuery(because="stated is Pattern, but the text says Problem"))
    ).reviews
    assert [(flag.sort, flag.item.uid) for flag in flags] == [("flag", "flagged")]
    kinds = (await librarian.list_review_reasons(namespace)).reasons
    assert ReasonOut(because="stated is Pattern, but the text says Problem", open=1) in kinds


async def test_reasons_are_counted_by_kind(librarian: Librarian, namespace: str, proposed: None):
    """With what became of each kind; three rejections more than acceptances are a lesson until one is revised."""
    found = (await librarian.list_review_reasons(namespace)).reasons
    assert found == [ReasonOut(because=CLOSE, open=3, unreviewed=1), ReasonOut(because=BECAUSE, open=1)]
    for n in range(3):
        rejection = ReviewInput(verdict="reject")
        await librarian.review(namespace, f"{namespace}:a-RELATES_TO-b{n}", rejection)
    found = (await librarian.list_review_reasons(namespace)).reasons
    assert found[1] == ReasonOut(because=CLOSE, unreviewed=1, rejected=3, lesson=3)
    revision = ReviewInput(verdict="accept", reason="close indeed", revise=True)
    await librarian.review(namespace, f"{namespace}:a-RELATES_TO-b0", revision)
    found = (await librarian.list_review_reasons(namespace)).reasons
    assert found[1] == ReasonOut(because=CLOSE, unreviewed=1, accepted=1, rejected=2)


async def test_all_of_one_reason_are_decided_after_a_preview(librarian: Librarian, namespace: str, proposed: None):
    """The preview decides nothing and says how many there are; with its token exactly these are decided."""
    asked = ReviewManyInput(verdict="reject", because=CLOSE, reason="boilerplate")
    preview = await librarian.review_many(namespace, asked)
    assert (preview.matched, preview.decided, preview.more) == (3, 0, False)
    assert short(preview.sample) == [f"a-RELATES_TO-b{n}" for n in range(3)]
    assert len((await librarian.list_reviews(namespace, ReviewQuery())).reviews) == 4
    asked.confirm_token = preview.confirm_token
    done = await librarian.review_many(namespace, asked)
    assert (done.matched, done.decided, done.refused, done.confirm_token) == (3, 3, [], None)
    rejected = (await librarian.list_reviews(namespace, ReviewQuery(states=["rejected"]))).reviews
    assert short(rejected) == [f"a-RELATES_TO-b{n}" for n in range(3)]
    assert {entry.review_reason for entry in rejected} == {"boilerplate"}
    assert short((await librarian.list_reviews(namespace, ReviewQuery())).reviews) == ["a-CAUSES-c"]
    drawn = await librarian.review_many(
        namespace, ReviewManyInput(verdict="accept", because=CLOSE, states=["unreviewed"])
    )
    assert short(drawn.sample) == ["a-RELATES_TO-d"]
    nothing = await librarian.review_many(namespace, ReviewManyInput(verdict="accept", because="no such"))
    assert (nothing.matched, nothing.confirm_token) == (0, None)


async def test_a_preview_that_no_longer_holds_decides_nothing(librarian: Librarian, namespace: str, proposed: None):
    """Somebody has decided about one since; nor does its token confirm the opposite."""
    asked = ReviewManyInput(verdict="reject", because=CLOSE)
    token = (await librarian.review_many(namespace, asked)).confirm_token
    with pytest.raises(Conflict):
        await librarian.review_many(namespace, ReviewManyInput(verdict="accept", because=CLOSE, confirm_token=token))
    await librarian.review(namespace, f"{namespace}:a-RELATES_TO-b1", ReviewInput(verdict="accept"))
    asked.confirm_token = token
    with pytest.raises(Conflict):
        await librarian.review_many(namespace, asked)
    assert len((await librarian.list_reviews(namespace, ReviewQuery())).reviews) == 3


async def test_what_cannot_be_decided_with_the_others_is_named(librarian: Librarian, namespace: str, ingest: Any):
    """A flag without a proposed type takes one of its own; it stays open while the others are decided."""
    stated = "Problem: the nightly export failed, error: disk quota exceeded on the export volume."
    await ingest(
        {"kind": "memory", "uid": "a", "text": stated, "type": "Pattern"},
        {"kind": "memory", "uid": "b", "text": stated.replace("export", "import"), "type": "Pattern"},
        embed=False,
    )
    await librarian.sweep(namespace, SweepRequest())
    flags = (await librarian.list_reviews(namespace, ReviewQuery(sorts=["flag"]))).reviews
    assert len(flags) == 2
    await librarian.parts.executor.run_migration(
        "MATCH (:SweepRun)-[c:CHANGED {namespace: $namespace, seq: $seq}]->(:Memory) SET c.new_type = 'Unknown'",
        {"namespace": namespace, "seq": int(flags[0].review_id.rpartition("-")[2])},
    )
    asked = ReviewManyInput(verdict="accept", because="stated is Pattern, but the text says Problem", sorts=["flag"])
    asked.confirm_token = (await librarian.review_many(namespace, asked)).confirm_token
    done = await librarian.review_many(namespace, asked)
    assert (done.matched, done.decided) == (2, 1)
    assert [(refused.review_id, "no type" in refused.reason) for refused in done.refused] == [
        (flags[0].review_id, True)
    ]
    assert (await librarian.get_item(namespace, flags[1].item.uid)).properties["type"] == "Problem"
