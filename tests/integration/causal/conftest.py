"""A graph of memories in the test's namespace, drawn from triples."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph.executor import Executor

Connect = Callable[..., Awaitable[None]]


@pytest.fixture
def connect(executor: Executor, namespace: str, ingest: Any) -> Connect:
    """Stores memories named by the ends of edges given as "a CAUSES b" or ("a CAUSES b", properties), and draws the
    edges; the id of an edge is `namespace:a-CAUSES-b`.
    """

    async def run(*edges: str | tuple[str, dict[str, Any]]) -> None:
        drawn = [(edge, {}) if isinstance(edge, str) else edge for edge in edges]
        parts = [(edge.split(), properties) for edge, properties in drawn]
        uids = sorted({uid for (source, _, target), _ in parts for uid in (source, target)})
        await ingest(*({"kind": "memory", "uid": uid, "text": f"memory {uid}"} for uid in uids), embed=False)
        rows = [
            {
                "source": source,
                "target": target,
                "label": "PROPOSED" if "state" in properties else kind,
                "properties": {
                    "edge_id": f"{namespace}:{source}-{kind}-{target}",
                    "method": "rule",
                    "source_quote": f"words of {source}",
                    "target_quote": f"words of {target}",
                    **({"type": kind} if "state" in properties else {}),
                    **properties,
                },
            }
            for (source, kind, target), properties in parts
        ]
        await executor.driver.execute_query(
            "UNWIND $rows AS row "
            "MATCH (a:Item {namespace: $ns, uid: row.source}), (b:Item {namespace: $ns, uid: row.target}) "
            "CREATE (a)-[r:$(row.label)]->(b) SET r = row.properties",
            {"ns": namespace, "rows": rows},
        )

    return run
