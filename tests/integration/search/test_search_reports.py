"""Reports of a search about itself: timings, metrics, one log line, and arms that could not run."""

from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from cypher.loader import load
from graph.executor import Executor
from graph.types import ItemFilter
from librarian.app import Librarian
from librarian.base import metrics
from librarian.items.contracts import Filters
from librarian.search.contracts import SearchInput
from retrieval.pipeline import Reach, SearchPipeline, VectorArm
from retrieval.types import SearchRequest

STAGES = {"encode", "arms", "traits", "fuse", "judge", "hydrate", "total"}


def metric(name: str, labels: str = "") -> float:
    """The value of one sample of /metrics, 0 before its first count."""
    lines = metrics.exposition().decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{labels} "))


async def test_timings_are_in_explained_answers_only(ingest: Any, librarian: Librarian, namespace: str):
    """`explain` adds the milliseconds of each stage, whose sum is at most the total; without it there are none."""
    await ingest({"kind": "memory", "text": "the pool has fifty connections"})
    plain = await librarian.search(namespace, SearchInput(queries=["pool"]))
    assert plain.timings_ms is None
    explained = await librarian.search(namespace, SearchInput(queries=["pool"], explain=True))
    timings = explained.timings_ms
    assert timings is not None
    assert timings.keys() == STAGES
    rounding = 0.1 * len(STAGES)
    assert 0 < sum(spent for stage, spent in timings.items() if stage != "total") <= timings["total"] + rounding


async def test_metrics_count_stages_arms_and_hits(ingest: Any, librarian: Librarian, namespace: str):
    """One search is one observation of each stage and of its hits, and one count of what each arm did."""
    await ingest({"kind": "memory", "text": "請求書 and the pool"})
    samples = {
        "librarian_search_hits_count": "",
        "librarian_search_hits_sum": "",
        "librarian_search_arms_total": '{arm="vector",status="skipped"}',
        **{f'librarian_search_stage_seconds_count{{stage="{stage}"}}': "" for stage in STAGES},
    }
    before = {name: metric(name, labels) for name, labels in samples.items()}
    keyword_before = metric("librarian_search_arms_total", '{arm="keyword",status="ok"}')
    await librarian.search(namespace, SearchInput(queries=["請求書"]))
    assert {name: metric(name, labels) - before[name] for name, labels in samples.items()} == dict.fromkeys(samples, 1)
    assert metric("librarian_search_arms_total", '{arm="keyword",status="ok"}') == keyword_before + 1


async def test_over_fetching_is_counted_by_what_it_took(ingest: Any, librarian: Librarian, namespace: str):
    """A search that a first look cannot fill is one count; here fewer items than the limit match."""
    rows = [{"kind": "memory", "text": f"note {i}", "tags": ["odd"] if i == 7 else []} for i in range(70)]
    await ingest(*rows)
    before = metric("librarian_search_overfetch_total", '{how="exhausted"}')
    await librarian.search(namespace, SearchInput(queries=["note"], limit=2, filters=Filters(tags=["odd"])))
    assert metric("librarian_search_overfetch_total", '{how="exhausted"}') == before + 1


async def test_one_log_line_tells_of_a_search(ingest: Any, librarian: Librarian, namespace: str):
    """The event "search" has the queries (shortened), hits, limit, arms and milliseconds; no text of an item."""
    await ingest({"kind": "memory", "text": "the pool has fifty connections"})
    with capture_logs() as logs:
        await librarian.search(namespace, SearchInput(queries=["pool", "x" * 1_000], limit=5))
    (line,) = [entry for entry in logs if entry["event"] == "search"]
    assert line["queries"] == ["pool", "x" * 200]
    assert (line["namespace"], line["hits"], line["limit"]) == (namespace, 1, 5)
    assert line["arms"] == {"vector": "ok", "keyword": "ok"}
    assert line["ms"].keys() == STAGES
    assert "fifty" not in str(line)


@pytest.mark.parametrize(
    ("broken", "arm"),
    [("search_keyword_deeper", "keyword"), ("search_vector_deeper", "vector"), ("search_vector_exact", "vector")],
)
async def test_a_broken_deeper_look_leaves_the_other_arm(
    ingest: Any, librarian: Librarian, namespace: str, broken: str, arm: str
):
    """A look that fails is said in `arms`; the other arm goes on looking and answers."""
    await ingest(*({"kind": "memory", "uid": f"k{i}", "text": f"note {i}"} for i in range(30)))
    await ingest({"kind": "memory", "uid": "odd", "text": "a note in a boat far away", "tags": ["odd"]})
    statements = dict(load())
    statements[broken] = replace(statements[broken], text="CYPHER 25 RETURN 1 / 0 AS broken")
    parts = librarian.parts
    executor = Executor(parts.executor.driver, statements=statements)
    limping = SearchPipeline(executor, VectorArm(parts.encoder, parts.space.calibrations), Reach(1, 5, 10))
    result = await limping.search(SearchRequest(["note"], ItemFilter(namespace, tags=["odd"]), limit=1))
    assert [hit.item.uid for hit in result.hits] == ["odd"]
    assert result.arms[arm].startswith("failed: ")
    assert [status for name, status in result.arms.items() if name != arm] == ["ok"]
