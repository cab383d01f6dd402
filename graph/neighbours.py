"""Items that stand beside others in the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.executor import Executor
from graph.search import filter_params
from graph.types import ItemFilter


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item that an accepted typed edge or an evidence link, in either direction, joins to the item `seed`.

    `confidence` (0..1) is the edge's; 1 where it has none.
    """

    seed: str
    uid: str
    relation: str
    confidence: float


async def neighbours(executor: Executor, where: ItemFilter, seeds: Sequence[str], *, limit: int) -> list[Neighbour]:
    """Of each seed at most `limit` neighbours that pass `where`, the surest first."""
    params = filter_params(where) | {"uids": list(seeds), "limit": limit}
    rows = await executor.fetch_all("search_neighbours", params)
    return [Neighbour(row["seed"], row["uid"], row["relation"], float(row["confidence"])) for row in rows]
