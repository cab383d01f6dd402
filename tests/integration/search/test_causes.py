"""The causes of hits by accepted edges, and questions that ask why."""

import pytest

from librarian.search.contracts import Cause, RelevantInput, SearchInput, SemanticSearchInput

TEXTS = {
    "effect": "The release of harbor-api failed on Wednesday.",
    "near": "All pods were red because one query was stuck in the queue.",
    "root": "A cleanup of the chart dropped two lines.",
    "other": "The release of harbor-web went well on Wednesday.",
}
WHY = "Why did the release of harbor-api fail?"


@pytest.fixture
async def chain(ingest):
    """Two edges from a root cause to an effect, a proposed one, and an item that has nothing to do with them."""
    await ingest(
        *({"kind": "memory", "uid": uid, "text": text} for uid, text in TEXTS.items()),
        {"kind": "edge", "source": "root", "type": "CAUSES", "target": "near", "confidence": 0.9},
        {"kind": "edge", "source": "near", "type": "CAUSES", "target": "effect"},
        {"kind": "edge", "source": "other", "type": "CAUSES", "target": "effect", "state": "proposed"},
    )


async def test_a_hit_says_what_led_to_it(librarian, namespace, chain):
    """In every search; proposals do not count."""
    asked = "release of harbor-api"
    found = await librarian.search(namespace, SearchInput(queries=[asked]))
    similar = await librarian.search_all(namespace, SemanticSearchInput(queries=[asked], similarity_threshold=0.0))
    relevant = await librarian.relevant_memory(namespace, RelevantInput(query=asked))
    cause = Cause(uid="near", kind="memory", type="CAUSES", text=TEXTS["near"], confidence=1.0)
    for hits in (found.results, similar.results, relevant.hits):
        by_uid = {hit.uid: hit.led_by for hit in hits}
        assert by_uid["effect"] == [cause]
        assert by_uid["other"] == []


async def test_why_is_answered_by_the_root_and_its_chain(librarian, namespace, chain):
    """From the root down to what is asked about, and only for questions that ask why."""
    found = await librarian.search(namespace, SearchInput(queries=[WHY]))
    assert [hit.uid for hit in found.results][:3] == ["root", "near", "effect"]
    assert [hit.score for hit in found.results] == sorted((hit.score for hit in found.results), reverse=True)
    relevant = await librarian.relevant_memory(namespace, RelevantInput(query=WHY))
    assert [hit.uid for hit in relevant.hits][:3] == ["root", "near", "effect"]
    plain = await librarian.search(namespace, SearchInput(queries=["When did the release of harbor-api fail?"]))
    assert plain.results[0].uid == "effect"


async def test_a_circle_of_causes_ends(librarian, namespace, chain, ingest):
    """Each item once."""
    await ingest({"kind": "edge", "source": "effect", "type": "CAUSES", "target": "root"})
    found = await librarian.search(namespace, SearchInput(queries=[WHY]))
    uids = [hit.uid for hit in found.results]
    assert len(uids) == len(set(uids))
    assert set(uids[:3]) == {"root", "near", "effect"}


async def test_the_sample_s_first_question_reaches_the_root(librarian):
    """The answer that `make run` and the README show."""
    await librarian.load_sample()
    await librarian.embed_pending()
    found = await librarian.search("sample", SearchInput(queries=["why did the deploy fail?"]))
    uids = [hit.uid for hit in found.results]
    assert uids[0] == "mem-chart-cleanup"
    assert {"mem-lock-queue", "mem-readiness-red", "mem-deploy-failed"} < set(uids)
