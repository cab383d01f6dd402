"""Planning a sweep: page by page over its scope, first edges and merges, then types and texts.

`surveyed` plans the first memories to estimate the questions for a language model, and finds memories to test it on.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import ReadMessage, Scope, SweptMemory
from graph.types import Kind, SpaceRecord
from librarian.base.errors import InvalidInput
from librarian.base.overlap import one_ahead
from librarian.items.filters import item_filter
from librarian.items.succession import NOTHING_DECLARED, Declared
from librarian.sweep.apply import CHUNK
from librarian.sweep.changes import Change
from librarian.sweep.contracts import SweepConfig, SweepLlm, SweepProgress, SweepRequest
from librarian.sweep.edges import ReadPage, Relations
from librarian.sweep.facts import asked_chars, plan_facts
from librarian.sweep.lessons import Lessons, learned, lowered
from librarian.sweep.llm import AT_ONCE, CHARS_PER_TOKEN, EXAMINED, Adviser, Known, Llm, timed
from librarian.sweep.reports import NEWEST, Stage, State, decoded
from librarian.sweep.reports import config_of as config_of_run
from librarian.sweep.retention import NO_RETENTION, Retention
from librarian.sweep.texts import embeddings_of, plan_text, undecided
from librarian_agents.sweep.classify import Verdict, judge
from librarian_agents.sweep.label import MAX_CHARS
from librarian_agents.sweep.memory_types import MemoryType

Swept = TypeVar("Swept", SweptMemory, ReadMessage)

PAGE = CHUNK
"""Memories that are planned together."""
_RUNS_LOOKED_AT = 100
SURVEYED = 200
"""Memories from which a survey estimates a whole sweep's questions for a language model."""


