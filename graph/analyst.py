"""Marks a copy of the graph as one for analysts."""

from collections.abc import Sequence
from datetime import datetime

from graph.executor import Executor

_SETTLED_AT_ONCE = 5000


async def stamp_copy(
    executor: Executor, name: str, *, taken_at: datetime, namespaces: Sequence[str], items: int
) -> None:
    """Mark a freshly filled graph as a copy for analysts; its items stop waiting for vectors, which will not come."""
    while True:
        found = await executor.write("settle_copy", {"limit": _SETTLED_AT_ONCE})
        if found[0]["settled"] < _SETTLED_AT_ONCE:
            break
    await executor.write(
        "stamp_copy", {"name": name, "taken_at": taken_at, "namespaces": list(namespaces), "items": items}
    )
