"""A copy of the graph for analysts: what is different about it."""

from collections.abc import Sequence
from datetime import datetime

from graph.executor import Executor

_SETTLED_AT_ONCE = 5000


async def stamp_copy(
    executor: Executor, name: str, *, taken_at: datetime, namespaces: Sequence[str], items: int
) -> None:
    """Make a graph that was just filled a copy: a node says so, and no item waits for a vector that will not come."""
    while True:
        found = await executor.write("settle_copy", {"limit": _SETTLED_AT_ONCE})
        if found[0]["settled"] < _SETTLED_AT_ONCE:
            break
    await executor.write(
        "stamp_copy", {"name": name, "taken_at": taken_at, "namespaces": list(namespaces), "items": items}
    )