@dataclass(frozen=True, slots=True)
class SweepContext:
    """The namespace of a sweep, and its helpers for reading texts."""

    executor: Executor
    namespace: str
    space: SpaceRecord | None
    llm: Llm | None = None
    retention: Retention = NO_RETENTION
    declared: Declared = NOTHING_DECLARED


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of one page, which ends at `position`; in the stage "facts", `messages` is the size of the page.

    In the stage "texts" `refused` counts the memories whose sections could not be written without loss, and `left` the
    memories of the scope behind the page.
    """

    stage: Stage
    page: Sequence[SweptMemory]
    position: graph.Position
    changes: Sequence[Change]
    progress: SweepProgress
    refused: int = 0
    left: int = 0
    messages: int = 0


async def planned_pages(
    context: SweepContext,
    scope: Scope,
    config: SweepConfig,
    state: State,
    adviser: Adviser | None = None,
    *,
    drawn: bool = False,
    ending: Collection[str] = (),
) -> AsyncGenerator[Planned, None]:
    """Yield the plan page by page from where `state` left off; facts of messages come last.

    A page of memories is planned while the changes of the page before are applied: these change no text that is still
    to be read, and no edge is drawn twice. Facts depend on those of the pages before.
    `drawn` says that the edges of a page are drawn before the next page is requested, so they need not be remembered.
    Items that are `ending` are skipped, as they are once expired.
    """
    lessons = await learned(context.executor, context.namespace)
    state.findings.lessons = dict(lessons)
    if state.stage != "facts":
        memories = _memories(context, scope, config, state, adviser, lessons, drawn=drawn, ending=ending)
        async with aclosing(one_ahead(lambda: anext(memories, None))) as ahead:
            async for part in ahead:
                yield part
    if config.facts:
        after, done = (state.after, state.done) if state.stage == "facts" else (graph.FIRST, 0)
        async for part in _facts(context, config, after, done, lessons, adviser, ending):
            yield part


async def _memories(
    context: SweepContext,
    scope: Scope,
    config: SweepConfig,
    state: State,
    adviser: Adviser | None,
    lessons: Lessons,
    *,
    drawn: bool,
    ending: Collection[str],
) -> AsyncGenerator[Planned, None]:
    most = await graph.count(context.executor, scope)
    total = most if config.limit is None else min(most, config.limit)
    relations = Relations(context.executor, context.namespace, context.space, adviser, lessons)
    stage, after, done = state.stage, state.after, state.done
    if stage == "edges":
        reads = _read(relations, pages(context, scope, after, done, config.limit), ending)
        async with aclosing(one_ahead(lambda: anext(reads, None))) as ahead:
            async for read, position, done in ahead:
                changes = await relations.plan(read)
                progress = SweepProgress(stage="edges", done=done, total=total)
                yield Planned("edges", list(read.own.values()), position, changes, progress)
                if drawn:
                    relations.planned.clear()
        after, done = state.start, 0
    async for page, done in pages(context, scope, after, done, config.limit):  # noqa: B020 - as above
        lasting = _lasting(page, ending)
        rewrites, refused = await _texts(context, lasting, adviser, lessons)
        left = max(0, most - state.swept_before - done)
        progress = SweepProgress(stage="texts", done=done, total=total)
        yield Planned("texts", lasting, page[-1].position, rewrites, progress, refused, left)


async def _read(
    relations: Relations, found: AsyncIterator[tuple[list[SweptMemory], int]], ending: Collection[str]
) -> AsyncGenerator[tuple[ReadPage, graph.Position, int], None]:
    """Yield the pages found as read for their relations, each with its last position and the memories so far."""
    async for page, done in found:
        yield await relations.read(_lasting(page, ending)), page[-1].position, done


async def _facts(
    context: SweepContext,
    config: SweepConfig,
    after: graph.Position,
    done: int,
    lessons: Lessons,
    adviser: Adviser | None,
    ending: Collection[str],
) -> AsyncGenerator[Planned, None]:
    """Yield facts stated by messages of the scope; its domains, importance and limit apply to memories only."""
    scope = _messages(context, config)
    total = await graph.count(context.executor, scope)
    while page := await graph.messages(context.executor, scope, after=after, limit=PAGE):
        after, done = page[-1].position, done + len(page)
        lasting = _lasting(page, ending)
        changes = await plan_facts(context.executor, context.namespace, lasting, lessons, adviser)
        progress = SweepProgress(stage="facts", done=done, total=total)
        yield Planned("facts", (), after, changes, progress, messages=len(lasting))


def _lasting(page: Sequence[Swept], ending: Collection[str]) -> list[Swept]:
    return [each for each in page if each.item.uid not in ending]


def _messages(context: SweepContext, config: SweepConfig) -> Scope:
    return Scope(item_filter(context.namespace, config.filters, [Kind.MESSAGE]))


async def first_state(context: SweepContext, scope: Scope, config: SweepConfig) -> State:
    """Return the initial state of a run; a limited one continues where the last one of the same scope ended.

    It restarts if that one reached the end.
    """
    state = State(stage="edges")
    if config.limit is None:
        return state
    for run in await graph.list_runs(context.executor, context.namespace, before=NEWEST, limit=_RUNS_LOOKED_AT):
        earlier = config_of_run(run)
        if run.status != "applied" or _scope_key(earlier) != _scope_key(config):
            continue
        before = decoded(run.progress)
        if earlier.limit is not None and before.plan is None:
            state.start = state.after = before.after
            state.swept_before = before.swept_before + before.summary.memories_scanned
        break
    if not await graph.page(context.executor, scope, after=state.start, limit=1):
        return State(stage="edges")
    return state


def _scope_key(config: SweepConfig) -> tuple[object, ...]:
    return config.domains, config.min_importance, config.filters, config.ingested


async def pages(
    context: SweepContext, scope: Scope, after: graph.Position, done: int, limit: int | None
) -> AsyncGenerator[tuple[list[SweptMemory], int], None]:
    """Yield pages from behind `after`, each with the total of memories so far; at most `limit` in all."""
    while limit is None or done < limit:
        size = PAGE if limit is None else min(PAGE, limit - done)
        page = await graph.page(context.executor, scope, after=after, limit=size)
        if not page:
            return
        after, done = page[-1].position, done + len(page)
        yield page, done


async def verdicts_on(context: SweepContext, page: Sequence[SweptMemory]) -> list[Verdict]:
    """Return the rules' verdicts on the types of memories."""
    uids = [memory.item.uid for memory in page]
    embeddings = await embeddings_of(context.executor, context.namespace, uids, context.space)
    texts = [(memory.item.text, embeddings.get(memory.item.uid)) for memory in page]
    return await asyncio.to_thread(lambda: [judge(text, embedding) for text, embedding in texts])


async def advised(page: Sequence[SweptMemory], verdicts: list[Verdict], adviser: Adviser) -> list[Verdict]:
    """Return the verdicts, with undecided ones replaced by the adviser's."""
    open_ = [index for index, memory in enumerate(page) if undecided(memory, verdicts[index])]
    texts = [page[index].item.text for index in open_]
    better = dict(zip(open_, await adviser.types(texts, [verdicts[index] for index in open_]), strict=True))
    return [better.get(index, verdict) for index, verdict in enumerate(verdicts)]


