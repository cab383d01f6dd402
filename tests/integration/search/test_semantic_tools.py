"""The memory agent's searches on the real graph, as Python programs and tools call them."""

from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from librarian.app import Librarian
from librarian.base import metrics
from librarian.base.errors import InvalidInput
from librarian.search.contracts import FactResult, MessageResult, MixedSearchOutput, SemanticSearchInput

TEAM = [
    {
        "kind": "message",
        "message_id": "m1",
        "author": "Mia",
        "author_id": "u-mia",
        "text": "The deploy broke because migration 42 locked the orders table.",
        "conversation_id": "ops",
        "sent_at": "2026-03-02T09:05:00Z",
    },
    {"kind": "message", "message_id": "m2", "text": "Lunch at noon, noodles again?", "conversation_id": "fun"},
    {
        "kind": "fact",
        "uid": "f1",
        "subject": "the deploy of March",
        "predicate": "failed because of",
        "object": "a locked orders table",
        "fact_type": "cause",
        "confidence": 0.9,
        "valid_from": "2026-03-02T00:00:00Z",
        "evidence": ["m1"],
    },
    {
        "kind": "memory",
        "uid": "k1",
        "text": "Migrations get a lock timeout, see HRB-412.",
        "type": "Decision",
    },
]
TOOLS = ("semantic_search_facts", "semantic_search_messages", "semantic_search_memories", "search_all")


def wanted(*queries: str, **options: Any) -> SemanticSearchInput:
    return msgspec.convert({"queries": list(queries), **options}, SemanticSearchInput)


async def test_a_fact_comes_with_the_messages_that_support_it(ingest: Any, librarian: Librarian, namespace: str):
    """Every field that the tool promises is there, null where the fact lacks it; the evidence with its content."""
    await ingest(*TEAM)
    found = await librarian.semantic_search_facts(namespace, wanted("why did the deploy fail"))
    (fact,) = msgspec.to_builtins(found)["results"]
    assert fact["kind"] == "fact"
    told = ("subject", "predicate", "object", "fact_type", "person_id", "confidence", "valid_from", "valid_to")
    assert [fact[name] for name in told[:6]] == [*(TEAM[2][name] for name in told[:4]), None, 0.9]
    assert (fact["valid_from"][:10], fact["valid_to"]) == ("2026-03-02", None)
    assert 0.35 <= fact["similarity_score"] <= 1
    (source,) = fact["evidence"]
    assert (source["message_id"], source["author_name"], source["content"]) == ("m1", "Mia", TEAM[0]["text"])
    assert source["sent_at"].startswith("2026-03-02T09:05")


async def test_a_message_says_who_said_it_where_and_when(ingest: Any, librarian: Librarian, namespace: str):
    """Nothing but messages; null where it is not known who spoke."""
    await ingest(*TEAM)
    query = wanted("why did the deploy fail", "lunch", adaptive_threshold_min=0.0)
    results = (await librarian.semantic_search_messages(namespace, query)).results
    known, unknown = sorted(results, key=lambda hit: hit.message_id or "")
    assert (known.author_id, known.author_name, known.conversation_id) == ("u-mia", "Mia", "ops")
    assert (known.content, str(known.sent_at)[:16]) == (TEAM[0]["text"], "2026-03-02 09:05")
    assert (unknown.author_name, unknown.author_id, unknown.sent_at) == (None, None, None)


async def test_all_kinds_are_one_ranking_of_typed_hits(ingest: Any, librarian: Librarian, namespace: str):
    """Each hit has the shape of its kind, and what is sent reads back as the same."""
    await ingest(*TEAM)
    found = await librarian.search_all(namespace, wanted("deploy migration lock", adaptive_threshold_min=0.0))
    assert {type(hit).__struct_config__.tag for hit in found.results} == {"fact", "message", "memory"}
    assert [hit.score for hit in found.results] == sorted((hit.score for hit in found.results), reverse=True)
    again = msgspec.json.decode(msgspec.json.encode(found), type=MixedSearchOutput)
    assert again == found
    assert {type(hit) for hit in again.results} >= {FactResult, MessageResult}


async def test_nothing_is_found_of_what_nobody_spoke_of(ingest: Any, librarian: Librarian, namespace: str):
    """A query about nothing in the graph has no hits, and the answer says how far the threshold went."""
    await ingest(*TEAM)
    found = await librarian.search_all(namespace, wanted("Which enzyme breaks down lactose?", explain=True))
    assert (found.results, found.threshold, found.iterations) == ([], 0.35, 9)
    assert found.threshold_explanation is not None
    told = found.threshold_explanation
    assert (told.source, told.outcome, told.dropped > 0) == ("adaptive", "exhausted", True)


async def test_an_identifier_is_found_however_the_vector_sees_it(ingest: Any, librarian: Librarian, namespace: str):
    """An encoder knows no ticket numbers: a text that holds one passes an adaptive bound, and explains why; a bound of
    the caller's own holds for it too.
    """
    await ingest(*TEAM)
    query = wanted("HRB-412", adaptive_threshold_min=0.75, explain=True)
    (hit,) = (await librarian.semantic_search_memories(namespace, query)).results
    assert hit.uid == "k1"
    assert hit.explanation is not None
    assert hit.explanation.exempt == "words"
    strict = wanted("HRB-412", similarity_threshold=1.0)
    assert (await librarian.semantic_search_memories(namespace, strict)).results == []


