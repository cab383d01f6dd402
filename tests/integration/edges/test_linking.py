"""Drawing and removing typed edges."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from graph.executor import Executor
from librarian.app import Librarian
from librarian.base.audit import actor
from librarian.base.errors import InvalidInput, NotFound
from librarian.items.contracts import EdgeOut, EdgeQuery, LinkInput, UnlinkInput

pytestmark = pytest.mark.usefixtures("items")


def edge(source: str = "a", kind: Any = "CAUSES", target: str = "b", **more: Any) -> LinkInput:
    return LinkInput(source=source, type=kind, target=target, **more)


async def all_edges(librarian: Librarian, namespace: str) -> list[EdgeOut]:
    return (await librarian.list_edges(namespace, EdgeQuery())).edges


async def test_a_new_edge_is_a_humans(librarian: Librarian, namespace: str):
    """Every given field is stored and comes back, with method human and the time of its making."""
    given = {"confidence": 0.8, "reason": "said so", "source_quote": "from a", "target_quote": "from b"}
    answer = await librarian.link(namespace, edge(**given))
    made = answer.edge
    assert (answer.created, answer.notes) == (True, [])
    assert (made.source, made.type, made.target, made.state, made.method) == ("a", "CAUSES", "b", "accepted", "human")
    assert {name: getattr(made, name) for name in given} == given
    assert made.created_at is not None
    assert (made.reviewed_by, made.reviewed_at) == (None, None)
    assert await librarian.get_edge(namespace, made.edge_id) == made


async def test_the_same_edge_again_changes_nothing(librarian: Librarian, namespace: str):
    """A second link with the same values, or fewer, answers with the stored edge, and no write is logged."""
    first = await librarian.link(namespace, edge(reason="said so"))
    with capture_logs() as logs:
        again = await librarian.link(namespace, edge(reason="said so"))
        fewer = await librarian.link(namespace, edge())
    assert (again.created, fewer.created) == (False, False)
    assert first.edge == again.edge == fewer.edge
    assert [log for log in logs if log["event"] == "audit"] == []


async def test_other_values_replace_what_was_given_before(librarian: Librarian, namespace: str):
    """Values given now replace, those left out stay, the edge keeps its id and its birth."""
    first = (await librarian.link(namespace, edge(reason="before", source_quote="kept"))).edge
    token = actor.set("key-7")
    changed = (await librarian.link(namespace, edge(reason="now", confidence=0.4))).edge
    actor.reset(token)
    assert (changed.edge_id, changed.created_at) == (first.edge_id, first.created_at)
    assert (changed.reason, changed.confidence, changed.source_quote) == ("now", 0.4, "kept")
    assert changed.reviewed_by == "key-7"
    assert changed.reviewed_at is not None


@pytest.mark.parametrize("method", ["rule", "llm"])
async def test_a_machines_edge_becomes_a_humans(method: str, librarian: Librarian, namespace: str, draw: Any):
    """Linking what a rule or model had drawn makes it human, and says by whom; where it came from is kept."""
    await draw("a", "CAUSES", "b", edge_id=f"{namespace}-e", method=method, confidence=0.7, run_id="sweep-1")
    answer = await librarian.link(namespace, edge())
    made = answer.edge
    assert (answer.created, made.edge_id, made.method, made.run_id) == (False, f"{namespace}-e", "human", "sweep-1")
    assert (made.confidence, made.reviewed_by) == (1.0, "python")
    assert await all_edges(librarian, namespace) == [made]


@pytest.mark.parametrize("state", ["proposed", "rejected"])
async def test_a_proposal_becomes_the_accepted_edge(
    state: str, librarian: Librarian, executor: Executor, namespace: str, draw: Any
):
    """A human's word accepts a proposal, a rejected one too: one edge, the same id, nothing of the proposal left."""
    proposal = {"edge_id": f"{namespace}-p", "type": "CAUSES", "state": state, "method": "rule", "model": "rules-1"}
    await draw("a", "PROPOSED", "b", **proposal)
    other = {**proposal, "edge_id": f"{namespace}-q", "type": "BLOCKS"}
    await draw("a", "PROPOSED", "b", **other)
    answer = await librarian.link(namespace, edge(reason="it does"))
    assert (answer.created, answer.edge.edge_id, answer.edge.state) == (False, f"{namespace}-p", "accepted")
    assert (answer.edge.model, answer.edge.reviewed_by) == ("rules-1", "python")
    assert [(found.edge_id, found.type, found.state) for found in await all_edges(librarian, namespace)] == [
        (f"{namespace}-p", "CAUSES", "accepted"),
        (f"{namespace}-q", "BLOCKS", state),
    ]
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $ns})-[r:CAUSES]->() RETURN r.type AS type, r.state AS state", {"ns": namespace}
    )
    assert [record.data() for record in found] == [{"type": None, "state": None}]


