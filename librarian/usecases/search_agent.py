"""The search agent: its task from the wire, the tool that it asks, and its evidence back to the wire."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec
import structlog

from agents.errors import ToolRetry
from agents.limits import Limits
from agents.ports import ChatModel, Reasoner, SearchTool, Similarity
from agents.search_agent import Listener, SearchAgent
from agents.types import AgentEvent, Candidate, EvidenceSet, EvidenceTask
from graph.errors import GraphError
from graph.executor import deadline
from librarian import metrics
from librarian.contracts.search import Hit, SearchInput, SearchOutput
from librarian.contracts.search_agent import (
    Detail,
    SearchAgentEvent,
    SearchAgentInput,
    SearchAgentOutput,
    SelectedEvidence,
)
from librarian.errors import NotReady
from librarian.professor.search import Origin, Professor
from librarian.reasoning import reasoner_of
from librarian.settings import Settings

log = structlog.get_logger("librarian.search_agent")

Search = Callable[[SearchInput], Awaitable[SearchOutput]]

HITS_A_SEARCH = 20
_MOST_S = 60.0
# What an answer needs to be selected, written and sent before its request's time is up.
_MARGIN_S = 1.0
_LEAST_S = 0.05


@dataclass(slots=True)
class OwnSearch:
    """Librarian's own search as the tool of one request: uids stay on this side, and one item keeps one index."""

    find: Search
    _uids: list[str] = field(default_factory=list)
    _indexes: dict[str, int] = field(default_factory=dict)
    _searches: int = 0

    async def search(self, query: str) -> Sequence[Candidate]:
        """What is kept and found by `query`. Raises ToolRetry when the graph goes away after the first search; before,
        its own errors.
        """
        self._searches += 1
        try:
            found = await self.find(SearchInput(queries=[query], limit=HITS_A_SEARCH))
        except (GraphError, NotReady) as error:
            if self._searches == 1:
                raise
            raise ToolRetry(str(error)) from error
        return [self._candidate(hit) for hit in found.results]

    def uid_of(self, temp_index: int) -> str:
        """The item that `temp_index` stands for."""
        return self._uids[temp_index - 1]

    def _candidate(self, hit: Hit) -> Candidate:
        index = self._indexes.setdefault(hit.uid, len(self._indexes) + 1)
        if index > len(self._uids):
            self._uids.append(hit.uid)
        lines = None if hit.start_line is None else f"{hit.start_line}-{hit.end_line}"
        return Candidate(index, hit.content, source=hit.path, page=lines, score=hit.score)


@dataclass(frozen=True, slots=True)
class Request:
    """One request on its way: what is asked, by which tool, and which item an index stands for, if the tool says so.
    `trace_id` is new for each request.
    """

    asked: SearchAgentInput
    tool: SearchTool
    uid_of: Callable[[int], str | None]
    trace_id: str

    @classmethod
    def make(cls, asked: SearchAgentInput, professor: Professor | None, origin: Origin, find: Search) -> "Request":
        """A request that asks the Professor where there is one, else what is kept."""
        trace_id = uuid.uuid4().hex
        if professor is not None:
            return cls(asked, professor.conversation(trace_id, origin), _no_uid, trace_id)
        own = OwnSearch(find)
        return cls(asked, own, own.uid_of, trace_id)


@dataclass(frozen=True, slots=True)
class Agent:
    """What all requests share. Without a Professor the agent searches what is kept. `log_texts` allows whole traces in
    the log.
    """

    reasoner: Reasoner
    professor: Professor | None
    token_budget: int
    log_texts: bool

    @classmethod
    def make(
        cls, settings: Settings, professor: Professor | None, model: ChatModel | None, similarity: Similarity
    ) -> "Agent":
        """The agent of the settings. Raises SettingsError."""
        reasoner = reasoner_of(settings.agent.reasoner, model, similarity)
        return cls(reasoner, professor, settings.agent.token_budget, settings.log.texts)