@dataclass(frozen=True, slots=True)
class Survey:
    """The expected questions to a model, and memories of known type to test it on."""

    report: SweepLlm
    known: Sequence[Known]


async def surveyed(context: SweepContext, llm: Llm, scope: Scope, config: SweepConfig) -> Survey:
    """Return the expected questions to the model in a sweep, estimated from its first memories.

    Asks the model once to measure its speed. Raises ChatModelError.
    """
    counting = Adviser(None, llm.calls_per_memory, SweepLlm(model=llm.model.name))
    relations = Relations(context.executor, context.namespace, context.space, counting)
    known: list[Known] = []
    most = min(SURVEYED, config.limit or SURVEYED)
    seen = 0
    async for page, seen in pages(context, scope, graph.FIRST, 0, most):  # noqa: B007 - it counts on
        await relations.plan(await relations.read(page))
        verdicts = await verdicts_on(context, page)
        found = [_known(memory, verdict) for memory, verdict in zip(page, verdicts, strict=True)]
        known += [pair for pair in found if pair is not None]
        await advised(page, verdicts, counting)
    total = await graph.count(context.executor, scope)
    share = min(total, config.limit or total) / max(1, seen)
    calls = round(counting.report.calls * share) + min(EXAMINED, len(known))
    fact_calls, fact_chars = await _fact_questions(context, config) if config.facts else (0, 0)
    calls += fact_calls
    report = SweepLlm(
        model=llm.model.name,
        calls_expected=calls,
        tokens_expected=round((counting.chars * share + fact_chars) / CHARS_PER_TOKEN),
        seconds_expected=round(await timed(llm.model) * calls / AT_ONCE, 1) if calls else 0.0,
    )
    return Survey(report, known)


async def _fact_questions(context: SweepContext, config: SweepConfig) -> tuple[int, int]:
    """Return the maximum of messages a model is asked about and their characters, estimated from the first ones."""
    scope = _messages(context, config)
    page = await graph.messages(context.executor, scope, after=graph.FIRST, limit=PAGE)
    total = await graph.count(context.executor, scope)
    return total, round(asked_chars(page) * total / max(1, len(page)))


def _known(memory: SweptMemory, verdict: Verdict) -> Known | None:
    """Return a text with its type, if somebody has stated it or the rules are sure."""
    stated = memory.item.type
    text = memory.item.text[:MAX_CHARS]
    if stated not in (None, MemoryType.UNKNOWN):
        return text, MemoryType.parse(stated)
    return (text, verdict.type) if verdict.accepted else None


async def _texts(
    context: SweepContext, page: Sequence[SweptMemory], adviser: Adviser | None, lessons: Lessons
) -> tuple[list[Change], int]:
    """Return the changes of a page's memories, and the number of texts that cannot be put in sections without loss."""
    verdicts = await verdicts_on(context, page)
    if adviser is not None:
        verdicts = await advised(page, verdicts, adviser)
    verdicts = [_taught(verdict, lessons) for verdict in verdicts]
    model = None if adviser is None else adviser.report.model
    pairs = list(zip(page, verdicts, strict=True))
    planned = await asyncio.to_thread(lambda: [plan_text(memory, verdict, model) for memory, verdict in pairs])
    return [change for changes, _ in planned for change in changes], sum(refused for _, refused in planned)


def _taught(verdict: Verdict, lessons: Lessons) -> Verdict:
    confidence = lowered(lessons, verdict.reason, verdict.confidence)
    return verdict if confidence is None else replace(verdict, confidence=confidence)


async def scope_of(context: SweepContext, config: SweepConfig, *, ask: bool = True) -> Scope:
    """Return the scope of the configuration.

    Raises InvalidInput for a domain that no memory names, unless `ask` is false.
    """
    if config.domains is not None and ask:
        known = await graph.domains(context.executor, context.namespace)
        if unknown := sorted(set(config.domains) - set(known)):
            named = ", ".join(known[:20]) or "none"
            raise InvalidInput(
                f"no memory is of the domain {unknown[0]!r}", field="$.domains", remedy=f"Domains are: {named}."
            )
    where = item_filter(context.namespace, config.filters, [Kind.MEMORY])
    return Scope(where, config.domains, config.min_importance)


def config_of(request: SweepRequest) -> SweepConfig:
    """Return the configuration of the request."""
    names = [name for name in SweepConfig.__struct_fields__ if name != "ingested"]
    given = {name: getattr(request, name) for name in names}
    return SweepConfig(**given | {"retention": request.retention or []})