async def test_an_ingested_edge_accepts_its_proposal_too(ingest: Any, librarian: Librarian, namespace: str, draw: Any):
    """A row is a human's word as well; the edge keeps the id that the proposal had."""
    await draw("a", "PROPOSED", "b", edge_id=f"{namespace}-p", type="CAUSES", state="proposed", method="rule")
    report = await ingest({"kind": "edge", "source": "a", "target": "b", "type": "CAUSES"}, embed=False)
    assert report.added == 1
    assert [(found.edge_id, found.state) for found in await all_edges(librarian, namespace)] == [
        (f"{namespace}-p", "accepted")
    ]


async def test_an_edge_without_an_id_gives_way(librarian: Librarian, executor: Executor, namespace: str, draw: Any):
    """An edge that somebody drew in the Browser is not doubled by a link; other types between the two stay."""
    await draw("a", "CAUSES", "b", mood="certain")
    await draw("a", "CAUSES", "b")
    await draw("a", "ENABLES", "b")
    assert await all_edges(librarian, namespace) == []
    made = await librarian.link(namespace, edge())
    assert made.created
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $ns})-[r]->(:Item) RETURN type(r) AS type, r.edge_id AS id ORDER BY type",
        {"ns": namespace},
    )
    assert [tuple(record.values()) for record in found] == [("CAUSES", made.edge.edge_id), ("ENABLES", None)]


async def test_relates_to_has_no_direction(librarian: Librarian, namespace: str):
    """It is stored from the lower to the higher uid, quotes with their ends; both ways round are one edge."""
    given = {"source_quote": "in d", "target_quote": "in a"}
    first = await librarian.link(namespace, edge("d", "RELATES_TO", "a", **given))
    other = await librarian.link(namespace, edge("a", "RELATES_TO", "d"))
    assert (first.edge.source, first.edge.target) == ("a", "d")
    assert (first.edge.source_quote, first.edge.target_quote) == ("in a", "in d")
    assert (other.created, other.edge) == (False, first.edge)
    removed = await librarian.unlink(namespace, UnlinkInput(source="d", type="RELATES_TO", target="a"))
    assert removed == first.edge


@pytest.mark.parametrize(
    ("source", "target", "error", "field"),
    [
        ("a", "a", InvalidInput, "$.target"),
        ("nobody", "a", NotFound, "$.source"),
        ("a", "nobody", NotFound, "$.target"),
        ("nobody", "no-one", NotFound, "$.source"),
    ],
)
@pytest.mark.parametrize("kind", ["CAUSES", "RELATES_TO"])
async def test_an_edge_needs_two_existing_items(
    kind: str, source: str, target: str, error: type[Exception], field: str, librarian: Librarian, namespace: str
):
    """The fault names the end as the caller gave it."""
    with pytest.raises(error) as fault:
        await librarian.link(namespace, edge(source, kind, target))
    assert getattr(fault.value, "field", None) == field
    assert await all_edges(librarian, namespace) == []


@pytest.mark.parametrize(("first", "second"), [("CAUSES", "BLOCKS"), ("BLOCKS", "CAUSES")])
async def test_a_contradiction_is_allowed_and_said(first: Any, second: Any, librarian: Librarian, namespace: str):
    """CAUSES and BLOCKS on one pair: a human may, and hears of it; other directions and types contradict nothing."""
    assert (await librarian.link(namespace, edge(kind=first))).notes == []
    assert (await librarian.link(namespace, edge("b", second, "a"))).notes == []
    assert (await librarian.link(namespace, edge(kind="ENABLES"))).notes == []
    (note,) = (await librarian.link(namespace, edge(kind=second))).notes
    assert "contradiction" in note


async def test_an_edge_is_removed_by_id_or_ends(librarian: Librarian, namespace: str):
    """Either way the removed edge is returned and gone, its neighbours stay; a second time there is none."""
    by_id = (await librarian.link(namespace, edge())).edge
    by_ends = (await librarian.link(namespace, edge(target="c"))).edge
    kept = (await librarian.link(namespace, edge(kind="ENABLES"))).edge
    ways = {by_id.edge_id: UnlinkInput(edge_id=by_id.edge_id)}
    ways[by_ends.edge_id] = UnlinkInput(source="a", type="CAUSES", target="c")
    for edge_id, which in ways.items():
        with capture_logs() as logs:
            assert (await librarian.unlink(namespace, which)).edge_id == edge_id
        assert [(log["action"], log["edge_id"]) for log in logs if log["event"] == "audit"] == [
            ("edge.unlink", edge_id)
        ]
        with pytest.raises(NotFound):
            await librarian.unlink(namespace, which)
    assert await all_edges(librarian, namespace) == [kept]


