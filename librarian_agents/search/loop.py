"""The search agent: plan, search, evaluate, refine while that helps, select. Stateless and without a database."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict

from librarian_agents.errors import ToolContractBroken, ToolError
from librarian_agents.search.conditions import StopRule
from librarian_agents.search.limits import Budget, Clock, Limits
from librarian_agents.search.ports import Reasoner, SearchTool
from librarian_agents.search.queries import fresh
from librarian_agents.search.selection import Selection, select
from librarian_agents.search.trace import Trace
from librarian_agents.search.types import (
    AgentEvent,
    Candidate,
    Evaluation,
    EventName,
    EvidenceSet,
    EvidenceTask,
    Findings,
    Search,
    Status,
    StopReason,
)

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

Listener = Callable[[AgentEvent], None]
Update = dict[str, Any]

# Extra time for evaluating what was found just before the deadline.
_GRACE_S = 0.5
_STEPS_A_ROUND = 3


@dataclass(frozen=True, slots=True)
class Run:
    """The components that one request works with."""

    task: EvidenceTask
    reasoner: Reasoner
    tool: SearchTool
    budget: Budget
    listener: Listener | None
    trace: Trace = field(default_factory=Trace)
    rule: StopRule = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", StopRule.of(self.task))

    @property
    def limits(self) -> Limits:
        """The bounds of this request."""
        return self.budget.limits

    @property
    def max_refinements(self) -> int:
        """How often the search may be refined."""
        return min(self.task.max_retries, self.limits.max_refinements)

    def fresh(self, queries: Iterable[str], asked: Sequence[str]) -> tuple[str, ...]:
        """Return the next of `queries` to ask."""
        limits = self.limits
        return fresh(queries, asked, most=limits.queries_per_round, chars=limits.query_chars)

    def report(self, name: EventName, **data: Any) -> None:
        """Report a step to the listener."""
        if self.listener:
            self.listener(AgentEvent(name, data))


class LoopState(TypedDict):
    """State of the loop: `queries` are next, `idle` counts the last rounds that brought nothing new."""

    run: Run
    queries: tuple[str, ...]
    findings: Findings
    evaluation: Evaluation
    round: int
    idle: int
    stopped_by: StopReason | None
    result: EvidenceSet | None


class SearchAgent:
    """Finds the smallest set of evidence for a task with a search tool; returns evidence, never an answer.

    Keeps nothing between requests; the graph of its steps loads with the first.
    """

    def __init__(self, reasoner: Reasoner, limits: Limits, clock: Clock) -> None:
        self._reasoner = reasoner
        self._limits = limits
        self._clock = clock

    async def run(self, task: EvidenceTask, tool: SearchTool, listener: Listener | None = None) -> EvidenceSet:
        """Return the evidence for `task`. Everything that `tool` shows in this call counts as one request.

        Raises ToolError if the tool fails before it has shown anything, ToolContractBroken whenever it violates its
        contract. Cancelling cancels the running search or model call.
        """
        run = Run(task, self._reasoner, tool, Budget(self._limits, self._clock), listener)
        run.trace.add("task", task=asdict(task), limits=asdict(self._limits), reasoner=self._reasoner.name)
        start: LoopState = {
            "run": run,
            "queries": (),
            "findings": Findings(),
            "evaluation": Evaluation(),
            "round": 0,
            "idle": 0,
            "stopped_by": None,
            "result": None,
        }
        config: Any = {"recursion_limit": _STEPS_A_ROUND * (run.max_refinements + 2)}
        end = await _untraced(graph().ainvoke(start, config))
        result: EvidenceSet = end["result"]
        return result


@cache
def graph() -> "CompiledStateGraph[LoopState, None, LoopState, LoopState]":
    """Return the agent's steps as a LangGraph graph."""
    from langgraph.graph import END, START, StateGraph

    steps = StateGraph(LoopState)
    for name, step in (("plan", plan), ("search", search), ("evaluate", evaluate), ("refine", refine)):
        steps.add_node(name, step)
    steps.add_node("select", finish)
    steps.add_edge(START, "plan")
    steps.add_edge("plan", "search")
    steps.add_edge("search", "evaluate")
    steps.add_conditional_edges("evaluate", lambda state: _next(state, "refine"), ["refine", "select"])
    steps.add_conditional_edges("refine", lambda state: _next(state, "search"), ["search", "select"])
    steps.add_edge("select", END)
    return steps.compile()


def drawing() -> str:
    """Return the graph in Mermaid's notation."""
    return graph().get_graph().draw_mermaid()


