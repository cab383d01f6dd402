"""Reviews and causal questions as programs use them: over HTTP, by the client."""

import pytest

from librarian.client import ApiError, AsyncLibrarianClient
from librarian.contracts.causal import CausalInput
from librarian.contracts.reviews import ReviewInput, ReviewQuery
from librarian.keys import KeyFile


@pytest.fixture
async def client(serve_app, librarian, namespace, tmp_path):
    """A client whose key may read and write in the test's namespace."""
    keys = KeyFile(tmp_path / "keys.json")
    entry, secret = keys.create("test", namespaces=[namespace], scopes=["read", "write"])
    async with serve_app(librarian, keys) as url, AsyncLibrarianClient(url, secret) as client:
        yield client, entry.id


async def test_a_review_names_the_key_that_decided(client, namespace, connect):
    """Who decides over HTTP is the API key; another decision about the same is a 409."""
    remote, key_id = client
    await connect(("a CAUSES b", {"state": "proposed"}))
    (one,) = (await remote.list_reviews(namespace, ReviewQuery(sorts=["edge"], states=["open"]))).reviews
    done = await remote.review(namespace, one.review_id, ReviewInput(verdict="accept", reason="seen"))
    assert (done.review.reviewed_by, done.review.review_reason) == (key_id, "seen")
    assert [item.uid for item in (await remote.effects_of(namespace, CausalInput(uid="a"))).items] == ["b"]
    with pytest.raises(ApiError) as fault:
        await remote.review(namespace, one.review_id, ReviewInput(verdict="reject"))
    assert (fault.value.status, fault.value.code) == (409, "conflict")
