"""The service's reranker over its life: off, connected, lost, back again."""

import asyncio

from structlog.testing import capture_logs

from librarian.base import metrics
from librarian.base.settings.settings import RerankerSettings
from librarian.runtime.reranking import FAULTS_IN_A_ROW, open_reranking
from retrieval.rerankers.cascade import RerankStatus

TEXTS = ["plain text", "some + plus + text", "a last one", "+" * 60]
PATIENCE_S = 120


def settings(server, **options) -> RerankerSettings:
    return RerankerSettings(base_url=server.url, timeout_s=20.0, **options)


async def test_a_probed_reranker_orders_searches_and_says_so(llama, plus_rules):
    """The start and each rerank are one log line with figures, without texts, and are counted by tool and outcome."""
    with capture_logs() as logs:
        async with open_reranking(settings(llama), patience_s=PATIENCE_S, rules=plus_rules) as reranking:
            assert reranking.status == "ok"
            outcome = await reranking.rerank("search_all", "q", TEXTS, limit=2, deadline_s=60)
    assert outcome.reranked
    assert outcome.order[0] == 3
    connected, completed = logs
    assert (connected["event"], connected["base_url"]) == ("Reranker connected", llama.url)
    assert connected["relevant"] > connected["irrelevant"]
    assert completed["event"] == "Re-ranking completed"
    assert (completed["candidates"], completed["scored"], completed["tool"]) == (4, 4, "search_all")
    assert "plus" not in repr(logs)
    shown = metrics.exposition().decode()
    assert 'memory_agent_rerank_calls_total{status="complete",tool="search_all",variant="reranked"}' in shown
    for name in ("memory_agent_rerank_candidates_bucket", "memory_agent_rerank_latency_seconds_bucket"):
        assert name in shown


async def test_a_reranker_that_fails_the_probe_is_off_with_the_reason(llama):
    """The tiny model does not know what France is: it is not trusted, and searches go on at once."""
    async with open_reranking(settings(llama), patience_s=PATIENCE_S) as reranking:
        assert reranking.status.startswith("off: the reranker gives")
        outcome = await reranking.rerank("search_all", "q", TEXTS, limit=2, deadline_s=60)
    assert (outcome.status, list(outcome.order)) == (RerankStatus.OFF, [0, 1, 2, 3])
    assert "off" in (outcome.reason or "")


async def test_a_lost_server_is_given_up_and_found_again(start_llama, plus_rules):
    """After a few failed searches none waits for the reranker any more, until its server is back."""
    server = start_llama()
    with capture_logs() as logs:
        async with open_reranking(settings(server), patience_s=PATIENCE_S, rules=plus_rules) as reranking:
            server.kill()
            for number in range(FAULTS_IN_A_ROW):
                assert reranking.status == "ok"
                outcome = await reranking.rerank("search_all", f"q{number}", TEXTS, limit=2, deadline_s=60)
                assert (outcome.status, outcome.pool) == (RerankStatus.FAILED, 4)
            assert reranking.status.startswith("off")
            start_llama(port=server.port)
            async with asyncio.timeout(PATIENCE_S):
                while reranking.status != "ok":
                    await asyncio.sleep(0.05)
            assert (await reranking.rerank("search_all", "q", TEXTS, limit=2, deadline_s=60)).reranked
    events = [entry["event"] for entry in logs if entry["event"].startswith("Reranker")]
    assert events[:2] == ["Reranker connected", "Reranker not available"]
    assert events[-1] == "Reranker connected"


async def test_a_server_that_is_loading_is_taken_when_it_is_ready(start_llama, loading_model, plus_rules):
    """A start does not wait for the reranker; it is used as soon as its model is loaded."""
    loading = start_llama(path=loading_model, status=503)
    async with open_reranking(settings(loading), patience_s=PATIENCE_S, rules=plus_rules) as reranking:
        assert "loading" in reranking.status
        loading.kill()
        start_llama(port=loading.port)
        async with asyncio.timeout(PATIENCE_S):
            while reranking.status != "ok":
                await asyncio.sleep(0.05)


async def test_a_search_outside_the_share_keeps_its_order(llama, plus_rules):
    """With RERANKER_TRAFFIC=0 every search is the control variant, and counted as such."""
    async with open_reranking(settings(llama, traffic=0.0), patience_s=PATIENCE_S, rules=plus_rules) as reranking:
        outcome = await reranking.rerank("control_tool", "q", TEXTS, limit=2, deadline_s=60)
    assert (outcome.status, list(outcome.order)) == (RerankStatus.SKIPPED, [0, 1, 2, 3])
    assert 'tool="control_tool",variant="control"' in metrics.exposition().decode()


async def test_a_disabled_reranker_asks_nobody():
    """RERANKER_ENABLED=0 opens no connection and says why nothing is reranked."""
    async with open_reranking(RerankerSettings(enabled=False)) as reranking:
        assert reranking.status == "off: RERANKER_ENABLED=0"


async def test_known_scores_cost_no_request(start_llama, plus_rules):
    """The same search again is ordered from the cache, even when the server is gone."""
    server = start_llama()
    async with open_reranking(settings(server), patience_s=PATIENCE_S, rules=plus_rules) as reranking:
        first = await reranking.rerank("search_all", "q", TEXTS, limit=2, deadline_s=60)
        server.kill()
        again = await reranking.rerank("search_all", "q", TEXTS, limit=2, deadline_s=60)
    assert (again.order, again.scores) == (first.order, first.scores)
