"""Planning a sweep: over its scope page by page, first edges and merges, then types and texts."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agents.classify import Verdict, judge
from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import Scope, SweptMemory
from graph.types import Kind, SpaceRecord
from librarian.contracts.sweeps import SweepChange, SweepConfig, SweepProgress, SweepRequest
from librarian.errors import InvalidInput
from librarian.usecases import sweep_state
from librarian.usecases.search import item_filter
from librarian.usecases.sweep_apply import CHUNK
from librarian.usecases.sweep_edges import Relations
from librarian.usecases.sweep_llm import Adviser, Llm
from librarian.usecases.sweep_state import State
from librarian.usecases.sweep_texts import PlannedText, embeddings_of, plan_text, undecided

PAGE = CHUNK
"""Memories that are planned together."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a sweep works, and what helps it to read."""

    executor: Executor
    namespace: str
    space: SpaceRecord | None
    llm: Llm | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of one page; `planned` has an entry for each memory in the stage "texts"."""

    stage: sweep_state.Stage
    page: Sequence[SweptMemory]
    changes: Sequence[SweepChange]
    planned: Sequence[PlannedText]
    progress: SweepProgress


async def planned_pages(
    ground: Ground,
    scope: Scope,
    config: SweepConfig,
    state: State,
    adviser: Adviser | None = None,
    *,
    drawn: bool = False,
) -> AsyncGenerator[Planned, None]:
    """What is to be done, page by page, from where `state` says on. `drawn` says that the edges of a page are drawn
    before the next page is asked for, so that nobody has to remember them.
    """
    most = await graph.count(ground.executor, scope)
    total = most if config.limit is None else min(most, config.limit)
    relations = Relations(ground.executor, ground.namespace, ground.space, adviser)
    stage, after, done = state.stage, state.after, state.done
    if stage == "edges":
        async for page, done in pages(ground, scope, after, done, config.limit):  # noqa: B020 - it goes on counting
            changes = await relations.plan(page)
            yield Planned("edges", page, changes, (), SweepProgress(stage="edges", done=done, total=total))
            if drawn:
                relations.planned.clear()
        after, done = graph.FIRST, 0
    async for page, done in pages(ground, scope, after, done, config.limit):  # noqa: B020 - as above
        planned = await _texts(ground, page, adviser)
        changes = [change for one in planned for change in one.changes]
        yield Planned("texts", page, changes, planned, SweepProgress(stage="texts", done=done, total=total))


async def pages(
    ground: Ground, scope: Scope, after: graph.Position, done: int, limit: int | None
) -> AsyncGenerator[tuple[list[SweptMemory], int], None]:
    """Pages from behind `after` on, each with how many memories that makes; no more than `limit` in all."""
    while limit is None or done < limit:
        size = PAGE if limit is None else min(PAGE, limit - done)
        page = await graph.page(ground.executor, scope, after=after, limit=size)
        if not page:
            return
        after, done = page[-1].position, done + len(page)
        yield page, done


async def verdicts_on(ground: Ground, page: Sequence[SweptMemory]) -> list[Verdict]:
    """What the rules say of the types of memories."""
    uids = [memory.uid for memory in page]
    embeddings = await embeddings_of(ground.executor, ground.namespace, uids, ground.space)
    texts = [(memory.properties["text"], embeddings.get(memory.uid)) for memory in page]
    return await asyncio.to_thread(lambda: [judge(text, embedding) for text, embedding in texts])


async def advised(page: Sequence[SweptMemory], verdicts: list[Verdict], adviser: Adviser) -> list[Verdict]:
    """The verdicts, of which the undecided ones are the adviser's."""
    open_ = [place for place, memory in enumerate(page) if undecided(memory, verdicts[place])]
    said = await adviser.types([page[place].properties["text"] for place in open_], [verdicts[one] for one in open_])
    better = dict(zip(open_, said, strict=True))
    return [better.get(place, verdict) for place, verdict in enumerate(verdicts)]


async def _texts(ground: Ground, page: Sequence[SweptMemory], adviser: Adviser | None) -> list[PlannedText]:
    verdicts = await verdicts_on(ground, page)
    if adviser is not None:
        verdicts = await advised(page, verdicts, adviser)
    model = None if adviser is None else adviser.told.model
    pairs = list(zip(page, verdicts, strict=True))
    return await asyncio.to_thread(lambda: [plan_text(memory, verdict, model) for memory, verdict in pairs])


async def scope_of(ground: Ground, config: SweepConfig, *, ask: bool = True) -> Scope:
    """The memories that the configuration means. Raises InvalidInput for a domain that no memory names (unless not to
    `ask`).
    """
    if config.domains is not None and ask:
        known = await graph.domains(ground.executor, ground.namespace)
        if strange := sorted(set(config.domains) - set(known)):
            named = ", ".join(known[:20]) or "none"
            raise InvalidInput(
                f"no memory is of the domain {strange[0]!r}", field="$.domains", remedy=f"Domains are: {named}."
            )
    where = item_filter(ground.namespace, config.filters, [Kind.MEMORY])
    return Scope(where, config.domains, config.min_importance)


def config_of(request: SweepRequest) -> SweepConfig:
    """How the sweep was asked for."""
    return SweepConfig(
        domains=request.domains,
        limit=request.limit,
        min_importance=request.min_importance,
        filters=request.filters,
        llm=request.llm,
    )
