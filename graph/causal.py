"""Walks along typed edges, level by level, with a limit on the reads of each level.

A walk reaches every item by its shortest path, and among equally short ones by the most confident: the confidence of a
path is the product of those of its edges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from graph.edges import StoredEdge, stored_edges
from graph.executor import Executor, Row
from graph.types import FOREVER, UNKNOWN_TIME, native

# Edges read per level; of an item with more edges the most confident are followed.
_LEVEL_EDGES = 5_000
# Edges returned besides those of the paths, per item reached.
_EDGES_PER_ITEM = 4


class Direction(StrEnum):
    """Direction in which edges are followed; the value names the statement that makes one step."""

    OUT = "causal_step_out"
    IN = "causal_step_in"
    EITHER = "causal_step_either"


_BACK = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT, Direction.EITHER: Direction.EITHER}


@dataclass(frozen=True, slots=True)
class Follow:
    """Edges to follow; None means any. Items that happened outside the period are not entered; items without a time
    count as earlier than everything.
    """

    direction: Direction
    types: Sequence[str] | None = None
    states: Sequence[str] | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """Summary of an item; `text` is the start of its text."""

    uid: str
    kind: str
    name: str
    type: str | None
    occurred_at: datetime | None
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reached:
    """An item on a walk, `depth` edges from its start: `path` holds their ids in order, `confidence` is their product.

    `is_end`: no edge leads on from it; None where the walk did not look.
    """

    item: Brief
    depth: int
    confidence: float
    path: tuple[str, ...]
    is_end: bool | None = None


@dataclass(frozen=True, slots=True)
class Walk:
    """Items that a walk reached, nearest and most confident first, and the edges between them; `more`: a limit cut some
    off.
    """

    start: Brief
    reached: Sequence[Reached]
    edges: Sequence[StoredEdge]
    more: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The shortest path between two items, the most confident of equally short ones."""

    items: Sequence[Brief]
    edges: Sequence[StoredEdge]
    confidence: float


@dataclass(frozen=True, slots=True)
class _Hop:
    """One edge, followed from an item to `item`."""

    origin: str
    item: Brief
    edge: StoredEdge


async def items(executor: Executor, namespace: str, uids: Sequence[str]) -> dict[str, Brief]:
    """Return summaries of those items that belong to `namespace`, by uid."""
    rows = await executor.fetch_all("causal_items", {"namespace": namespace, "uids": list(uids)})
    return {row["item"]["uid"]: Brief(**native(row["item"])) for row in rows}


async def walk(executor: Executor, namespace: str, start: Brief, follow: Follow, *, depth: int, limit: int) -> Walk:
    """Return up to `limit` items that are at most `depth` edges away from `start`."""
    reached = {start.uid: Reached(start, 0, 1.0, ())}
    edges: dict[str, StoredEdge] = {}
    frontier, ends, more = [start.uid], set[str](), False
    looked: set[str] = set()
    # Reads one level beyond the last, to tell ends from items that were cut off.
    for level in range(1, depth + 2):
        if not frontier:
            break
        hops, cut = await _step(executor, namespace, frontier, follow)
        more |= cut
        looked |= set() if cut else set(frontier)
        ends |= set() if cut else set(frontier) - {hop.origin for hop in hops}
        new = _entered(reached, hops)
        room = 0 if level > depth else limit + 1 - len(reached)
        more |= len(new) > room
        reached |= {reached_item.item.uid: reached_item for reached_item in new[:room]}
        edges |= {hop.edge.edge_id: hop.edge for hop in hops if hop.item.uid in reached}
        frontier = [reached_item.item.uid for reached_item in new[:room]]
    found = [_with_end(reached_item, looked, ends) for reached_item in reached.values() if reached_item.depth]
    shown, all_shown = _shown(edges, found)
    return Walk(start, found, shown, more or not all_shown)


async def shortest_path(
    executor: Executor, namespace: str, source: Brief, target: Brief, follow: Follow, *, depth: int
) -> tuple[Path | None, bool]:
    """Return the path of at most `depth` edges, or None; and whether a limit cut the search off, so that a path may
    still exist.

    Searches from both ends, each time from the one with fewer items to go on from, until they meet.
    """
    ahead, behind = _Side(source, follow), _Side(target, replace(follow, direction=_BACK[follow.direction]))
    more = False
    for _ in range(depth):
        side = min(ahead, behind, key=lambda side: len(side.frontier))
        if not side.frontier:
            break
        more |= await side.advance(executor, namespace)
        if met := ahead.reached.keys() & behind.reached.keys():
            return _joined(ahead, behind, met), more
    return None, more or bool(ahead.frontier and behind.frontier)


