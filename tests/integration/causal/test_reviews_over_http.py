"""Reviews and causal questions as programs use them: over HTTP, by the client."""

import pytest

from librarian.base.keys import KeyFile
from librarian.causal.contracts import CausalInput
from librarian.client import ApiError, AsyncLibrarianClient
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest


@pytest.fixture
async def remote(serve_app, librarian, namespace, tmp_path):
    """A client whose key may read and write in the test's namespace."""
    keys = KeyFile(tmp_path / "keys.json")
    _, secret = keys.create("ada", namespaces=[namespace], scopes=["read", "write"])
    async with serve_app(librarian, keys) as url, AsyncLibrarianClient(url, secret) as client:
        yield client


async def test_a_review_names_the_key_that_decided(remote, namespace, connect):
    """Who decides over HTTP is the API key, by its name; another decision about the same is a 409 that names it."""
    await connect(("a CAUSES b", {"state": "proposed"}))
    (one,) = (await remote.list_reviews(namespace, ReviewQuery(sorts=["edge"], states=["open"]))).reviews
    done = await remote.review(namespace, one.review_id, ReviewInput(verdict="accept", reason="seen"))
    assert (done.review.reviewed_by, done.review.review_reason) == ("ada", "seen")
    assert [item.uid for item in (await remote.effects_of(namespace, CausalInput(uid="a"))).items] == ["b"]
    with pytest.raises(ApiError) as fault:
        await remote.review(namespace, one.review_id, ReviewInput(verdict="reject"))
    assert (fault.value.status, fault.value.code) == (409, "conflict")
    assert "ada has decided about this before" in str(fault.value)


async def test_flags_and_merges_are_decided_over_http(remote, librarian, namespace, ingest):
    """A flag takes the type that is named with it, a merge takes none; each changes the memories it is about."""
    text = "TIL: the cache of the search page is warmed by the deploy hook at 06:00 every day"
    rows = {"twin": f"{text}.", "fuller": f"{text}, too.", "vague": "Blue, mostly."}
    await ingest(*({"kind": "memory", "uid": uid, "text": said} for uid, said in rows.items()))
    await librarian.sweep(namespace, SweepRequest())
    found = (await remote.list_reviews(namespace, ReviewQuery(sorts=["flag", "merge"]))).reviews
    merge, flag = sorted(found, key=lambda one: one.sort, reverse=True)
    for review_id, wrong in (
        (flag.review_id, ReviewInput(verdict="reject", type="Insight")),
        (merge.review_id, ReviewInput(verdict="accept", type="Insight")),
    ):
        with pytest.raises(ApiError) as fault:
            await remote.review(namespace, review_id, wrong)
        assert (fault.value.status, fault.value.field) == (400, "$.type")
    done = await remote.review(namespace, flag.review_id, ReviewInput(verdict="accept", type="Insight"))
    assert (done.review.reviewed_by, done.review.given_type) == ("ada", "Insight")
    assert (await remote.get_item(namespace, "vague")).properties["type"] == "Insight"
    assert (await remote.review(namespace, merge.review_id, ReviewInput(verdict="accept"))).decided
    with pytest.raises(ApiError) as fault:
        await remote.get_item(namespace, "twin")
    assert fault.value.status == 404
    accepted = await remote.list_reviews(namespace, ReviewQuery(states=["accepted"], sorts=["flag", "merge"]))
    assert {one.review_id for one in accepted.reviews} == {flag.review_id, merge.review_id}
