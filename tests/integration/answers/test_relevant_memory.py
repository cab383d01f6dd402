import pytest
import structlog

from librarian import MemoryHit, score_hit_for_query
from librarian.base.logs import hashed
from librarian.search.contracts import RelevantInput
from librarian.search.relevant import get_relevant_memory

QUERY = "how long did the rollback of harbor-api take"


async def test_what_tells_goes_before_what_asks(librarian, namespace, story):
    """A message that asks is more similar here; the one that tells is worth more."""
    hits = await librarian.get_relevant_memory(namespace, QUERY)
    uids = [hit.uid for hit in hits]
    assert uids[0] == "tell"
    assert uids.index("ask") > 0
    assert {hit.kind for hit in hits} == {"message", "memory", "fact"}


async def test_the_score_is_the_adjusted_similarity(librarian, namespace, story):
    """The shown score is `score_hit_for_query` over the similarity; the order is that of how well a hit answers."""
    plain = await librarian.get_relevant_memory(namespace, QUERY, answer_over_question=False)
    similarity = {hit.uid: hit for hit in plain}
    hits = await librarian.get_relevant_memory(namespace, QUERY)
    telling = [hit.relevance for hit in hits if hit.verdict in ("answers", "shares topic")]
    assert telling == sorted(telling, reverse=True)
    assert [hit.verdict for hit in hits if hit.uid == "orders"] in ([], ["gives orders"])
    assert all(hit.score == round(score_hit_for_query(similarity[hit.uid], QUERY), 4) for hit in hits)


async def test_a_message_is_one_hit_and_the_number_holds(librarian, namespace, ingest, story):
    """The same message under two uids, as exports of two programs may hold it, takes one place."""
    twin = {
        "kind": "message",
        "uid": "twin",
        "message_id": "d-2",
        "text": "Rollback of harbor-api: it took 16 minutes.",
    }
    await ingest(twin)
    hits = await librarian.get_relevant_memory(namespace, QUERY)
    assert len({hit.message_id or hit.uid for hit in hits}) == len(hits)
    assert len({hit.uid for hit in hits} & {"tell", "twin"}) == 1
    assert len(await librarian.get_relevant_memory(namespace, QUERY, 2)) == 2


async def test_a_hit_says_who_and_when(librarian, namespace, story):
    """Everything that a citation needs is in the hit."""
    tell = next(hit for hit in await librarian.get_relevant_memory(namespace, QUERY) if hit.uid == "tell")
    assert isinstance(tell, MemoryHit)
    assert (tell.message_id, tell.author_name, tell.role) == ("d-2", "Kenji", "assistant")
    assert tell.sent_at.isoformat() == "2026-02-18T05:22:00+00:00"


@pytest.mark.parametrize(("log_queries", "shown"), [(True, repr(QUERY)), (False, repr(hashed(QUERY)))])
async def test_one_line_of_log(librarian, namespace, story, log_queries, shown):
    """The line that readers of logs look for; the query is hashed where the settings say so."""
    wanted = RelevantInput(query=QUERY, max_hits=2)
    with structlog.testing.capture_logs() as events:
        await get_relevant_memory(
            librarian.parts.pipeline,
            librarian.parts.reranking,
            namespace,
            wanted,
            librarian.settings.search,
            log_queries=log_queries,
        )
    (line,) = [event["event"] for event in events if event["event"].startswith("[LIBRARIAN]")]
    assert line.startswith(f"[LIBRARIAN] {namespace}: query={shown} -> 2 hits (requested=2, raw_results=")


async def test_over_http_and_as_a_tool(serving, librarian, namespace, story):
    """All ways give the same hits; a number out of range is refused with its field."""
    body = {"query": QUERY, "max_hits": 3}
    async with serving(librarian, namespace) as client:
        direct = await client.post("/v1/relevant-memory", json=body)
        tool = await client.post("/v1/tools/relevant_memory", json=body)
        refused = await client.post("/v1/relevant-memory", json={**body, "max_hits": 51})
    assert direct.json()["hits"] == tool.json()["hits"]
    assert direct.json()["hits"][0]["uid"] == "tell"
    assert (refused.status_code, refused.json()["field"]) == (400, "$.max_hits")
