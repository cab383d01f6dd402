"""Listing typed edges."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as property_settings
from hypothesis import strategies as st

from graph.executor import Executor
from librarian.app import Librarian
from librarian.base.errors import InvalidInput, NotFound
from librarian.items.contracts import EdgeOut, EdgeQuery, LinkInput, UnlinkInput

TYPES = ("CAUSES", "BLOCKS", "ENABLES", "RELATES_TO")
STATES = ("accepted", "proposed", "rejected")
METHODS = ("rule", "llm", "human")
UIDS = "abcdef"


@pytest.fixture(scope="module")
async def crowd(librarian: Librarian, executor: Executor) -> Any:
    """A namespace where most pairs of six items are joined, in every type, state and method."""
    name = "edges-crowd"
    pairs = [(a, b) for a in UIDS for b in UIDS if a != b]
    rows = []
    for number, (a, b) in enumerate(pairs):
        kind = TYPES[number % 4]
        state = STATES[number // 2 % 3]
        if kind == "RELATES_TO" and a > b:
            continue
        own = {"edge_id": f"{name}-{number:03}", "method": METHODS[number % 3], "confidence": 0.5}
        label = kind if state == "accepted" else "PROPOSED"
        if label == "PROPOSED":
            own |= {"type": kind, "state": state}
        rows.append({"a": a, "b": b, "label": label, "own": own})
    await executor.driver.execute_query(
        "UNWIND $uids AS uid CREATE (:Item:Memory {namespace: $ns, uid: uid, kind: 'memory', name: uid, text: uid})",
        {"ns": name, "uids": list(UIDS)},
    )
    await executor.driver.execute_query(
        "UNWIND $rows AS row MATCH (a:Item {namespace: $ns, uid: row.a}), (b:Item {namespace: $ns, uid: row.b}) "
        "CREATE (a)-[r:$(row.label)]->(b) SET r = row.own",
        {"ns": name, "rows": rows},
    )
    yield name
    await executor.driver.execute_query("MATCH (n {namespace: $ns}) DETACH DELETE n", {"ns": name})


def holds(edge: EdgeOut, query: EdgeQuery) -> bool:
    """The conditions of EdgeQuery, in the plainest way."""
    ways = [(edge.source, edge.target)]
    if edge.type == "RELATES_TO":
        ways.append((edge.target, edge.source))
    return (
        (query.uid is None or query.uid in (edge.source, edge.target))
        and any(query.source in (None, source) and query.target in (None, target) for source, target in ways)
        and (query.types is None or edge.type in query.types)
        and (query.states is None or edge.state in query.states)
        and (query.methods is None or edge.method in query.methods)
    )


def some(values: Any) -> Any:
    return st.none() | st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True)


queries = st.builds(
    EdgeQuery,
    uid=st.none() | st.sampled_from(UIDS),
    source=st.none() | st.sampled_from(UIDS),
    target=st.none() | st.sampled_from(UIDS),
    types=some(TYPES),
    states=some(STATES),
    methods=some(METHODS),
    limit=st.integers(1, 12),
)


async def pages(librarian: Librarian, namespace: str, query: EdgeQuery) -> list[EdgeOut]:
    """All pages of a query, each within its limit."""
    found: list[EdgeOut] = []
    query.cursor = None
    while True:
        page = await librarian.list_edges(namespace, query)
        assert len(page.edges) <= query.limit
        found += page.edges
        if page.next_cursor is None:
            return found
        assert page.edges
        query.cursor = page.next_cursor


@given(data=st.data())
@property_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_a_list_holds_what_a_plain_filter_keeps(data: st.DataObject, librarian: Librarian, crowd: str):
    """For any conditions and page size: every edge that fulfils them once, by edge_id."""
    everything = await pages(librarian, crowd, EdgeQuery(limit=500))
    assert len(everything) > 20
    query = data.draw(queries)
    found = await pages(librarian, crowd, query)
    assert found == [edge for edge in everything if holds(edge, query)]
    assert [edge.edge_id for edge in found] == sorted(edge.edge_id for edge in found)


async def test_a_cursor_belongs_to_its_query(librarian: Librarian, crowd: str):
    """It serves the same conditions with any page size, and no others; what is no cursor is the caller's fault."""
    first = await librarian.list_edges(crowd, EdgeQuery(types=["CAUSES"], limit=2))
    rest = await librarian.list_edges(crowd, EdgeQuery(types=["CAUSES"], limit=500, cursor=first.next_cursor))
    assert rest.next_cursor is None
    assert first.edges[-1].edge_id < rest.edges[0].edge_id
    for query in (EdgeQuery(cursor=first.next_cursor), EdgeQuery(types=["CAUSES"], cursor="fancy")):
        with pytest.raises(InvalidInput) as fault:
            await librarian.list_edges(crowd, query)
        assert fault.value.field == "$.cursor"


