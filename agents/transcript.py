"""What happened in one request, step by step: only ever added to, free of secrets and ids, and replayable.

A step is a mapping of plain values with its name under "step": task, plan, search, evaluation, refine, done.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from agents.errors import InvalidTrace, ToolContractBroken, ToolError, ToolFailed, ToolRetry
from agents.limits import Budget, Limits
from agents.types import Candidate, Evaluation, EvidenceTask, Findings, Need, Support

VERSION = 1
Step = Mapping[str, Any]
_T = TypeVar("_T")

_SECRETS_AND_IDS = re.compile(
    r"""
      -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*PRIVATE[ ]KEY-----|\Z)
    | \b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b                # a UUID
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                                        # user and password of an address
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                                      # a JSON web token
    | \b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs]|hf|lib)[-_][\w-]{12,}       # keys by their usual prefixes
    | \bAKIA[0-9A-Z]{12,}\b
    | (?<=[Bb]earer[ ])[\w.~+/=-]{8,}
    | (?i:(?<=password=)|(?<=password:[ ])|(?<=passwd=)|(?<=secret=)|(?<=secret:[ ])|(?<=token=)|(?<=token:[ ])
        |(?<=api_key=)|(?<=api_key:[ ])|(?<=apikey=)|(?<=api-key:[ ]))[^\s"',;]+
    | \b(?=[0-9a-fA-F]*\d)(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{24,}\b          # hashes, hexadecimal keys
    | \b(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w]{32,}\b                         # other long random words
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


class Redactor:
    """Replaces secrets and ids by `[redacted-N]`, the same one always by the same N: what differed still does."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, value: Any) -> Any:
        """`value` with every text in it redacted."""
        if isinstance(value, str):
            return _SECRETS_AND_IDS.sub(self._placeholder, value)
        if isinstance(value, Mapping):
            return {key: self(one) for key, one in value.items()}
        if isinstance(value, Sequence):
            return [self(one) for one in value]
        return value

    def _placeholder(self, found: re.Match[str]) -> str:
        return f"[redacted-{self._numbers.setdefault(found[0], len(self._numbers) + 1)}]"


@dataclass(slots=True)
class Trace:
    """The steps of one request. What is added is redacted first and never changes afterwards."""

    _steps: list[Step] = field(default_factory=list)
    _redact: Redactor = field(default_factory=Redactor, repr=False, compare=False)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What happened so far."""
        return tuple(self._steps)

    def add(self, step: str, **values: Any) -> None:
        """Add a step of plain values."""
        self._steps.append({"step": step, **self._redact(values)})

    def named(self, *names: str) -> list[Step]:
        """The steps of these names, in order."""
        return [step for step in self._steps if step["step"] in names]

    def to_dict(self) -> dict[str, Any]:
        """The trace as it is written to JSON."""
        return {"version": VERSION, "steps": list(self._steps)}

    @classmethod
    def from_dict(cls, data: Any) -> "Trace":
        """A trace as `to_dict` wrote it. Raises InvalidTrace."""
        steps = data.get("steps") if isinstance(data, Mapping) and data.get("version") == VERSION else None
        if not isinstance(steps, list) or not all(isinstance(one, dict) and "step" in one for one in steps):
            raise InvalidTrace
        trace = cls(list(steps))
        if len(trace.named("task")) != 1 or len(trace.named("done")) != 1:
            raise InvalidTrace("The trace is not whole: it has to hold one task and one end.")
        return trace

    def task(self) -> EvidenceTask:
        """What was asked. Raises InvalidTrace."""
        return _read(lambda: _task(self.named("task")[0]["task"]))

    def limits(self) -> Limits:
        """The bounds of the request, without its deadline. Raises InvalidTrace."""
        return _read(lambda: Limits(**{**self.named("task")[0]["limits"], "deadline_s": math.inf}))


def searched(query: str, found: Iterable[Candidate]) -> dict[str, Any]:
    """A search as a step's values."""
    return {"query": query, "candidates": [asdict(one) for one in found]}


def evaluated(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as a step's values."""
    return {"needs": [asdict(need) for need in evaluation.needs], "failure": evaluation.failure}


class RecordedTool:
    """The search tool of a trace: gives what was given then. Raises InvalidTrace when asked something else."""

    def __init__(self, trace: Trace) -> None:
        self._tape = _Tape(trace, "search")

    async def search(self, query: str) -> Sequence[Candidate]:
        """What this search found then, or the error it raised."""
        step = self._tape.next()
        if step["query"] != query:
            raise InvalidTrace("The replay asks for another search than the trace holds.")
        if "error" in step:
            raise _TOOL_ERRORS.get(step["error"], ToolFailed)
        return _read(lambda: [Candidate(**one) for one in step["candidates"]])


class RecordedReasoner:
    """The reasoner of a trace, whichever it was: decides as was decided then."""

    def __init__(self, trace: Trace) -> None:
        self._plans = _Tape(trace, "plan")
        self._evaluations = _Tape(trace, "evaluation")
        self._refinements = _Tape(trace, "refine")

    @property
    def name(self) -> str:
        """That it only repeats."""
        return "recorded"

    async def plan(self, _task: EvidenceTask, _budget: Budget, /) -> Sequence[str]:
        """The first queries of then."""
        return list(self._plans.next()["queries"])

    async def evaluate(self, _task: EvidenceTask, _findings: Findings, _budget: Budget, /) -> Evaluation:
        """The evaluation of then."""
        step = self._evaluations.next()
        return _read(lambda: Evaluation(tuple(_need(one) for one in step["needs"]), step["failure"]))

    async def refine(
        self, _task: EvidenceTask, _findings: Findings, _evaluation: Evaluation, _budget: Budget, /
    ) -> Sequence[str]:
        """The next queries of then."""
        return list(self._refinements.next()["queries"])


class _Tape:
    """The steps of one name, each given once. Where a deadline cut the request short, it is cut short again."""

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


_TOOL_ERRORS: dict[str, type[ToolError]] = {one.code: one for one in (ToolRetry, ToolFailed, ToolContractBroken)}


def _task(data: Mapping[str, Any]) -> EvidenceTask:
    task = EvidenceTask(**{**data, "target_items": tuple(data["target_items"])})
    texts = (task.user_query, *task.target_items)
    if not all(isinstance(text, str) for text in texts) or not isinstance(task.max_retries, int):
        raise InvalidTrace
    return task


def _need(data: Mapping[str, Any]) -> Need:
    return Need(data["item"], data["name"], tuple(Support(**one) for one in data["supports"]))


def _read(made: Callable[[], _T]) -> _T:
    try:
        return made()
    except (KeyError, TypeError, ValueError):
        raise InvalidTrace from None
