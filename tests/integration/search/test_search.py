"""Hybrid search on the real graph with the real encoder."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.observer import Silence
from graph.search import keyword_candidates
from graph.types import ItemFilter
from librarian.app import Librarian
from librarian.search.contracts import SearchInput, SearchOutput
from retrieval.lucene import keyword_query

TEAM = [
    {
        "kind": "message",
        "uid": "q",
        "author": "Ken",
        "text": "Why did the deploy fail last night?",
        "conversation_id": "ops",
        "sent_at": "2026-03-02T09:00:00Z",
    },
    {
        "kind": "message",
        "uid": "a",
        "author": "Mia",
        "text": "The deploy broke because migration 42 locked the orders table.",
        "conversation_id": "ops",
        "sent_at": "2026-03-02T09:05:00Z",
    },
    {
        "kind": "message",
        "uid": "lunch",
        "author": "Mia",
        "text": "Lunch at noon, noodles again?",
        "conversation_id": "fun",
        "sent_at": "2026-03-02T11:00:00Z",
    },
    {
        "kind": "memory",
        "uid": "pool",
        "text": "Decision: set pool.size to 50 in config/db.toml, see HRB-412",
        "type": "Decision",
        "tags": ["db", "pool"],
        "domain": "backend",
        "agent": "scribe",
        "occurred_at": "2026-03-05T00:00:00Z",
    },
    {
        "kind": "memory",
        "uid": "ja",
        "text": "請求書の金額が二重に計上される不具合は、丸め処理が原因だった。",
        "type": "Problem",
        "occurred_at": "2026-04-01T00:00:00Z",
    },
    {
        "kind": "fact",
        "uid": "f1",
        "subject": "Mia",
        "predicate": "leads",
        "object": "the platform team",
        "person_id": "mia",
        "fact_type": "role",
        "relationship_type": "leads",
        "evidence": ["a"],
    },
    {
        "kind": "fact",
        "uid": "f2",
        "text": "Mia is the lead of the platform team",
        "subject": "Mia",
        "person_id": "mia",
        "fact_type": "role",
        "fact_object": "the platform team",
        "relationship_type": "leads",
        "evidence": ["lunch"],
    },
]


async def ask(librarian: Librarian, namespace: str, *queries: str, **options: Any) -> SearchOutput:
    return await librarian.search(namespace, msgspec.convert({"queries": list(queries), **options}, SearchInput))


def uids(answer: SearchOutput) -> list[str]:
    return [hit.uid for hit in answer.results]


async def test_both_arms_answer_and_explain(ingest: Any, librarian: Librarian, namespace: str):
    """A paraphrase finds its answer; the explanation says what each arm gave and adds up to the score."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "what made the deployment break", explain=True)
    assert answer.arms == {"vector": "ok", "keyword": "ok"}
    assert "a" in uids(answer)[:2]
    for hit in answer.results:
        assert hit.explanation is not None
        assert hit.explanation.fused_score == pytest.approx(sum(one.share for one in hit.explanation.signals), abs=1e-5)
        assert all((arm.score is None) == (arm.arm != "vector") for arm in hit.explanation.arms)


async def test_a_keyword_only_hit_says_how_similar_it_is(ingest: Any, librarian: Librarian, namespace: str):
    """Every hit with a vector says how similar it is, also where the vector arm did not rank it."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "HRB-412", limit=1, explain=True)
    assert uids(answer) == ["pool"]
    hit = answer.results[0]
    assert hit.similarity_score is not None
    assert hit.explanation is not None
    assert hit.explanation.cosine is not None
    assert 0 <= hit.similarity_score < hit.explanation.cosine < 1


async def test_japanese_is_found_by_keywords_and_the_answer_says_so(ingest: Any, librarian: Librarian, namespace: str):
    """The English encoder stays out of Japanese queries, openly."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "請求書の不具合の原因")
    assert uids(answer)[0] == "ja"
    assert answer.arms["vector"].startswith("skipped: encoder")
    assert answer.arms["keyword"] == "ok"


