"""`librarian doctor` over the run's graph, and the adoption of edges that were drawn by hand."""

import json
import uuid

import pytest

from librarian.cli.doctor_checks.database import database_checks
from librarian.items.contracts import LinkInput
from librarian.items.edges import adopt_edges
from librarian.items.rows import new_edge


@pytest.fixture
async def other(executor, ingest):
    """A second namespace with the items a and b."""
    name = f"test-{uuid.uuid4().hex[:12]}"
    await ingest(*memories("a", "b"), into=name, embed=False)
    yield name
    await executor.driver.execute_query("MATCH (n {namespace: $name}) DETACH DELETE n", {"name": name})


@pytest.fixture
def draw(executor):
    """Draws relationships as people do in Neo4j Browser: plain Cypher, no edge_id."""

    async def run(namespace, source, kind, target, **properties):
        await executor.driver.execute_query(
            f"MATCH (a:Item {{namespace: $namespace, uid: $source}}), (b:Item {{namespace: $namespace, uid: $target}}) "
            f"CREATE (a)-[r:{kind}]->(b) SET r += $properties",
            {"namespace": namespace, "source": source, "target": target, "properties": properties},
        )

    return run


@pytest.fixture
def edges(executor):
    """All typed relationships that begin at an item of a namespace: (source, type, target, properties)."""

    async def read(namespace):
        found, _, _ = await executor.driver.execute_query(
            "MATCH (a:Item {namespace: $namespace})-[r:CAUSES|BLOCKS|ENABLES|RELATES_TO|PROPOSED]->(b) "
            "RETURN a.uid AS source, type(r) AS type, b.uid AS target, properties(r) AS properties "
            "ORDER BY source, type, target",
            {"namespace": namespace},
        )
        return [(row["source"], row["type"], row["target"], row["properties"]) for row in found]

    return read


def memories(*uids):
    return [{"kind": "memory", "uid": uid, "text": f"memory {uid}"} for uid in uids]


def edge_id(namespace, source, kind, target):
    return new_edge(namespace, LinkInput(source=source, type=kind, target=target)).edge_id


async def check(settings, name):
    return next(check for check in await database_checks(settings) if check.name == name)


async def test_edges_drawn_by_hand_become_edges_like_any_other(cli, ingest, draw, edges, executor, settings, namespace):
    """doctor counts them and names the flag; with it they get the id that `link` would give, method human, full
    confidence, a time, and keep what the human wrote; RELATES_TO runs from the lower uid. A second run finds nothing.
    """
    await ingest(*memories("a", "b", "c"), embed=False)
    await draw(namespace, "a", "CAUSES", "b", reason="I saw it", note="mine")
    await draw(namespace, "c", "RELATES_TO", "b")
    warned = await check(settings, "edges")
    assert (warned.status, "--adopt-edges" in warned.remedy) == ("warning", True)
    code, out, _ = await cli("doctor", "--adopt-edges", "-n", namespace, "--json")
    assert (code, json.loads(out)) == (0, {"adopted": 2, "merged": 0, "left": []})
    causes, relates = await edges(namespace)
    assert causes[:3] == ("a", "CAUSES", "b")
    assert relates[:3] == ("b", "RELATES_TO", "c")
    assert causes[3].pop("created_at")
    assert causes[3] == {
        "edge_id": edge_id(namespace, "a", "CAUSES", "b"),
        "method": "human",
        "confidence": 1.0,
        "reason": "I saw it",
        "note": "mine",
    }
    assert relates[3]["edge_id"] == edge_id(namespace, "c", "RELATES_TO", "b")
    _, out, _ = await cli("doctor", "--adopt-edges", "-n", namespace, "--json")
    assert json.loads(out) == {"adopted": 0, "merged": 0, "left": []}


async def test_what_doubles_an_edge_is_merged_into_it(ingest, draw, edges, executor, namespace):
    """The edge keeps its id and what it says, and takes over what only the drawn one says; two drawn ones, RELATES_TO
    in both directions included, become one; a proposal of the same edge is accepted by it.
    """
    row = {"kind": "edge", "source": "a", "target": "b", "type": "CAUSES", "reason": "known", "confidence": 0.5}
    await ingest(*memories("a", "b", "c"), row, embed=False)
    await draw(namespace, "a", "CAUSES", "b", reason="drawn", source_quote="quoted")
    await draw(namespace, "b", "RELATES_TO", "c")
    await draw(namespace, "c", "RELATES_TO", "b", reason="again")
    await draw(namespace, "a", "BLOCKS", "c")
    await draw(namespace, "a", "PROPOSED", "c", type="BLOCKS", edge_id=f"proposed-{namespace}", state="proposed")
    done = await adopt_edges(executor, namespace)
    assert (done.adopted, done.merged, done.left) == (2, 1, ())
    blocks, causes, relates = await edges(namespace)
    assert (blocks[1], blocks[3]["edge_id"]) == ("BLOCKS", f"proposed-{namespace}")
    assert causes[3]["edge_id"] == edge_id(namespace, "a", "CAUSES", "b")
    assert (causes[3]["reason"], causes[3]["confidence"], causes[3]["source_quote"]) == ("known", 0.5, "quoted")
    assert (relates[:3], relates[3]["reason"]) == (("b", "RELATES_TO", "c"), "again")


