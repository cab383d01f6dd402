"""The causes of an item, its effects, and the connection of two."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graph.executor import Executor
from librarian.app import Librarian
from librarian.base.errors import InvalidInput, NotFound
from librarian.causal.contracts import CausalInput, CausalOutput, NeighbourhoodQuery, PathQuery


def reported(found: CausalOutput) -> list[tuple[str, int, float, bool | None]]:
    return [(item.uid, item.depth, item.confidence, item.is_end) for item in found.items]


def sure(edge: str, confidence: float) -> tuple[str, dict[str, Any]]:
    return edge, {"confidence": confidence}


async def test_root_causes_come_with_depth_confidence_and_quotes(librarian: Librarian, namespace: str, connect: Any):
    """Each cause stands with the product of its path's confidences; what nothing causes is an end."""
    await connect(sure("a CAUSES b", 0.8), sure("b CAUSES c", 0.5), "x BLOCKS c", "c CAUSES d")
    found = await librarian.causes_of(namespace, CausalInput(uid="c"))
    assert reported(found) == [("b", 1, 0.5, False), ("a", 2, 0.4, True)]
    assert (found.item.uid, found.types, found.more) == ("c", ["CAUSES"], False)
    quotes = {edge.edge_id: (edge.source_quote, edge.target_quote) for edge in found.edges}
    assert quotes[f"{namespace}:a-CAUSES-b"] == ("words of a", "words of b")
    assert found.items[1].path == [f"{namespace}:b-CAUSES-c", f"{namespace}:a-CAUSES-b"]


async def test_each_question_follows_its_own_edges(librarian: Librarian, namespace: str, connect: Any):
    """Effects are ahead, causes, blockers and enablers behind; `types` asks for others."""
    await connect("a CAUSES m", "b BLOCKS m", "c ENABLES m", "m CAUSES e", "m BLOCKS f", "r RELATES_TO m")
    asked = CausalInput(uid="m")
    assert [item.uid for item in (await librarian.causes_of(namespace, asked)).items] == ["a"]
    assert [item.uid for item in (await librarian.blockers_of(namespace, asked)).items] == ["b"]
    assert [item.uid for item in (await librarian.enablers_of(namespace, asked)).items] == ["c"]
    assert [item.uid for item in (await librarian.effects_of(namespace, asked)).items] == ["e"]
    wide = CausalInput(uid="m", types=["CAUSES", "BLOCKS"])
    assert [item.uid for item in (await librarian.effects_of(namespace, wide)).items] == ["e", "f"]
    around = await librarian.neighbourhood(namespace, NeighbourhoodQuery(uid="m", max_depth=1))
    assert [item.uid for item in around.items] == ["a", "b", "c", "e", "f", "r"]


async def test_the_shortest_path_counts_and_the_surest_of_equals(librarian: Librarian, namespace: str, connect: Any):
    """An item that several paths reach stands once; edges beside the paths are shown too."""
    await connect(
        sure("a CAUSES b", 0.5), sure("a CAUSES c", 0.9), sure("b CAUSES d", 1.0), sure("c CAUSES d", 0.9), "d CAUSES a"
    )
    found = await librarian.effects_of(namespace, CausalInput(uid="a"))
    assert reported(found) == [("c", 1, 0.9, False), ("b", 1, 0.5, False), ("d", 2, 0.81, False)]
    assert found.items[2].path == [f"{namespace}:a-CAUSES-c", f"{namespace}:c-CAUSES-d"]
    assert {edge.edge_id.removeprefix(f"{namespace}:") for edge in found.edges} == {
        "a-CAUSES-b", "a-CAUSES-c", "b-CAUSES-d", "c-CAUSES-d", "d-CAUSES-a"
    }  # fmt: skip


async def test_limits_cut_and_say_so(librarian: Librarian, namespace: str, connect: Any):
    """`more` is true exactly when depth or number left something out."""
    await connect("a CAUSES b", "b CAUSES c", "c CAUSES d")
    two = await librarian.effects_of(namespace, CausalInput(uid="a", max_depth=2))
    assert ([item.uid for item in two.items], two.more) == (["b", "c"], True)
    three = await librarian.effects_of(namespace, CausalInput(uid="a", max_depth=3))
    assert ([item.uid for item in three.items], three.more) == (["b", "c", "d"], False)
    first = await librarian.effects_of(namespace, CausalInput(uid="a", limit=1))
    assert ([item.uid for item in first.items], first.more) == (["b"], True)


async def test_only_accepted_edges_count_unless_asked(librarian: Librarian, namespace: str, connect: Any):
    """A proposal is followed on request, and says what it is; a rejected edge never is."""
    await connect(("a CAUSES b", {"state": "proposed"}), ("a CAUSES c", {"state": "rejected"}))
    assert (await librarian.effects_of(namespace, CausalInput(uid="a"))).items == []
    found = await librarian.effects_of(namespace, CausalInput(uid="a", include_proposed=True))
    assert [(edge.target, edge.state) for edge in found.edges] == [("b", "proposed")]