class _Side:
    """One end of a search for a path."""

    def __init__(self, start: Brief, follow: Follow) -> None:
        self.follow = follow
        self.reached = {start.uid: Reached(start, 0, 1.0, ())}
        self.frontier = [start.uid]
        self.edges: dict[str, StoredEdge] = {}

    async def advance(self, executor: Executor, namespace: str) -> bool:
        """Go one edge further and return whether a limit cut something off."""
        hops, cut = await _step(executor, namespace, self.frontier, self.follow)
        new = _entered(self.reached, hops)
        self.reached |= {reached_item.item.uid: reached_item for reached_item in new}
        self.edges |= {hop.edge.edge_id: hop.edge for hop in hops}
        self.frontier = [reached_item.item.uid for reached_item in new]
        return cut


async def _step(executor: Executor, namespace: str, frontier: Sequence[str], follow: Follow) -> tuple[list[_Hop], bool]:
    """Return the edges at a level's items, and whether there are more than were read."""
    params: dict[str, Any] = {
        "namespace": namespace,
        "uids": list(frontier),
        "types": follow.types,
        "states": follow.states,
        "unknown_time": UNKNOWN_TIME,
        "occurred_from": follow.occurred_from or UNKNOWN_TIME,
        "occurred_to": follow.occurred_to or FOREVER,
        "limit": _LEVEL_EDGES + 1,
    }
    rows = await executor.fetch_all(follow.direction, params)
    return _hops(rows[:_LEVEL_EDGES]), len(rows) > _LEVEL_EDGES


def _hops(rows: Sequence[Row]) -> list[_Hop]:
    edges = stored_edges(rows)
    return [_Hop(row["from_uid"], Brief(**native(row["item"])), edge) for row, edge in zip(rows, edges, strict=True)]


def _entered(reached: Mapping[str, Reached], hops: Sequence[_Hop]) -> list[Reached]:
    """Return the items that hops enter for the first time, each by its most confident path, most confident first."""
    best: dict[str, Reached] = {}
    for hop in hops:
        uid = hop.item.uid
        if uid in reached:
            continue
        before = reached[hop.origin]
        confidence = before.confidence * hop.edge.confidence
        if uid not in best or confidence > best[uid].confidence:
            best[uid] = Reached(hop.item, before.depth + 1, confidence, (*before.path, hop.edge.edge_id))
    return sorted(best.values(), key=lambda reached: (-reached.confidence, reached.item.uid))


def _with_end(reached: Reached, looked: set[str], ends: set[str]) -> Reached:
    is_end = reached.item.uid in ends if reached.item.uid in looked else None
    return replace(reached, is_end=is_end)


def _shown(edges: Mapping[str, StoredEdge], found: Sequence[Reached]) -> tuple[list[StoredEdge], bool]:
    """Return the edges of the paths and as many others as there is room for, and whether these are all."""
    on_paths = {edge_id for reached in found for edge_id in reached.path}
    others = [edge for edge_id, edge in edges.items() if edge_id not in on_paths]
    room = _EDGES_PER_ITEM * len(found)
    shown = [edge for edge_id, edge in edges.items() if edge_id in on_paths] + others[:room]
    return shown, len(others) <= room


def _joined(ahead: _Side, behind: _Side, met: set[str]) -> Path:
    def rank(uid: str) -> tuple[int, float, str]:
        first, second = ahead.reached[uid], behind.reached[uid]
        return first.depth + second.depth, -first.confidence * second.confidence, uid

    middle = min(met, key=rank)
    first, second = ahead.reached[middle], behind.reached[middle]
    by_id = ahead.edges | behind.edges
    edges = [by_id[edge_id] for edge_id in (*first.path, *reversed(second.path))]
    briefs = {uid: reached.item for side in (behind, ahead) for uid, reached in side.reached.items()}
    uids = [next(iter(ahead.reached))]
    for edge in edges:
        uids.append(edge.target if edge.source == uids[-1] else edge.source)
    return Path([briefs[uid] for uid in uids], edges, first.confidence * second.confidence)
