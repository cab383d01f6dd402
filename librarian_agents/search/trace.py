"""The trace of one request, step by step: append-only, and free of secrets and ids.

A step is a mapping of plain values with its name under "step": task, plan, search, evaluation, refine, done.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from librarian_agents.errors import InvalidTrace

VERSION = 1
Step = Mapping[str, Any]

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
    """Replaces secrets and ids by `[redacted-N]`; equal ones get the same N, so that differences remain visible."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, value: Any) -> Any:
        """Return `value` with every text in it redacted."""
        if isinstance(value, str):
            return _SECRETS_AND_IDS.sub(self._placeholder, value)
        if isinstance(value, Mapping):
            return {key: self(inner) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self(inner) for inner in value]
        return value

    def _placeholder(self, found: re.Match[str]) -> str:
        return f"[redacted-{self._numbers.setdefault(found[0], len(self._numbers) + 1)}]"


@dataclass(slots=True)
class Trace:
    """The steps of one request. They are redacted before they are added and never change."""

    _steps: list[Step] = field(default_factory=list)
    _redact: Redactor = field(default_factory=Redactor, repr=False, compare=False)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far."""
        return tuple(self._steps)

    def add(self, step: str, **values: Any) -> None:
        """Add a step of plain values."""
        self._steps.append({"step": step, **self._redact(values)})

    def named(self, *names: str) -> list[Step]:
        """Return the steps of these names, in order."""
        return [step for step in self._steps if step["step"] in names]

    def to_dict(self) -> dict[str, Any]:
        """Return the trace in its JSON form."""
        return {"version": VERSION, "steps": list(self._steps)}

    @classmethod
    def from_dict(cls, data: Any) -> "Trace":
        """Read a trace that `to_dict` wrote. Raises InvalidTrace."""
        steps = data.get("steps") if isinstance(data, Mapping) and data.get("version") == VERSION else None
        if not isinstance(steps, list) or not all(isinstance(step, dict) and "step" in step for step in steps):
            raise InvalidTrace
        trace = cls(list(steps))
        if len(trace.named("task")) != 1 or len(trace.named("done")) != 1:
            raise InvalidTrace("The trace is not whole: it has to hold one task and one end.")
        return trace