async def plan(state: LoopState) -> Update:
    """Return the first queries; the question itself if the reasoner has none."""
    run = state["run"]
    try:
        async with _in_time(run):
            planned = await run.reasoner.plan(run.task, run.budget)
    except TimeoutError:
        return {"stopped_by": "deadline"}
    queries = run.fresh(planned, ()) or run.fresh([run.task.user_query], ())
    run.trace.add("plan", queries=queries)
    run.report("plan", queries=queries)
    return {"queries": queries}


async def search(state: LoopState) -> Update:
    """Ask the tool the next queries sequentially, since it numbers its candidates."""
    run, findings = state["run"], state["findings"]
    stopped_by = state["stopped_by"]
    for query in state["queries"] if stopped_by is None else ():
        run.report("search", search_no=len(findings.searches) + 1, query=query)
        try:
            async with _in_time(run):
                found = await run.tool.search(query)
        except TimeoutError:
            stopped_by = "deadline"
            break
        except ToolError as error:
            run.trace.add("search", query=query, error=error.code)
            if isinstance(error, ToolContractBroken) or not findings.searches:
                raise
            stopped_by = "tool_failed"
            break
        before = findings
        findings = accepted(findings, query, found, run.limits)
        shown = findings.searches[-1].found
        run.trace.add("search", query=query, candidates=[asdict(candidate) for candidate in shown])
        new = len(findings.candidates) - len(before.candidates)
        run.report("candidates", search_no=len(findings.searches), found=len(shown), new=new)
    return {"findings": findings, "stopped_by": stopped_by}


async def evaluate(state: LoopState) -> Update:
    """Evaluate the findings so far, and decide whether to continue."""
    run = state["run"]
    if not state["findings"].searches:
        return {}
    left_s = run.budget.remaining_s()
    try:
        async with asyncio.timeout(max(left_s, _GRACE_S)):
            now = await run.reasoner.evaluate(run.task, state["findings"], run.budget)
    except TimeoutError:
        return {"stopped_by": state["stopped_by"] or "deadline"}
    run.trace.add("evaluation", **asdict(now))
    items = run.task.target_items
    run.report("evaluation", covered=now.covered(items), missing=now.missing(items))
    idle = 0 if _progress(state, now) else state["idle"] + 1
    took_s = left_s - run.budget.remaining_s()
    return {"evaluation": now, "idle": idle, "stopped_by": _stop(state, now, idle, took_s)}


async def refine(state: LoopState) -> Update:
    """Return queries for missing items."""
    run, findings = state["run"], state["findings"]
    try:
        async with _in_time(run):
            refined = await run.reasoner.refine(run.task, findings, state["evaluation"], run.budget)
    except TimeoutError:
        return {"stopped_by": "deadline"}
    queries = run.fresh(refined, findings.queries)
    run.trace.add("refine", queries=queries)
    run.report("refine", round=state["round"] + 1, queries=queries)
    return {"queries": queries, "round": state["round"] + 1, "stopped_by": None if queries else "no_new_query"}


async def finish(state: LoopState) -> Update:
    """Select, and summarise the request."""
    run, findings, evaluation = state["run"], state["findings"], state["evaluation"]
    chosen = select(evaluation, findings.candidates)
    result = _result(state, chosen)
    run.trace.add(
        "done",
        status=result.status,
        selected_evidence=[asdict(piece) for piece in result.selected_evidence],
        reasoning_summary=result.reasoning_summary,
        stopped_by=result.stopped_by,
    )
    run.report(
        "done",
        status=result.status,
        selected=[piece.temp_index for piece in result.selected_evidence],
        searches_used=result.searches_used,
        stopped_by=result.stopped_by,
    )
    return {"result": result}


def accepted(findings: Findings, query: str, found: Sequence[Candidate], limits: Limits) -> Findings:
    """Return `findings` with another search added. Raises ToolContractBroken when an index stands for two texts."""
    known = findings.candidates
    kept = []
    for candidate in found[: limits.candidates_per_search]:
        cut = replace(candidate, text=candidate.text[: limits.text_chars])
        index = cut.temp_index
        if index < 0:
            raise ToolContractBroken(f"The search tool numbers a candidate {index}; temp_index starts at 0.")
        if known.setdefault(index, cut).text != cut.text:
            raise ToolContractBroken(
                f"The search tool gives temp_index {index} to two texts; it has to go on counting through a request."
            )
        kept.append(cut)
    room = max(0, limits.candidates - len(findings.candidates))
    new = {candidate.temp_index for candidate in kept} - findings.candidates.keys()
    dropped = set(sorted(new)[room:])
    found_now = tuple(candidate for candidate in kept if candidate.temp_index not in dropped)
    return Findings((*findings.searches, Search(query, found_now)))