async def test_what_no_edge_may_be_is_reported_and_left_alone(
    ingest, draw, edges, executor, settings, namespace, other
):
    """Across namespaces, from an item to itself, to a node that is no item: told with examples, never adopted; and
    another namespace's edges are not touched.
    """
    await ingest(*memories("a"), embed=False)
    await draw(namespace, "a", "CAUSES", "a")
    await draw(other, "a", "ENABLES", "b")
    await executor.driver.execute_query(
        "MATCH (a:Item {namespace: $namespace, uid: 'a'}), (b:Item {namespace: $other, uid: 'b'}) "
        "CREATE (a)-[:BLOCKS]->(b) CREATE (a)-[:CAUSES]->(:Scribble {namespace: $namespace})",
        {"namespace": namespace, "other": other},
    )
    before = await edges(namespace)
    done = await adopt_edges(executor, namespace)
    assert (done.adopted, done.merged) == (0, 0)
    assert sorted(reason.partition(": ")[2].partition(" (")[0] for reason in done.left) == [
        "an end is no item",
        "it crosses namespaces",
        "it leads from an item to itself",
    ]
    assert await edges(namespace) == before
    assert [edge[3] for edge in await edges(other)] == [{}]
    assert "--adopt-edges" in (await check(settings, "edges")).remedy
    assert (await adopt_edges(executor, other)).adopted == 1
    assert "delete them" in (await check(settings, "edges")).remedy
    await executor.driver.execute_query("MATCH (n {namespace: $name}) DETACH DELETE n", {"name": namespace})


async def test_a_sound_graph_is_found_sound(cli, ingest):
    """Each check of the graph is there and none fails; --namespace means nothing without --adopt-edges."""
    await ingest(*memories("a"))
    code, out, _ = await cli("doctor", "--json")
    checks = {check["name"]: check["status"] for check in json.loads(out)}
    assert (code, "failed" in checks.values()) == (0, False)
    assert {checks[name] for name in ("database", "clock", "schema", "embeddings")} == {"ok"}
    assert (await cli("doctor", "--namespace", "x"))[0] == 65


async def test_items_that_nobody_encodes_are_told(settings, ingest, librarian):
    """Pending items are a warning while no service runs; they are none when they have their vectors."""
    await ingest(*memories("a"), embed=False)
    waiting = await check(settings, "embeddings")
    if settings.neo4j.uri is None:
        assert (waiting.status, "wait for a vector" in waiting.detail) == ("warning", True)
    await librarian.embed_pending()
    assert (await check(settings, "embeddings")).status == "ok"


async def test_a_space_that_is_not_active_or_has_no_index_is_told(settings, ingest, librarian, executor):
    """No active space, an active one without an index, and vectors beside it: each with its remedy."""
    await ingest(*memories("a"))
    run, space = executor.driver.execute_query, librarian.parts.space.space
    try:
        await run("MATCH (s:EmbeddingSpace {space: $space}) SET s.active = false", {"space": space})
        off = await check(settings, "embeddings")
        assert (off.status, "embeddings switch" in off.remedy) == ("failed", True)
        await run("CREATE (:EmbeddingSpace {space: 'made_up', model: 'made-up', dimension: 2, active: true})")
        missing = await check(settings, "embeddings")
        assert (missing.status, "MISSING" in missing.detail) == ("failed", True)
        await run("MATCH (s:EmbeddingSpace) SET s.active = s.space = $space", {"space": space})
        await run("CREATE (:Embedding:Embedding_made_up {space: 'made_up'})")
        beside = await check(settings, "embeddings")
        assert (beside.status, "1 of made-up" in beside.detail) == ("warning", True)
    finally:
        await run("MATCH (n:EmbeddingSpace|Embedding {space: 'made_up'}) DELETE n")
        await run("MATCH (s:EmbeddingSpace {space: $space}) SET s.active = true", {"space": space})
    assert (await check(settings, "embeddings")).status == "ok"
