"""Writers that meet in one namespace."""

import asyncio

TASKS = 8
ITEMS = 120


def overlapping(task):
    """Most of the same items, edges and facts for every task, each in another order."""
    numbers = [(n * 7 + task * 31) % ITEMS for n in range(ITEMS - 10)]
    items = [
        {"kind": "message", "uid": f"m{n}", "message_id": f"m{n}", "conversation_id": f"c{n % 3}", "text": f"turn {n}",
         "position": n}
        for n in numbers
    ]  # fmt: skip
    facts = [
        {"kind": "fact", "uid": f"f{n}", "text": f"fact {n}", "person_id": f"p{n % 5}", "evidence": [f"m{n}"]}
        for n in numbers[:40]
    ]
    edges = [{"kind": "edge", "source": f"m{n}", "target": f"f{n}", "type": "CAUSES"} for n in numbers[:40]]
    return [*items, *facts, *edges]


async def test_writers_of_the_same_rows_at_once_store_each_once(ingest, executor, namespace):
    """Eight tasks with overlapping rows all succeed, and the graph is what one after the other would have made."""
    inputs = [overlapping(task) for task in range(TASKS)]
    await ingest(
        *inputs[0][:1], embed=False
    )  # a writer waits for another one, not for a server that plans its first texts
    reports = await asyncio.gather(*(ingest(*rows, embed=False) for rows in inputs))
    assert [report.errors for report in reports] == [[]] * TASKS
    expected = {row["uid"] for rows in inputs for row in rows if row["kind"] != "edge"}
    causes = {(row["source"], row["target"]) for rows in inputs for row in rows if row["kind"] == "edge"}
    found, _, _ = await executor.driver.execute_query(
        "MATCH (m:Item {namespace: $namespace}) "
        "RETURN m.uid AS uid, [(m)-[:CAUSES]->(t) | t.uid] AS causes, COUNT { (m)-[:NEXT]->() } AS next, "
        "COUNT { (m)-[:EVIDENCED_BY|ABOUT]->() } AS links, COUNT { (m)-[:IN_CONVERSATION]->() } AS conversations",
        {"namespace": namespace},
    )
    messages = [record for record in found if record["uid"].startswith("m")]
    facts = [record for record in found if record["uid"].startswith("f")]
    assert sorted(record["uid"] for record in found) == sorted(expected)
    assert sorted((record["uid"], target) for record in found for target in record["causes"]) == sorted(causes)
    assert {record["conversations"] for record in messages} == {1}
    assert {record["links"] for record in facts} == {2}
    assert sorted(record["next"] for record in messages) == [0] * 3 + [1] * (ITEMS - 3)


async def test_writers_of_the_same_edges_at_once_draw_each_once(ingest, executor, namespace):
    """Edges alone, of each type, between items that are there already: nobody fails and none is doubled."""
    await ingest(*({"kind": "memory", "uid": f"k{n}", "text": f"memory {n}"} for n in range(ITEMS)), embed=False)
    edges = [
        {"kind": "edge", "source": f"k{n}", "target": f"k{n + 1}", "type": kind}
        for n in range(ITEMS - 1)
        for kind in ("CAUSES", "BLOCKS", "ENABLES", "RELATES_TO")
    ]
    reports = await asyncio.gather(*(ingest(*edges[task:], *edges[:task], embed=False) for task in range(TASKS)))
    assert [report.errors for report in reports] == [[]] * TASKS
    found, _, _ = await executor.driver.execute_query(
        "MATCH (:Item {namespace: $namespace})-[r]->(:Item) RETURN count(r) AS edges", {"namespace": namespace}
    )
    assert found[0]["edges"] == len(edges)