async def test_a_proposal_is_removed_by_its_id_only(librarian: Librarian, namespace: str, draw: Any):
    """Its ends name the accepted edge, which a proposal is not."""
    await draw("a", "PROPOSED", "b", edge_id=f"{namespace}-p", type="CAUSES", state="proposed", method="llm")
    with pytest.raises(NotFound):
        await librarian.unlink(namespace, UnlinkInput(source="a", type="CAUSES", target="b"))
    removed = await librarian.unlink(namespace, UnlinkInput(edge_id=f"{namespace}-p"))
    assert (removed.state, removed.method) == ("proposed", "llm")
    assert await all_edges(librarian, namespace) == []


@pytest.mark.parametrize(
    ("which", "field"),
    [
        (UnlinkInput(), "$.edge_id"),
        (UnlinkInput(edge_id="e", source="a", type="CAUSES", target="b"), "$.edge_id"),
        (UnlinkInput(edge_id="e", source="a"), "$.edge_id"),
        (UnlinkInput(source="a", type="CAUSES"), "$.target"),
        (UnlinkInput(type="CAUSES", target="b"), "$.source"),
        (UnlinkInput(source="a", target="b"), "$.type"),
    ],
)
async def test_an_edge_is_named_in_exactly_one_way(
    which: UnlinkInput, field: str, librarian: Librarian, namespace: str
):
    """Neither, both or half of a name is the caller's fault and removes nothing."""
    made = (await librarian.link(namespace, edge())).edge
    with pytest.raises(InvalidInput) as fault:
        await librarian.unlink(namespace, which)
    assert fault.value.field == field
    assert await all_edges(librarian, namespace) == [made]


async def test_twenty_who_draw_one_edge_draw_one(librarian: Librarian, executor: Executor, namespace: str):
    """Of many equal links at once, both ways round, one creates the edge and the others find it."""
    links = [edge("a", "RELATES_TO", "b"), edge("b", "RELATES_TO", "a")] * 10
    answers = await asyncio.gather(*(librarian.link(namespace, link) for link in links))
    assert [answer.created for answer in answers].count(True) == 1
    assert len({answer.edge.edge_id for answer in answers}) == 1
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $ns})-[r]->(:Item) RETURN count(r) AS edges", {"ns": namespace}
    )
    assert found[0]["edges"] == 1


async def test_no_change_of_parallel_ones_is_lost(librarian: Librarian, namespace: str, draw: Any):
    """A proposal accepted by many at once is accepted once, and each one's value that nobody else gave is kept."""
    await draw("a", "PROPOSED", "b", edge_id=f"{namespace}-p", type="CAUSES", state="proposed", method="llm")
    fields = ["reason", "source_quote", "target_quote"]
    links = [edge(**{field: field}) for field in fields * 5]
    answers = await asyncio.gather(*(librarian.link(namespace, link) for link in links))
    assert {answer.edge.edge_id for answer in answers} == {f"{namespace}-p"}
    (stands,) = await all_edges(librarian, namespace)
    assert [getattr(stands, field) for field in fields] == fields


async def test_one_of_many_removes_an_edge(librarian: Librarian, namespace: str):
    """Of many who remove it at once one gets it, the others hear that there is none."""
    made = (await librarian.link(namespace, edge())).edge
    removals = (librarian.unlink(namespace, UnlinkInput(edge_id=made.edge_id)) for _ in range(12))
    answers = await asyncio.gather(*removals, return_exceptions=True)
    assert answers.count(made) == 1
    assert all(isinstance(answer, NotFound) for answer in answers if answer != made)


async def test_linking_beside_a_deletion(librarian: Librarian, executor: Executor, ingest: Any, namespace: str):
    """An end that goes while an edge is drawn: the edge goes with it, or the end is not found; nothing worse."""
    for attempt in range(10):
        uid = f"doomed-{attempt}"
        await ingest({"kind": "memory", "uid": uid, "text": "soon gone"}, embed=False)
        deletion = executor.driver.execute_query(
            "MATCH (m:Item {namespace: $ns, uid: $uid}) DETACH DELETE m", {"ns": namespace, "uid": uid}
        )
        links = [librarian.link(namespace, edge("a", kind, uid)) for kind in ("CAUSES", "BLOCKS", "ENABLES")]
        answers = await asyncio.gather(deletion, *links, return_exceptions=True)
        assert [fault for fault in answers if isinstance(fault, Exception) and not isinstance(fault, NotFound)] == []
    assert await all_edges(librarian, namespace) == []