async def test_items_outside_of_the_time_are_not_passed_through(
    librarian: Librarian, executor: Executor, namespace: str, connect: Any
):
    """An item that happened too late, or at no known time, hides those behind it."""
    await connect("a CAUSES b", "b CAUSES c", "a CAUSES d")
    for uid, year in (("b", 2025), ("c", 2020)):
        await executor.driver.execute_query(
            "MATCH (n:Item {namespace: $ns, uid: $uid}) SET n.occurred_at = datetime({year: $year})",
            {"ns": namespace, "uid": uid, "year": year},
        )
    late = CausalInput(uid="a", occurred_from=datetime(2022, 1, 1, tzinfo=UTC))
    assert [item.uid for item in (await librarian.effects_of(namespace, late)).items] == ["b"]
    early = CausalInput(uid="a", occurred_to=datetime(2022, 1, 1, tzinfo=UTC))
    assert [item.uid for item in (await librarian.effects_of(namespace, early)).items] == ["d"]


async def test_a_hub_and_a_cycle_end(librarian: Librarian, namespace: str, connect: Any):
    """Of hundreds of edges as many as wanted are followed, the surest; a cycle is walked once."""
    await connect(
        *(sure(f"hub CAUSES x{n:03}", n / 1000) for n in range(1, 300)), "x299 CAUSES hub", "x298 CAUSES x299"
    )
    found = await librarian.effects_of(namespace, CausalInput(uid="hub", max_depth=10, limit=10))
    assert [item.uid for item in found.items] == [f"x{n}" for n in range(299, 289, -1)]
    assert found.more
    assert {(edge.source, edge.target) for edge in found.edges} >= {("x299", "hub"), ("x298", "x299")}


async def test_other_namespaces_are_never_entered(
    librarian: Librarian, executor: Executor, namespace: str, connect: Any, ingest: Any
):
    """An edge that leads to an item of another namespace is no edge, also on the way back into the own one."""
    await connect("a CAUSES b", "c CAUSES d")
    await ingest({"kind": "memory", "uid": "secret", "text": "theirs"}, into=f"{namespace}-theirs", embed=False)
    await executor.driver.execute_query(
        "MATCH (b:Item {namespace: $ns, uid: 'b'}), (c:Item {namespace: $ns, uid: 'c'}), "
        "(s:Item {namespace: $theirs, uid: 'secret'}) "
        "CREATE (b)-[:CAUSES {edge_id: $ns + '1'}]->(s), (s)-[:CAUSES {edge_id: $ns + '2'}]->(c), "
        "(b)-[:CAUSES {edge_id: $ns + '3'}]->(b)",
        {"ns": namespace, "theirs": f"{namespace}-theirs"},
    )
    found = await librarian.effects_of(namespace, CausalInput(uid="a"))
    assert ([item.uid for item in found.items], found.more) == (["b"], False)
    path = await librarian.path_between(namespace, PathQuery(source="a", target="d"))
    assert (path.items, path.more) == ([], False)


async def test_a_path_is_the_shortest_and_surest(librarian: Librarian, namespace: str, connect: Any):
    """Whichever way edges point, unless `directed`; RELATES_TO only when asked for."""
    await connect(
        sure("a CAUSES b", 0.9), sure("a BLOCKS c", 0.5), sure("b CAUSES d", 0.9), sure("c CAUSES d", 0.9),
        sure("e ENABLES d", 0.5), "a RELATES_TO e",
    )  # fmt: skip
    path = await librarian.path_between(namespace, PathQuery(source="a", target="e"))
    assert [item.uid for item in path.items] == ["a", "b", "d", "e"]
    assert [edge.source for edge in path.edges] == ["a", "b", "e"]
    assert path.confidence == pytest.approx(0.405)
    back = await librarian.path_between(namespace, PathQuery(source="e", target="a"))
    assert [item.uid for item in back.items] == ["e", "d", "b", "a"]
    directed = await librarian.path_between(namespace, PathQuery(source="a", target="e", directed=True))
    assert (directed.items, directed.confidence, directed.more) == ([], None, False)
    short = await librarian.path_between(namespace, PathQuery(source="a", target="e", max_depth=2))
    assert (short.items, short.more) == ([], True)
    related = await librarian.path_between(namespace, PathQuery(source="a", target="e", types=["RELATES_TO"]))
    assert [item.uid for item in related.items] == ["a", "e"]


async def test_questions_need_items_that_exist(librarian: Librarian, namespace: str, connect: Any):
    """The fault names the end that is missing."""
    await connect("a CAUSES b")
    with pytest.raises(NotFound):
        await librarian.causes_of(namespace, CausalInput(uid="nobody"))
    for source, target, error, field in (
        ("nobody", "a", NotFound, "$.source"),
        ("a", "nobody", NotFound, "$.target"),
        ("a", "a", InvalidInput, "$.target"),
    ):
        with pytest.raises(error) as fault:
            await librarian.path_between(namespace, PathQuery(source=source, target=target))
        assert fault.value.field == field
