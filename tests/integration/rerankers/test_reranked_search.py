"""Searches whose order a real llama-server decides."""

from librarian.base import metrics
from librarian.base.settings.settings import RerankerSettings, SearchSettings
from librarian.runtime.reranking import open_reranking
from librarian.search.contracts import RelevantInput, SearchInput
from librarian.search.relevant import get_relevant_memory
from librarian.search.search import search

PATIENCE_S = 120
NOBODY = "http://127.0.0.1:9"
# The tiny model finds whatever holds plus signs relevant; fusion does not.
TEXTS = [
    "the deploy failed",
    "why the deploy failed: the pool",
    "the deploy failed again " + "+" * 60,
    "lunch",
    "dinner",
]


def stored(ingest):
    return ingest(*({"kind": "memory", "uid": f"m{number}", "text": text} for number, text in enumerate(TEXTS)))


async def test_the_reranker_orders_what_fusion_found(ingest, librarian, namespace, llama, plus_rules):
    """Before the cut: the best for the reranker is first although fusion had left it out."""
    await stored(ingest)
    pipeline = librarian.parts.pipeline
    query = SearchInput(queries=["why did the deploy fail?"], limit=1)
    async with open_reranking(
        RerankerSettings(base_url=llama.url), patience_s=PATIENCE_S, rules=plus_rules
    ) as reranking:
        answer = await search(pipeline, reranking, namespace, query, SearchSettings())
        fused = SearchInput(queries=query.queries, limit=1, enable_reranking=False)
        plain = await search(pipeline, reranking, namespace, fused, SearchSettings())
    assert (answer.reranked, [hit.uid for hit in answer.results]) == (True, ["m2"])
    assert answer.results[0].rerank_score is not None
    assert (plain.reranked, [hit.uid for hit in plain.results]) == (False, ["m0"])
    assert plain.results[0].rerank_score is None


async def test_a_reranker_that_dies_leaves_the_fused_order_and_says_so(
    ingest, librarian, namespace, start_llama, plus_rules
):
    """One line in the notes; the hits are those of a search without it."""
    await stored(ingest)
    server = start_llama()
    async with open_reranking(
        RerankerSettings(base_url=server.url), patience_s=PATIENCE_S, rules=plus_rules
    ) as reranking:
        server.kill()
        query = SearchInput(queries=["why did the deploy fail?"], limit=1)
        answer = await search(librarian.parts.pipeline, reranking, namespace, query, SearchSettings())
    assert (answer.reranked, [hit.uid for hit in answer.results]) == (False, ["m0"])
    assert [note for note in answer.notes if note.startswith("not reranked: ")]


async def test_a_reranker_that_was_set_up_and_is_off_is_told_once(ingest, librarian, namespace):
    """By a search, and by relevant memory."""
    await stored(ingest)
    query = SearchInput(queries=["why did the deploy fail?", "deploy"], limit=1)
    async with open_reranking(RerankerSettings(base_url=NOBODY), patience_s=PATIENCE_S) as reranking:
        found = await search(librarian.parts.pipeline, reranking, namespace, query, SearchSettings())
        relevant = await get_relevant_memory(
            librarian.parts.pipeline,
            reranking,
            namespace,
            RelevantInput(query=query.queries[0]),
            SearchSettings(),
            log_queries=False,
        )
    for answer in (found, relevant):
        assert [note.partition(":")[0] for note in answer.notes] == ["not reranked"]
    assert 'rerank_calls_total{status="off",tool="relevant_memory"' in metrics.exposition().decode()


async def test_without_a_reranker_a_search_says_nothing_of_it(ingest, librarian, namespace):
    """Most installations have none, and nobody has to read of it, in readiness neither."""
    await stored(ingest)
    answer = await librarian.search(namespace, SearchInput(queries=["why did the deploy fail?"], limit=1))
    assert (answer.reranked, answer.notes) == (False, [])
    assert librarian.parts.reranking.status.startswith("off: ")
    assert "reranker" not in (await librarian.readiness()).checks