async def test_equal_facts_are_one_hit_with_all_evidence(ingest: Any, librarian: Librarian, namespace: str):
    """Facts of one person, type, object and relationship merge; the evidence of both stays."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "who leads the platform team", filters={"kinds": ["fact"]})
    assert len(answer.results) == 1
    assert {source.uid for source in answer.results[0].evidence} == {"a", "lunch"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kinds": ["message"]}, ["q", "a", "lunch"]),
        ({"authors": ["Mia"]}, ["a", "lunch"]),
        ({"authors": ["Ken", "Mia"], "conversation_id": "ops"}, ["q", "a"]),
        ({"types": ["Decision", "Problem"]}, ["pool", "ja"]),
        ({"tags": ["pool", "db"]}, ["pool"]),
        ({"tags": ["pool", "frontend"]}, []),
        ({"domain": "backend"}, ["pool"]),
        ({"agent": "scribe"}, ["pool"]),
        ({"person_id": "mia"}, ["f1"]),
        ({"occurred_from": "2026-03-02T09:05:00Z", "occurred_to": "2026-03-02T12:00:00Z"}, ["a", "lunch"]),
        ({"occurred_from": "2026-03-31T00:00:00+09:00"}, ["ja"]),
        ({"conversation_id": "nowhere"}, []),
    ],
    ids=str,
)
async def test_every_filter_holds_in_both_arms(
    ingest: Any, librarian: Librarian, namespace: str, filters: dict[str, Any], expected: list[str]
):
    """A query that everything matches somehow returns exactly the items that pass the filter."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "deploy lunch pool 請求書 platform team lead migration", filters=filters)
    found = set(uids(answer))
    merged_facts = {"f1"} if found & {"f1", "f2"} else set()
    assert (found - {"f1", "f2"}) | merged_facts == set(expected)


async def test_many_queries_are_one_ranking(ingest: Any, librarian: Librarian, namespace: str):
    """Several queries are fused: each brings its own best hit."""
    await ingest(*TEAM)
    answer = await ask(librarian, namespace, "noodles for lunch", "connection pool decision", limit=4)
    assert {"lunch", "pool"} <= set(uids(answer))


@pytest.mark.parametrize(
    "query",
    [
        "foo:bar AND (",
        "*",
        '"',
        "a" * 1_000_000,
        "\u0000",
        "\ud800 lone",
        " ".join(f"t{i}" for i in range(33)),
        "OR",
        "NOT x",
        "title:[a TO b]",
        "~~~",
        "/regex/",
        "日本語" * 1000,
        "\u3000",
        "🙂",
        "\\",
    ],
    ids=lambda query: ascii(query[:16]),
)  # fmt: skip
async def test_no_query_text_breaks_the_search(ingest: Any, librarian: Librarian, namespace: str, query: str):
    """User text is data: operators, odd characters and enormous queries give an answer, and no arm fails."""
    await ingest(TEAM[0])
    answer = await librarian.search(namespace, SearchInput(queries=[query]))
    assert not any(status.startswith("failed") for status in answer.arms.values())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(min_size=1, max_size=80))
async def test_lucene_accepts_every_generated_query(librarian: Librarian, query: str):
    """Whatever characters a query has, the terms made of it parse."""
    assert await keyword_candidates(librarian.parts.executor, ItemFilter("nobody"), keyword_query(query), 3) == []


async def test_several_namespaces_are_searched_together(librarian: Librarian, namespace: str, ingest: Any) -> None:
    """The best answer stands first wherever it is, says where that is, and nothing of others is found."""
    other, third = f"{namespace}:other", f"{namespace}:third"
    await ingest({"kind": "memory", "uid": "own", "text": "The canteen serves noodles on Mondays."})
    await ingest({"kind": "memory", "uid": "there", "text": "The crane inspection is on 4 May."}, into=other)
    await ingest({"kind": "memory", "uid": "never", "text": "Crane inspection: 5 May."}, into=third)
    asked = SearchInput(queries=["When is the crane inspection?"], namespaces=[namespace, other])
    found = await librarian.search(namespace, asked)
    assert [(hit.namespace, hit.uid) for hit in found.results][:1] == [(other, "there")]
    assert "never" not in [hit.uid for hit in found.results]
    alone = await librarian.search(other, SearchInput(queries=asked.queries))
    assert [hit.uid for hit in alone.results] == ["there"]
    assert alone.results[0].namespace is None


async def test_a_search_finds_and_describes_in_one_statement(
    librarian: Librarian, namespace: str, ingest: Any, monkeypatch: pytest.MonkeyPatch
):
    """Beside the look at whether a namespace is small, only the hits' items take a second round trip."""
    await ingest(*TEAM[:3])
    question = SearchInput(queries=["what broke the deploy"])
    await librarian.search(namespace, question)
    heard = Heard()
    monkeypatch.setattr(librarian.parts.executor, "observer", heard)
    await librarian.search(namespace, question)
    assert sorted(heard.statements) == ["hydrate_items", "items_of_small_namespace", "search_hybrid"]


class Heard(Silence):
    """The names of the statements that ran."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """Note the name."""
        self.statements.append(statement)
