"""The neighbours of the best hits in the graph, as a third arm."""

from dataclasses import replace
from typing import Any

import pytest

from cypher.loader import load
from graph.executor import Executor
from graph.types import ItemFilter
from librarian.app import Librarian
from librarian.base.settings.settings import SearchSettings
from librarian.items.contracts import LinkInput
from librarian.search.contracts import SearchInput
from librarian.search.search import search
from retrieval.judging import ANSWER
from retrieval.pipeline import Reach, SearchPipeline, VectorArm
from retrieval.types import BOTH_ARMS, GRAPH, SearchRequest

QUERY = "is the ferry late"


@pytest.fixture
async def harbor(ingest: Any, librarian: Librarian, namespace: str) -> str:
    """Notes about a ferry; two about other things, one of which caused it to be late."""
    await ingest(
        {"kind": "memory", "uid": "late", "text": "The ferry is late because of the pilot.", "type": "Problem"},
        *({"kind": "memory", "uid": f"ferry{i}", "text": f"The ferry had {i + 3} guests."} for i in range(12)),
        {"kind": "memory", "uid": "cause", "text": "Anna broke her arm while skiing.", "type": "Reference"},
        {"kind": "memory", "uid": "proposed", "text": "Bakers need more flour."},
    )
    await librarian.link(namespace, LinkInput(source="cause", type="CAUSES", target="late"))
    await librarian.parts.executor.driver.execute_query(
        "MATCH (a:Item {namespace: $namespace, uid: 'proposed'}), (b:Item {namespace: $namespace, uid: 'late'}) "
        "CREATE (a)-[:PROPOSED {edge_id: $namespace + ':p', type: 'BLOCKS', state: 'proposed'}]->(b)",
        namespace=namespace,
    )
    return namespace


def narrow(librarian: Librarian, executor: Executor | None = None) -> SearchPipeline:
    """A search that looks at few rows, so that what is about other things is not among them."""
    parts = librarian.parts
    return SearchPipeline(
        executor or parts.executor, VectorArm(parts.encoder, parts.space.calibrations), Reach(1, 5, 5, whole=False)
    )


def asking(namespace: str, arms: frozenset[str] = BOTH_ARMS | {GRAPH}, **where: Any) -> SearchRequest:
    """Five hits are looked for, and what else was found by the way is shown too."""
    return SearchRequest([QUERY], ItemFilter(namespace, **where), limit=5, spare=10, arms=arms, explain=True)


async def test_the_accepted_neighbour_of_a_hit_comes_in(librarian: Librarian, harbor: str):
    """An item that an accepted edge joins to a hit is found although no word or vector leads there; a proposal leads
    nowhere. Its share and similarity are told.
    """
    without = await narrow(librarian).search(asking(harbor, BOTH_ARMS))
    assert {hit.item.uid for hit in without.hits} & {"cause", "proposed"} == set()
    assert GRAPH not in without.arms
    result = await narrow(librarian).search(asking(harbor))
    found = {hit.item.uid: hit for hit in result.hits}
    assert result.arms == {"vector": "ok", "keyword": "ok", "graph": "ok"}
    assert result.hits[0].item.uid == "late"
    assert "proposed" not in found
    assert [share.arm for share in found["cause"].shares] == ["graph"]
    assert [share.signal for share in found["cause"].signals if share.signal != ANSWER and share.share > 0][
        -1
    ] == "graph"
    assert found["cause"].similarity is not None


@pytest.mark.parametrize("method", ["linear", "rrf", "score_sum", "score_max"])
async def test_every_fusion_takes_it_in(librarian: Librarian, harbor: str, method: Any):
    """The arm is one more ranking, whatever joins the rankings."""
    result = await narrow(librarian).search(replace(asking(harbor), fusion_method=method))
    assert "cause" in {hit.item.uid for hit in result.hits}


async def test_filters_hold_for_neighbours(librarian: Librarian, harbor: str):
    """An edge is no way round a filter."""
    result = await narrow(librarian).search(asking(harbor, types=["Problem"]))
    assert [hit.item.uid for hit in result.hits] == ["late"]


async def test_the_evidence_of_a_fact_comes_in(ingest: Any, librarian: Librarian, namespace: str):
    """An evidence link leads from a fact to its message."""
    await ingest(
        *({"kind": "memory", "uid": f"m{i}", "text": f"The ferry had {i + 3} guests."} for i in range(12)),
        {"kind": "message", "uid": "said", "author": "Mia", "text": "OK, noon then.", "conversation_id": "c"},
    )
    await ingest({"kind": "fact", "uid": "f", "text": "The ferry is late today.", "evidence": ["said"]})
    result = await narrow(librarian).search(asking(namespace))
    assert "said" in {hit.item.uid for hit in result.hits}


async def test_a_broken_arm_leaves_the_others(librarian: Librarian, harbor: str):
    """A statement that fails is said in `arms`; the hits are those of the other arms."""
    statements = dict(load())
    broken = statements["search_neighbours"]
    statements["search_neighbours"] = replace(broken, text="CYPHER 25 RETURN 1 / 0 AS broken")
    limping = narrow(librarian, Executor(librarian.parts.executor.driver, statements=statements))
    result = await limping.search(asking(harbor))
    assert result.arms["graph"].startswith("failed: ")
    assert result.hits[0].item.uid == "late"


async def test_the_setting_turns_it_on(librarian: Librarian, harbor: str):
    """LIBRARIAN_GRAPH_ARM decides whether a search asks it."""
    parts = librarian.parts
    for on in (False, True):
        settings = SearchSettings(graph_arm=on)
        answer = await search(parts.pipeline, parts.reranking, harbor, SearchInput(queries=[QUERY]), settings)
        assert ("graph" in answer.arms) is on
