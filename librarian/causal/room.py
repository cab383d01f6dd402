"""Causal questions about one graph."""

from dataclasses import asdict

from graph import causal as graph
from graph import inconsistencies
from graph.causal import Brief, Direction, Follow, Reached
from graph.executor import Executor
from librarian.base.errors import InvalidInput, NotFound
from librarian.causal.contracts import (
    CausalInput,
    CausalOutput,
    ContradictingFact,
    ContradictionList,
    ContradictionQuery,
    CycleList,
    CycleOut,
    CycleQuery,
    EdgeContradiction,
    FactContradiction,
    ItemBrief,
    NeighbourhoodQuery,
    PathOutput,
    PathQuery,
    ReachedItem,
)
from librarian.items.edges import edge_out
from librarian.items.filters import in_order
from librarian.items.reading import no_item, open_end
from librarian.items.rows import as_utc
from librarian.runtime.lifecycle import Lifecycle

DIRECTED = ("CAUSES", "BLOCKS", "ENABLES")
_EVERY_TYPE = (*DIRECTED, "RELATES_TO")


class CausalRoom:
    """Answers causal questions; rejected edges are ignored."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle

    @property
    def _executor(self) -> Executor:
        return self._lifecycle.parts.executor

    async def causes_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Return the causes of an item, down to its root causes, which `is_end` marks. Raises NotFound."""
        return await self._walked(namespace, asked, Direction.IN, ("CAUSES",))

    async def effects_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Return the effects of an item: its blast radius. Raises NotFound."""
        return await self._walked(namespace, asked, Direction.OUT, ("CAUSES",))

    async def blockers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Return what blocks an item, and what blocks that. Raises NotFound."""
        return await self._walked(namespace, asked, Direction.IN, ("BLOCKS",))

    async def enablers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Return what enables an item, and what enables that. Raises NotFound."""
        return await self._walked(namespace, asked, Direction.IN, ("ENABLES",))

    async def neighbourhood(self, namespace: str, asked: NeighbourhoodQuery) -> CausalOutput:
        """Return the neighbourhood of an item, following edges in both directions. Raises NotFound."""
        return await self._walked(namespace, asked, Direction.EITHER, _EVERY_TYPE)

    async def path_between(self, namespace: str, asked: PathQuery) -> PathOutput:
        """Return the shortest path between two items. Raises NotFound, and InvalidInput if they are the same."""
        if asked.source == asked.target:
            raise InvalidInput("a path needs two different items", field="$.target")
        briefs = await graph.items(self._executor, namespace, [asked.source, asked.target])
        for end in ("source", "target"):
            if getattr(asked, end) not in briefs:
                raise NotFound(f"no item of namespace {namespace!r} has the uid of this {end}", field=f"$.{end}")
        direction = Direction.OUT if asked.directed else Direction.EITHER
        follow = _follow(asked, direction, DIRECTED)
        source, target = briefs[asked.source], briefs[asked.target]
        path, more = await graph.shortest_path(self._executor, namespace, source, target, follow, depth=asked.max_depth)
        if path is None:
            return PathOutput(items=[], edges=[], confidence=None, more=more)
        return PathOutput(
            items=[_brief(item) for item in path.items],
            edges=[edge_out(edge) for edge in path.edges],
            confidence=round(path.confidence, 6),
            more=more,
        )

    async def contradictions(self, namespace: str, asked: ContradictionQuery) -> ContradictionList:
        """Return facts that name different objects for the same time, and items that both cause and block another."""
        facts, more_facts = await inconsistencies.contradicting_facts(
            self._executor, namespace, person_id=asked.person_id, as_of=as_utc(asked.as_of), limit=asked.limit
        )
        edges, more_edges = await inconsistencies.contradicting_edges(
            self._executor, namespace, states=_states(include_proposed=asked.include_proposed), limit=asked.limit
        )
        return ContradictionList(
            facts=[_fact_contradiction(found) for found in facts],
            edges=[
                EdgeContradiction(
                    source=_brief(found.source),
                    target=_brief(found.target),
                    edges=[edge_out(edge) for edge in found.edges],
                )
                for found in edges
            ],
            more=more_facts or more_edges,
        )

    async def cycles(self, namespace: str, asked: CycleQuery) -> CycleList:
        """Return cycles: items that lead back to themselves."""
        states = _states(include_proposed=asked.include_proposed)
        found, more = await inconsistencies.cycles(
            self._executor, namespace, types=asked.types or DIRECTED, states=states, limit=asked.limit
        )
        return CycleList(
            cycles=[
                CycleOut(
                    items=[_brief(item) for item in cycle.items],
                    edges=[edge_out(edge) for edge in cycle.edges],
                    confidence=round(cycle.confidence, 6),
                )
                for cycle in found
            ],
            more=more,
        )

    async def _walked(
        self,
        namespace: str,
        asked: CausalInput | NeighbourhoodQuery,
        direction: Direction,
        types: tuple[str, ...],
    ) -> CausalOutput:
        start = (await graph.items(self._executor, namespace, [asked.uid])).get(asked.uid)
        if start is None:
            raise no_item(namespace)
        follow = _follow(asked, direction, types)
        found = await graph.walk(self._executor, namespace, start, follow, depth=asked.max_depth, limit=asked.limit)
        return CausalOutput(
            item=_brief(found.start),
            types=list(follow.types or ()),
            items=[_reached(reached) for reached in found.reached],
            edges=[edge_out(edge) for edge in found.edges],
            more=found.more,
        )


def _follow(
    asked: CausalInput | NeighbourhoodQuery | PathQuery, direction: Direction, types: tuple[str, ...]
) -> Follow:
    occurred_from, occurred_to = as_utc(asked.occurred_from), as_utc(asked.occurred_to)
    in_order(occurred_from, occurred_to)
    return Follow(
        direction,
        types=list(asked.types or types),
        states=_states(include_proposed=asked.include_proposed),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
    )


def _states(*, include_proposed: bool) -> list[str]:
    return ["accepted", "proposed"] if include_proposed else ["accepted"]


def _brief(item: Brief) -> ItemBrief:
    return ItemBrief(**asdict(item))


def _reached(reached: Reached) -> ReachedItem:
    return ReachedItem(
        **asdict(reached.item),
        depth=reached.depth,
        confidence=round(reached.confidence, 6),
        path=list(reached.path),
        is_end=reached.is_end,
    )


def _fact_contradiction(found: inconsistencies.FactContradiction) -> FactContradiction:
    return FactContradiction(
        person_id=found.person_id,
        fact_type=found.fact_type,
        relationship_type=found.relationship_type,
        first=_fact(found.first),
        second=_fact(found.second),
    )


def _fact(fact: inconsistencies.FactBrief) -> ContradictingFact:
    return ContradictingFact(**{**asdict(fact), "valid_to": open_end(fact.valid_to)})
