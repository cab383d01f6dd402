"""Values of the search agent: its task, its findings, and its result. All are frozen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from librarian_agents.search.trace import Trace

Status = Literal["COMPLETED", "PARTIAL", "NO_EVIDENCE"]
EventName = Literal["plan", "search", "candidates", "evaluation", "refine", "done"]
StopReason = Literal[
    "covered",
    "enough",
    "max_retries",
    "no_progress",
    "no_new_query",
    "deadline",
    "token_budget",
    "judge_failed",
    "tool_failed",
]


@dataclass(frozen=True, slots=True)
class EvidenceTask:
    """Find evidence for each of `target_items` (at least one), for the user who asked `user_query`.

    `max_retries` (0-20) limits the refinements after the first round of searches. `intent`, `context` and
    `stop_conditions` are free text that guides the queries and the stop rule.
    """

    user_query: str
    target_items: tuple[str, ...]
    max_retries: int
    intent: str | None = None
    context: str | None = None
    stop_conditions: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of text found by a search; `temp_index` identifies it within one request.

    `score` is the tool's own, on its own scale: comparable within one search only, higher is better.
    """

    temp_index: int
    text: str
    source: str | None = None
    page: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """One query and its candidates, best first."""

    query: str
    found: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The searches of a request, in order."""

    searches: tuple[Search, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries so far, in order."""
        return tuple(search.query for search in self.searches)

    @property
    def candidates(self) -> dict[int, Candidate]:
        """All candidates by temp_index, in order of first appearance."""
        return {candidate.temp_index: candidate for search in self.searches for candidate in search.found}


@dataclass(frozen=True, slots=True)
class Support:
    """A candidate that meets a need: `quote` is the supporting span of its text, `score` (0..1) how well."""

    temp_index: int
    quote: str
    score: float


@dataclass(frozen=True, slots=True)
class Need:
    """One part of `item`, met by any one of `supports`; missing without supports.

    An item is covered when each of its needs is met. `name` describes the need, for people and for the next query.
    """

    item: str
    name: str
    supports: tuple[Support, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The judge's verdict on the findings; an item without needs is missing.

    `unsure` are covered items that may be wrong: the search continues for them, and they do not count as success.
    `failure` names why the judge itself could not be used or trusted; such an evaluation never counts as success.
    """

    needs: tuple[Need, ...] = ()
    failure: Literal["judge_failed", "token_budget"] | None = None
    unsure: tuple[str, ...] = ()

    def covered(self, items: Sequence[str]) -> tuple[str, ...]:
        """Return those of `items` whose needs are all met."""
        named = {need.item for need in self.needs}
        lacking = {need.item for need in self.needs if not need.supports}
        return tuple(item for item in items if item in named and item not in lacking)

    def settled(self, items: Sequence[str]) -> bool:
        """Return whether all of `items` are surely covered."""
        return not self.missing(items) and not self.unsure

    def missing(self, items: Sequence[str]) -> tuple[str, ...]:
        """Return those of `items` that are not covered."""
        covered = set(self.covered(items))
        return tuple(item for item in items if item not in covered)


@dataclass(frozen=True, slots=True)
class Selected:
    """A selected candidate; `why` names the items it covers and quotes the supporting span."""

    temp_index: int
    why: str


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """The smallest set of candidates that covers all coverable items.

    `status`: COMPLETED when every target item is surely covered, NO_EVIDENCE when nothing is selected, otherwise
    PARTIAL. `coverage` maps each target item with evidence to the temp_index of its pieces; `stopped_by` is the cause
    of the end. `searches_used` counts calls of the search tool.
    """

    status: Status
    selected_evidence: tuple[Selected, ...]
    reasoning_summary: str
    coverage: Mapping[str, tuple[int, ...]]
    missing_items: tuple[str, ...]
    searches_used: int
    stopped_by: StopReason
    trace: Trace


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """A step of a running request, for observers; `data` is JSON-compatible and holds no candidate's text.

    plan {queries}; search {search_no, query}; candidates {search_no, found, new}; evaluation {covered, missing}; refine
    {round, queries}; done {status, selected, searches_used, stopped_by}.
    """

    name: EventName
    data: Mapping[str, Any]
