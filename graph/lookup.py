"""One item as a typed object."""

from graph.executor import Executor
from graph.models import Item, inflate_item


async def get_object(executor: Executor, namespace: str, uid: str) -> Item | None:
    """Return the item `uid` of `namespace` as its neomodel class, read-only, or None."""
    row = await executor.fetch_one("get_item", {"namespace": namespace, "uid": uid})
    return None if row is None else inflate_item(row["node"])