@asynccontextmanager
async def _in_time(run: Run) -> AsyncIterator[None]:
    """Raise TimeoutError at the deadline, even if it has already passed."""
    left_s = run.budget.remaining_s()
    if not left_s:
        raise TimeoutError
    async with asyncio.timeout(left_s):
        yield


async def _untraced(work: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """Await `work` with LangSmith's tracing off, regardless of its environment variables."""
    from langsmith import tracing_context

    with tracing_context(enabled=False):
        return await work


def _next(state: LoopState, onward: str) -> str:
    return "select" if state["stopped_by"] else onward


def _progress(state: LoopState, now: Evaluation) -> bool:
    """Return whether the last round brought a new text or met another need."""
    met, met_before = (sum(bool(need.supports) for need in judged.needs) for judged in (now, state["evaluation"]))
    searches = state["findings"].searches
    last = len(searches) - len(state["queries"])
    before = {candidate.text for search in searches[:last] for candidate in search.found}
    latest = (candidate.text for search in searches[last:] for candidate in search.found)
    return met > met_before or any(text not in before for text in latest)


def _stop(state: LoopState, now: Evaluation, idle: int, took_s: float) -> StopReason | None:
    """Return why the loop ends, or None.

    No round begins whose evaluation might end after the deadline: it judges more texts than the last, which took
    `took_s`.
    """
    run = state["run"]
    items = run.task.target_items
    if now.settled(items):
        return now.failure or "covered"
    if run.rule.any_item and set(now.covered(items)) - set(now.unsure):
        return "enough"
    if state["stopped_by"]:
        return state["stopped_by"]
    if run.budget.remaining_s() <= 2 * took_s:
        return "deadline"
    if state["round"] >= run.max_refinements:
        return "max_retries"
    waiting = len(now.missing(items)) + len(now.unsure)
    rounds = math.ceil(waiting / run.limits.queries_per_round)
    return "no_progress" if idle >= run.limits.idle_rounds * rounds else None


def _result(state: LoopState, chosen: Selection) -> EvidenceSet:
    run, evaluation = state["run"], state["evaluation"]
    items = run.task.target_items
    missing = tuple(item for item in items if item not in evaluation.covered(items) or item not in chosen.coverage)
    searches = len(state["findings"].searches)
    stopped_by = state["stopped_by"] or "covered"
    return EvidenceSet(
        status=_status(evaluation, chosen, missing),
        selected_evidence=chosen.selected,
        reasoning_summary=_summary(state, chosen, missing),
        coverage=chosen.coverage,
        missing_items=missing,
        searches_used=searches,
        stopped_by=stopped_by,
        trace=run.trace,
    )


def _status(evaluation: Evaluation, chosen: Selection, missing: Sequence[str]) -> Status:
    if not chosen.selected:
        return "NO_EVIDENCE"
    return "PARTIAL" if missing or evaluation.unsure or evaluation.failure else "COMPLETED"


def _summary(state: LoopState, chosen: Selection, missing: Sequence[str]) -> str:
    """Counts and the names of items, never texts of documents or of a model."""
    items, findings = state["run"].task.target_items, state["findings"]
    covered = len(items) - len(missing)
    counts = (
        f"{covered} of {len(items)} target items covered by {len(chosen.selected)} of {len(findings.candidates)} "
        f"candidates after {len(findings.searches)} searches."
    )
    evaluation = state["evaluation"]
    unsure = [item for item in evaluation.unsure if item not in missing]
    remarks = (
        f"Missing: {', '.join(missing)}." if missing else "",
        f"Not certain: {', '.join(unsure)}." if unsure else "",
        _FAILED.get(evaluation.failure or "", ""),
    )
    return " ".join(filter(None, (counts, *remarks, _ENDED[state["stopped_by"] or "covered"])))


_FAILED = {
    "judge_failed": "The language model failed; words and trained weights judged in its stead.",
    "token_budget": "The language model's token budget was used up; words and trained weights judged in its stead.",
}
_ENDED: dict[StopReason, str] = {
    "covered": "Stopped because everything was covered.",
    "enough": "Stopped because one item is enough by the stop conditions.",
    "max_retries": "Stopped because no more refinements were allowed.",
    "no_progress": "Stopped because further searches brought nothing new.",
    "no_new_query": "Stopped because there was no other query to try.",
    "deadline": "Stopped at the deadline.",
    "token_budget": "Stopped because the language model's token budget was used up.",
    "judge_failed": "Stopped because the language model's judgement could not be used.",
    "tool_failed": "Stopped because the search tool failed.",
}