async def test_similarity_is_that_of_the_query_as_it_was_asked(ingest: Any, librarian: Librarian, namespace: str):
    """The vector arm ranks without the names of authors, by which texts would be judged too low; without a name in the
    query both are one.
    """
    await ingest(*TEAM)
    cosines = {}
    for query in ("What did Mia say about the deploy?", "What was said about the deploy?"):
        (hit, *_) = (await librarian.semantic_search_messages(namespace, wanted(query, explain=True))).results
        assert hit.explanation is not None
        assert hit.explanation.cosine is not None
        (arm,) = [one for one in hit.explanation.arms if one.arm == "vector"]
        assert arm.score is not None
        cosines[query] = hit.explanation.cosine - arm.score
    named, unnamed = cosines.values()
    assert named > 0.01
    assert unnamed == 0


async def test_a_plain_search_is_the_same_ranking_without_a_threshold(
    ingest: Any, librarian: Librarian, namespace: str
):
    """A threshold drops hits and moves none; at the bound 0.0 all stay."""
    await ingest(*TEAM)
    text = "why did the deploy fail"
    every = [hit.uid for hit in (await librarian.search_all(namespace, wanted(text, similarity_threshold=0.0))).results]
    some = [hit.uid for hit in (await librarian.search_all(namespace, wanted(text))).results]
    assert len(every) == len(TEAM)
    assert 0 < len(some) < len(every)
    assert some == [uid for uid in every if uid in some]


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_filter_for_kinds_that_a_tool_never_finds_is_refused(librarian: Librarian, namespace: str, tool: str):
    """Rather than to answer with nothing, or with another kind than was asked for."""
    call = getattr(librarian, tool)(namespace, wanted("x", filters={"kinds": ["file_chunk"]}))
    if tool == "search_all":
        assert (await call).results == []
        return
    with pytest.raises(InvalidInput, match=tool):
        await call


async def test_the_missing_limit_is_the_setting_s(ingest: Any, librarian: Librarian, namespace: str):
    """LIBRARIAN_MAX_FACTS, ten unless set."""
    await ingest(*({"kind": "memory", "text": f"the pool of region {i} is warm"} for i in range(14)))
    assert librarian.settings.search.max_facts == 10
    assert len((await librarian.semantic_search_memories(namespace, wanted("which pools are warm"))).results) == 10


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "queries",
    [["the a of"], ["🙂"], ["猫"], ["why did the deploy fail"] * 20, [f"deploy {i}" for i in range(20)], ["\u3000"]],
    ids=["stop words", "emoji", "one CJK letter", "twenty times the same", "twenty", "blank"],
)
async def test_odd_queries_are_answered(
    ingest: Any, librarian: Librarian, namespace: str, tool: str, queries: list[str]
):
    """Also with a limit of 50 in a namespace of three, and in an empty one: no arm fails."""
    await ingest(*TEAM[:3])
    for where in (namespace, f"{namespace}-empty"):
        found = await getattr(librarian, tool)(where, wanted(*queries, limit=50))
        assert len(found.results) <= len(TEAM)
        assert not any(status.startswith("failed") for status in found.arms.values())


async def test_a_query_that_repeats_another_counts_once(ingest: Any, librarian: Librarian, namespace: str):
    """It says so, and the hits and scores are those of the query alone."""
    await ingest(*TEAM)
    deploy, lunch = "why did the deploy fail", "lunch"
    once = await librarian.search_all(namespace, wanted(deploy, lunch))
    often = await librarian.search_all(namespace, wanted(deploy, lunch, f" {deploy} "))
    assert (often.queries, often.results) == (once.queries, once.results)
    assert [note for note in often.notes if "count once" in note]


async def test_japanese_keeps_its_hits_and_says_why(ingest: Any, librarian: Librarian, namespace: str):
    """Texts that no encoder can read are not judged by similarity, nor thrown away."""
    await ingest({"kind": "memory", "uid": "ja", "text": "請求書の不具合は丸め処理が原因だった。"})
    found = await librarian.semantic_search_memories(namespace, wanted("請求書の不具合"))
    assert ([hit.uid for hit in found.results], found.threshold, found.iterations) == (["ja"], None, 0)
    assert [note for note in found.notes if "whatever its similarity" in note]


async def test_a_call_is_told_by_events_and_metrics(ingest: Any, librarian: Librarian, namespace: str):
    """The events that readers of logs expect, and one observation of each of the threshold's metrics."""
    await ingest(*TEAM)
    names = ("threshold_iterations", "final_threshold", "result_count")
    before = [_count(f"memory_agent_adaptive_{name}") for name in names]
    with capture_logs() as logs:
        await librarian.semantic_search_facts(namespace, wanted("why did the deploy fail", limit=1))
        await librarian.semantic_search_facts(namespace, wanted("Which enzyme breaks down lactose?"))
    events = [entry["event"] for entry in logs]
    assert events.count("semantic_search_facts called") == 2
    assert (events.count("Adaptive threshold converged"), events.count("Adaptive threshold exhausted")) == (1, 1)
    assert [_count(f"memory_agent_adaptive_{name}") for name in names] == [count + 2 for count in before]
    assert "locked" not in str(logs)


def _count(histogram: str) -> float:
    lines = metrics.exposition().decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{histogram}_count "))


def test_the_buckets_are_those_that_dashboards_know():
    """Steps 1 to 10; thresholds in steps of .05; result counts up to the largest limit."""
    shown = metrics.exposition().decode()
    buckets = {
        "threshold_iterations": [float(step) for step in range(1, 11)],
        "final_threshold": [0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75],
        "result_count": [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0],
    }
    for name, bounds in buckets.items():
        start = f'memory_agent_adaptive_{name}_bucket{{le="'
        found = [line.removeprefix(start).split('"')[0] for line in shown.splitlines() if line.startswith(start)]
        assert found == [*map(str, bounds), "+Inf"]
