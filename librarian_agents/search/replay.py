"""Replay of a trace: tool and reasoner repeat recorded results, so that the same steps lead to the same evidence."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from librarian_agents.errors import InvalidTrace, ToolContractBroken, ToolError, ToolFailed, ToolRetry
from librarian_agents.search.limits import Budget, Clock, Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.trace import Step, Trace
from librarian_agents.search.types import Candidate, Evaluation, EvidenceSet, EvidenceTask, Findings, Need, Support

_T = TypeVar("_T")


async def replay(trace: Trace, clock: Clock) -> EvidenceSet:
    """Return the result of `trace`'s request with recorded tool and reasoner. Raises InvalidTrace."""
    task = _read(lambda: _task(trace.named("task")[0]["task"]))
    limits = _read(lambda: Limits(**{**trace.named("task")[0]["limits"], "deadline_s": math.inf}))
    return await SearchAgent(RecordedReasoner(trace), limits, clock).run(task, RecordedTool(trace))


class RecordedTool:
    """The search tool of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._tape = _Tape(trace, "search")

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the recorded result of this search, or raise its error. Raises InvalidTrace for another query."""
        step = self._tape.next()
        if step["query"] != query:
            raise InvalidTrace("The replay asks for another search than the trace holds.")
        if "error" in step:
            raise _TOOL_ERRORS.get(step["error"], ToolFailed)
        return _read(lambda: [Candidate(**candidate) for candidate in step["candidates"]])


class RecordedReasoner:
    """The reasoner of a trace, of any kind."""

    def __init__(self, trace: Trace) -> None:
        self._plans = _Tape(trace, "plan")
        self._evaluations = _Tape(trace, "evaluation")
        self._refinements = _Tape(trace, "refine")

    @property
    def name(self) -> str:
        """The kind."""
        return "recorded"

    async def plan(self, _task: EvidenceTask, _budget: Budget, /) -> Sequence[str]:
        """Return the recorded first queries."""
        return list(self._plans.next()["queries"])

    async def evaluate(self, _task: EvidenceTask, _findings: Findings, _budget: Budget, /) -> Evaluation:
        """Return the recorded evaluation."""
        step = self._evaluations.next()
        return _read(
            lambda: Evaluation(tuple(map(_need, step["needs"])), step["failure"], tuple(step.get("unsure", ())))
        )

    async def refine(
        self, _task: EvidenceTask, _findings: Findings, _evaluation: Evaluation, _budget: Budget, /
    ) -> Sequence[str]:
        """Return the recorded next queries."""
        return list(self._refinements.next()["queries"])


class _Tape:
    """The steps of one name, each returned once. Ends early where a deadline ended the request."""

    def __init__(self, trace: Trace, name: str) -> None:
        self._steps = iter(trace.named(name))
        self._cut_short = trace.named("done")[0].get("stopped_by") == "deadline"

    def next(self) -> Step:
        step = next(self._steps, None)
        if step is None and self._cut_short:
            raise TimeoutError
        if step is None:
            raise InvalidTrace("The replay goes on where the trace ends.")
        return step


_TOOL_ERRORS: dict[str, type[ToolError]] = {error.code: error for error in (ToolRetry, ToolFailed, ToolContractBroken)}


def _task(data: Mapping[str, Any]) -> EvidenceTask:
    task = EvidenceTask(**{**data, "target_items": tuple(data["target_items"])})
    texts = (task.user_query, *task.target_items)
    if not all(isinstance(text, str) for text in texts) or not isinstance(task.max_retries, int):
        raise InvalidTrace
    return task


def _need(data: Mapping[str, Any]) -> Need:
    return Need(data["item"], data["name"], tuple(Support(**support) for support in data["supports"]))


def _read(make: Callable[[], _T]) -> _T:
    try:
        return make()
    except (KeyError, TypeError, ValueError):
        raise InvalidTrace from None