async def run(agent: Agent, request: Request, detail: Detail, listener: Listener | None = None) -> SearchAgentOutput:
    """The evidence. Raises ToolError when the tool fails before it has shown anything, or breaks its contract."""
    started = time.monotonic()
    limits = Limits(deadline_s=_left_s(), token_budget=agent.token_budget)
    found = await SearchAgent(agent.reasoner, limits, time).run(_task(request.asked), request.tool, listener)
    if found.stopped_by == "deadline" and not found.searches_used:
        raise ToolRetry("No search was answered before the request's time was up.")
    _observe(agent, request, found, time.monotonic() - started)
    return _output(request, found, detail)


async def events(agent: Agent, request: Request, detail: Detail) -> AsyncGenerator[SearchAgentEvent, None]:
    """The steps as they are taken, and last `done` with the output; whoever stops listening stops the work."""
    heard: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
    work = asyncio.create_task(run(agent, request, detail, heard.put_nowait))
    work.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (event := await heard.get()) is not None:
            if event.name != "done":
                yield SearchAgentEvent(event=event.name, data=event.data)
        yield SearchAgentEvent(event="done", data=await work)
    finally:
        work.cancel()
        await asyncio.wait([work])


async def watched(
    steps: AsyncGenerator[SearchAgentEvent, None], watch: Callable[[SearchAgentEvent], None]
) -> SearchAgentOutput:
    """Let `watch` see every step; the output that the last one carries is returned."""
    async with aclosing(steps) as seen:
        async for event in seen:
            if isinstance(event.data, SearchAgentOutput):
                return event.data
            watch(event)
    raise AssertionError("the last step is done")


def _no_uid(_temp_index: int) -> None:
    """No item of ours stands behind an index."""


def _task(asked: SearchAgentInput) -> EvidenceTask:
    return EvidenceTask(
        user_query=asked.user_query,
        target_items=tuple(dict.fromkeys(asked.task.target_items)),
        max_retries=asked.task.max_retries,
        intent=asked.analyzed_info.intent,
        context=asked.analyzed_info.context,
        stop_conditions=asked.stop_conditions or None,
    )


def _left_s() -> float:
    """Seconds that the agent may take, so that the best so far is answered in time."""
    ends_at = deadline.get()
    if ends_at is None:
        return _MOST_S
    left_s = ends_at - asyncio.get_running_loop().time()
    return max(left_s - min(_MARGIN_S, left_s / 4), _LEAST_S)


def _output(request: Request, found: EvidenceSet, detail: Detail) -> SearchAgentOutput:
    """As much of the result as was asked for."""
    uid_of = _no_uid if detail == "default" else request.uid_of
    output = SearchAgentOutput(
        status=found.status,
        selected_evidence=[
            SelectedEvidence(temp_index=one.temp_index, why=one.why, uid=uid_of(one.temp_index))
            for one in found.selected_evidence
        ],
        reasoning_summary=found.reasoning_summary,
    )
    if detail == "default":
        return output
    output.coverage = {item: list(indexes) for item, indexes in found.coverage.items()}
    output.missing_items = list(found.missing_items)
    output.searches_used = found.searches_used
    output.stopped_by = found.stopped_by
    output.trace_id = request.trace_id
    output.trace = found.trace.to_dict() if detail == "trace" else None
    return output


def _observe(agent: Agent, request: Request, found: EvidenceSet, seconds: float) -> None:
    """Count and log one request; the steps hold texts, which the log shows only where that is allowed."""
    metrics.observe_search_agent(found.status, found.stopped_by, found.searches_used, seconds)
    steps = found.trace.steps
    texts: dict[str, Any] = {"text": msgspec.json.encode(steps).decode()} if agent.log_texts else {}
    log.info(
        "search agent",
        trace_id=request.trace_id,
        status=found.status,
        stopped_by=found.stopped_by,
        searches=found.searches_used,
        selected=len(found.selected_evidence),
        missing=len(found.missing_items),
        steps=[step["step"] for step in steps],
        ms=round(seconds * 1000, 1),
        **texts,
    )
