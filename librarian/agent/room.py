"""The search agent of one Librarian: reads its task from the wire, selects its tool, returns its evidence."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import structlog

from librarian.agent.contracts import (
    Detail,
    FindEvidenceInput,
    SearchAgentEvent,
    SearchAgentInput,
    SearchAgentOutput,
    SelectedEvidence,
)
from librarian.agent.own_search import OwnSearch, search_with_files
from librarian.agent.professor import UNKNOWN, Origin, Professor, time_left_s
from librarian.agent.reasoning import SemanticSimilarity, reasoner_of
from librarian.base import metrics
from librarian.base.settings.settings import Settings
from librarian.runtime.lifecycle import Lifecycle
from librarian.search.contracts import SearchInput, SearchOutput
from librarian_agents.chat.model import ChatModel
from librarian_agents.errors import ToolRetry
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import Listener, SearchAgent
from librarian_agents.search.ports import SearchTool
from librarian_agents.search.types import AgentEvent, EvidenceSet, EvidenceTask

log = structlog.get_logger("librarian.search_agent")

Find = Callable[[str, SearchInput], Awaitable[SearchOutput]]

_MOST_S = 60.0
_LEAST_S = 0.05


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its input, the search tool, and the uid of an index where the tool is Librarian's own search.
    `trace_id` is new for each request.
    """

    input: SearchAgentInput
    tool: SearchTool
    uid_of: Callable[[int], str | None]
    trace_id: str


class AgentRoom:
    """Finds the smallest set of evidence, never an answer: in a namespace, or in the Professor's documents where one
    is configured. `find` searches a namespace.

    The room itself is its main verb: `await search_agent(namespace, input)`.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        settings: Settings,
        find: Find,
        professor: Professor | None,
        model: ChatModel | None,
    ) -> None:
        self._lifecycle = lifecycle
        self._settings = settings
        self._find = find
        self._professor = professor
        self._reasoner = reasoner_of(settings.agent.reasoner, model, SemanticSimilarity(lifecycle))

    @property
    def asks_professor(self) -> bool:
        """Whether the Professor's documents are searched, and not a namespace."""
        return self._professor is not None

    async def __call__(
        self, namespace: str, asked: SearchAgentInput, *, detail: Detail = "full", origin: Origin = UNKNOWN
    ) -> SearchAgentOutput:
        """Return the evidence.

        Raises ToolError when the tool fails before it has shown anything, or breaks its contract.
        """
        return await self._run(self._request(namespace, asked, origin), detail)

    async def events(
        self, namespace: str, asked: SearchAgentInput, *, detail: Detail = "full", origin: Origin = UNKNOWN
    ) -> AsyncGenerator[SearchAgentEvent, None]:
        """Yield the steps as they are taken, last `done` with the evidence. Closing the generator cancels the work."""
        steps: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        work = asyncio.create_task(self._run(self._request(namespace, asked, origin), detail, steps.put_nowait))
        work.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while (event := await steps.get()) is not None:
                if event.name != "done":
                    yield SearchAgentEvent(event=event.name, data=event.data)
            yield SearchAgentEvent(event="done", data=await work)
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def find_evidence(
        self, namespace: str, wanted: FindEvidenceInput, *, on_step: Callable[[str], None] | None = None
    ) -> SearchAgentOutput:
        """Return the evidence for a question as tools ask it; `on_step` hears the name of every step."""

        def report(step: SearchAgentEvent) -> None:
            if on_step is not None:
                on_step(step.event)

        return await watched(self.events(namespace, wanted.as_request()), report)

    def _request(self, namespace: str, wanted: SearchAgentInput, origin: Origin) -> Request:
        trace_id = uuid.uuid4().hex
        if self._professor is not None:
            return Request(wanted, self._professor.conversation(trace_id, origin), _no_uid, trace_id)
        own = OwnSearch(partial(self._search, namespace))
        return Request(wanted, own, own.uid_of, trace_id)

    async def _search(self, namespace: str, wanted: SearchInput) -> SearchOutput:
        return await search_with_files(
            partial(self._find, namespace), self._lifecycle.parts.executor, namespace, wanted
        )

    async def _run(self, request: Request, detail: Detail, listener: Listener | None = None) -> SearchAgentOutput:
        started = time.monotonic()
        deadline_s = max(time_left_s(_MOST_S), _LEAST_S)
        limits = Limits(deadline_s=deadline_s, token_budget=self._settings.agent.token_budget)
        found = await SearchAgent(self._reasoner, limits, time).run(_task(request.input), request.tool, listener)
        if found.stopped_by == "deadline" and not found.searches_used:
            raise ToolRetry("No search was answered before the request's time was up.")
        self._observe(request, found, time.monotonic() - started)
        return _output(request, found, detail)

    def _observe(self, request: Request, found: EvidenceSet, seconds: float) -> None:
        """Count and log one request; the steps contain texts, which are logged only where allowed."""
        metrics.agent_requests.labels(found.status, found.stopped_by).inc()
        metrics.agent_searches.observe(found.searches_used)
        metrics.agent_seconds.observe(seconds)
        steps = found.trace.steps
        texts: dict[str, Any] = {"text": msgspec.json.encode(steps).decode()} if self._settings.log.texts else {}
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


async def watched(
    steps: AsyncGenerator[SearchAgentEvent, None], watch: Callable[[SearchAgentEvent], None]
) -> SearchAgentOutput:
    """Pass every step to `watch`; return the final output."""
    async with aclosing(steps) as events:
        async for event in events:
            if isinstance(event.data, SearchAgentOutput):
                return event.data
            watch(event)
    raise AssertionError("the last step is done")


def _no_uid(_temp_index: int) -> None:
    """Return None: the Professor's documents are not items."""


def _task(wanted: SearchAgentInput) -> EvidenceTask:
    return EvidenceTask(
        user_query=wanted.user_query,
        target_items=tuple(dict.fromkeys(wanted.task.target_items)),
        max_retries=wanted.task.max_retries,
        intent=wanted.analyzed_info.intent,
        context=wanted.analyzed_info.context,
        stop_conditions=wanted.stop_conditions or None,
    )


def _output(request: Request, found: EvidenceSet, detail: Detail) -> SearchAgentOutput:
    """Return the requested level of detail of the result."""
    uid_of = _no_uid if detail == "default" else request.uid_of
    output = SearchAgentOutput(
        status=found.status,
        selected_evidence=[
            SelectedEvidence(temp_index=piece.temp_index, why=piece.why, uid=uid_of(piece.temp_index))
            for piece in found.selected_evidence
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