async def test_edges_across_namespaces_are_nobodys(
    ingest: Any, librarian: Librarian, executor: Executor, namespace: str
):
    """Planted edges into another namespace with the same uids are not listed, read or removed, from either side."""
    other = f"{namespace}-other"
    rows = [{"kind": "memory", "uid": uid, "text": uid} for uid in ("a", "b")]
    await ingest(*rows, embed=False)
    await ingest(*rows, into=other, embed=False)
    await executor.driver.execute_query(
        "MATCH (a:Item {namespace: $ns, uid: 'a'}), (b:Item {namespace: $other, uid: 'b'}) "
        "CREATE (a)-[:CAUSES {edge_id: $id + '1'}]->(b), (b)-[:BLOCKS {edge_id: $id + '2'}]->(a), "
        "(a)-[:PROPOSED {edge_id: $id + '3', type: 'CAUSES', state: 'proposed'}]->(b)",
        {"ns": namespace, "other": other, "id": namespace},
    )
    for name in (namespace, other):
        assert (await librarian.list_edges(name, EdgeQuery())).edges == []
        assert (await librarian.list_edges(name, EdgeQuery(uid="a"))).edges == []
        for edge_id in (f"{namespace}{number}" for number in (1, 2, 3)):
            with pytest.raises(NotFound):
                await librarian.get_edge(name, edge_id)
            with pytest.raises(NotFound):
                await librarian.unlink(name, UnlinkInput(edge_id=edge_id))
    made = await librarian.link(namespace, LinkInput(source="a", type="CAUSES", target="b"))
    assert (await librarian.list_edges(namespace, EdgeQuery())).edges == [made.edge]
    assert (await librarian.list_edges(other, EdgeQuery())).edges == []
    with pytest.raises(NotFound):
        await librarian.unlink(other, UnlinkInput(source="a", type="CAUSES", target="b"))
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $ns})-[r]-(:Item {namespace: $other}) RETURN count(r) AS edges",
        {"ns": namespace, "other": other},
    )
    assert found[0]["edges"] == 3


async def test_an_edge_drawn_by_hand_is_shown_once_it_has_an_id(
    ingest: Any, librarian: Librarian, executor: Executor, namespace: str
):
    """Without an edge_id it is not listed; with nothing but one it is a human's accepted edge."""
    await ingest(*({"kind": "memory", "uid": uid, "text": uid} for uid in "abc"), embed=False)
    await executor.driver.execute_query(
        "MATCH (a:Item {namespace: $ns, uid: 'a'}), (b:Item {namespace: $ns, uid: 'b'}), "
        "(c:Item {namespace: $ns, uid: 'c'}) CREATE (a)-[:CAUSES]->(b), (a)-[:CAUSES {edge_id: $ns}]->(c)",
        {"ns": namespace},
    )
    (shown,) = (await librarian.list_edges(namespace, EdgeQuery(uid="a", methods=["human"]))).edges
    assert (shown.target, shown.method, shown.state, shown.confidence) == ("c", "human", "accepted", 1.0)
