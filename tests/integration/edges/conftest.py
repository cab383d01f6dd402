"""Items to draw edges between, and edges as a sweep or a person with the Browser would have left them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph.executor import Executor

Draw = Callable[..., Awaitable[None]]


@pytest.fixture
async def items(ingest: Any) -> None:
    """Memories `a`, `b`, `c` and `d` without vectors."""
    await ingest(*({"kind": "memory", "uid": uid, "text": f"memory {uid}"} for uid in "abcd"), embed=False)


@pytest.fixture
def draw(executor: Executor, namespace: str) -> Draw:
    """Draws a relationship past our own statements."""

    async def run(source: str, kind: str, target: str, **properties: Any) -> None:
        await executor.driver.execute_query(
            "MATCH (a:Item {namespace: $ns, uid: $a}), (b:Item {namespace: $ns, uid: $b}) "
            "CREATE (a)-[r:$($kind)]->(b) SET r = $properties",
            {"ns": namespace, "a": source, "b": target, "kind": kind, "properties": properties},
        )

    return run
