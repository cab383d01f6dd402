"""Causal questions as callers ask them."""

from dataclasses import asdict

from graph import causal as graph
from graph import inconsistencies
from graph.causal import Brief, Direction, Follow, Reached
from graph.executor import Executor
from librarian.contracts.causal import (
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
from librarian.errors import InvalidInput, NotFound
from librarian.rows import as_utc
from librarian.usecases.edges import edge_out
from librarian.usecases.items import no_item
from librarian.usecases.search_results import open_end

DIRECTED = ("CAUSES", "BLOCKS", "ENABLES")
_EVERY_TYPE = (*DIRECTED, "RELATES_TO")


async def causes_of(executor: Executor, namespace: str, asked: CausalInput) -> CausalOutput:
    """What led to an item; `is_end` marks root causes. Raises NotFound."""
    return await _walked(executor, namespace, asked, Direction.IN, ("CAUSES",))


async def effects_of(executor: Executor, namespace: str, asked: CausalInput) -> CausalOutput:
    """What an item leads to: its blast radius. Raises NotFound."""
    return await _walked(executor, namespace, asked, Direction.OUT, ("CAUSES",))


async def blockers_of(executor: Executor, namespace: str, asked: CausalInput) -> CausalOutput:
    """What blocks an item, and what blocks that. Raises NotFound."""
    return await _walked(executor, namespace, asked, Direction.IN, ("BLOCKS",))


async def enablers_of(executor: Executor, namespace: str, asked: CausalInput) -> CausalOutput:
    """What enables an item, and what enables that. Raises NotFound."""
    return await _walked(executor, namespace, asked, Direction.IN, ("ENABLES",))


async def neighbourhood(executor: Executor, namespace: str, asked: NeighbourhoodQuery) -> CausalOutput:
    """What is around an item, whichever way edges point. Raises NotFound."""
    return await _walked(executor, namespace, asked, Direction.EITHER, _EVERY_TYPE)


async def path_between(executor: Executor, namespace: str, asked: PathQuery) -> PathOutput:
    """The shortest path between two items. Raises NotFound, InvalidInput for one from an item to itself."""
    if asked.source == asked.target:
        raise InvalidInput("a path needs two different items", field="$.target")
    briefs = await graph.items(executor, namespace, [asked.source, asked.target])
    for end in ("source", "target"):
        if getattr(asked, end) not in briefs:
            raise NotFound(f"no item of namespace {namespace!r} has the uid of this {end}", field=f"$.{end}")
    direction = Direction.OUT if asked.directed else Direction.EITHER
    follow = _follow(asked, direction, DIRECTED)
    source, target = briefs[asked.source], briefs[asked.target]
    path, more = await graph.shortest_path(executor, namespace, source, target, follow, depth=asked.max_depth)
    if path is None:
        return PathOutput(items=[], edges=[], confidence=None, more=more)
    return PathOutput(
        items=[_brief(item) for item in path.items],
        edges=[edge_out(edge) for edge in path.edges],
        confidence=round(path.confidence, 6),
        more=more,
    )


async def contradictions(executor: Executor, namespace: str, asked: ContradictionQuery) -> ContradictionList:
    """Facts that name different objects for one time, and items that both cause and block another."""
    facts, more_facts = await inconsistencies.contradicting_facts(
        executor, namespace, person_id=asked.person_id, as_of=as_utc(asked.as_of), limit=asked.limit
    )
    edges, more_edges = await inconsistencies.contradicting_edges(
        executor, namespace, states=_states(include_proposed=asked.include_proposed), limit=asked.limit
    )
    return ContradictionList(
        facts=[_fact_contradiction(one) for one in facts],
        edges=[
            EdgeContradiction(
                source=_brief(one.source), target=_brief(one.target), edges=[edge_out(edge) for edge in one.edges]
            )
            for one in edges
        ],
        more=more_facts or more_edges,
    )


async def cycles(executor: Executor, namespace: str, asked: CycleQuery) -> CycleList:
    """Items that lead back to themselves."""
    states = _states(include_proposed=asked.include_proposed)
    found, more = await inconsistencies.cycles(
        executor, namespace, types=asked.types or DIRECTED, states=states, limit=asked.limit
    )
    return CycleList(
        cycles=[
            CycleOut(
                items=[_brief(item) for item in one.items],
                edges=[edge_out(edge) for edge in one.edges],
                confidence=round(one.confidence, 6),
            )
            for one in found
        ],
        more=more,
    )


async def _walked(
    executor: Executor,
    namespace: str,
    asked: CausalInput | NeighbourhoodQuery,
    direction: Direction,
    types: tuple[str, ...],
) -> CausalOutput:
    start = (await graph.items(executor, namespace, [asked.uid])).get(asked.uid)
    if start is None:
        raise no_item(namespace)
    follow = _follow(asked, direction, types)
    found = await graph.walk(executor, namespace, start, follow, depth=asked.max_depth, limit=asked.limit)
    return CausalOutput(
        item=_brief(found.start),
        types=list(follow.types or ()),
        items=[_reached(one) for one in found.reached],
        edges=[edge_out(edge) for edge in found.edges],
        more=found.more,
    )


def _follow(
    asked: CausalInput | NeighbourhoodQuery | PathQuery, direction: Direction, types: tuple[str, ...]
) -> Follow:
    return Follow(
        direction,
        types=list(asked.types or types),
        states=_states(include_proposed=asked.include_proposed),
        occurred_from=as_utc(asked.occurred_from),
        occurred_to=as_utc(asked.occurred_to),
    )


def _states(*, include_proposed: bool) -> list[str]:
    return ["accepted", "proposed"] if include_proposed else ["accepted"]


def _brief(item: Brief) -> ItemBrief:
    return ItemBrief(**asdict(item))


def _reached(one: Reached) -> ReachedItem:
    return ReachedItem(
        **asdict(one.item),
        depth=one.depth,
        confidence=round(one.confidence, 6),
        path=list(one.path),
        is_end=one.is_end,
    )


def _fact_contradiction(one: inconsistencies.FactContradiction) -> FactContradiction:
    return FactContradiction(
        person_id=one.person_id,
        fact_type=one.fact_type,
        relationship_type=one.relationship_type,
        first=_fact(one.first),
        second=_fact(one.second),
    )


def _fact(one: inconsistencies.FactBrief) -> ContradictingFact:
    return ContradictingFact(**{**asdict(one), "valid_to": open_end(one.valid_to)})
