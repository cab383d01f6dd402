"""What the Professor's search is sent, and what its answer must be. Pure: bytes in, candidates and violations out.

Sent: `{"request_id": "…", "search_no": 1, "query": "…"}`. Answered: `{"candidates": [{"temp_index": 0, "text": "…",
"source"?: "…", "page"?: 12, "score"?: 0.5}, …]}`, best first. Through one request_id a temp_index names one text.
Fields beyond these are not read.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agents.types import Candidate

_MAX_INDEX = 2**53
_LISTED = 5
_KINDS = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}


@dataclass(frozen=True, slots=True)
class Violation:
    """A place in an answer, and the rule that it breaks; holds no text of the answer."""

    path: str
    rule: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the candidates that keep the contract, and every violation."""

    candidates: Sequence[Candidate]
    violations: Sequence[Violation] = ()


class SearchBody(msgspec.Struct, frozen=True):
    """What is sent: the `search_no`th search (from 1) for `request_id`."""

    request_id: str
    search_no: int
    query: str


def read_answer(body: bytes) -> Answer:
    """The candidates of an answer's JSON."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Answer((), [Violation("$", "it must be JSON")])
    if not isinstance(decoded, dict):
        return Answer((), [Violation("$", f"it must be an object, not {_kind(decoded)}")])
    listed = decoded.get("candidates")
    if not isinstance(listed, list):
        found = _kind(listed) if "candidates" in decoded else "missing"
        return Answer((), [Violation("$.candidates", f"it must be a list, not {found}")])
    candidates, violations = [], []
    for place, entry in enumerate(listed):
        faults = list(_faults(f"$.candidates[{place}]", entry))
        violations += faults
        if not faults:
            candidates.append(_candidate(entry))
    return Answer(candidates, violations)


def told(violations: Sequence[Violation]) -> str:
    """The violations in one line, the first five of them by name."""
    named = "; ".join(map(str, violations[:_LISTED]))
    more = len(violations) - _LISTED
    return f"{named}; and {more} more" if more > 0 else named


@dataclass(slots=True)
class Numbering:
    """Which text each temp_index of one request_id stands for; keeps digests, not texts."""

    _seen: dict[int, tuple[int, bytes]] = field(default_factory=dict)

    def check(self, search_no: int, candidates: Sequence[Candidate]) -> list[Violation]:
        """Note the candidates of a search; a violation for each index that stood for another text before."""
        return [
            violation
            for one in candidates
            if (violation := self._note(search_no, one.temp_index, _digest(one.text))) is not None
        ]

    def _note(self, search_no: int, index: int, digest: bytes) -> Violation | None:
        first, known = self._seen.setdefault(index, (search_no, digest))
        if known == digest:
            return None
        return Violation(
            f"temp_index {index} of search {search_no}",
            f"it stood for another text in search {first}; numbering goes on through one request_id",
        )


def _faults(path: str, entry: Any) -> Iterator[Violation]:
    if not isinstance(entry, dict):
        yield Violation(path, f"it must be an object, not {_kind(entry)}")
        return
    if not _is_index(entry.get("temp_index")):
        yield Violation(f"{path}.temp_index", f"it must be a whole number from 0, not {_index(entry)}")
    text = entry.get("text")
    if not isinstance(text, str) or not text.strip():
        yield Violation(f"{path}.text", f"it must be a text that is not blank, not {_named(entry, 'text')}")
    if not isinstance(entry.get("source"), str | None):
        yield Violation(f"{path}.source", f"it must be a text, not {_kind(entry['source'])}")
    if not isinstance(entry.get("page"), str | int | None) or isinstance(entry.get("page"), bool):
        yield Violation(f"{path}.page", f"it must be a text or a whole number, not {_kind(entry['page'])}")
    if not _is_score(entry.get("score")):
        yield Violation(f"{path}.score", f"it must be a number, not {_kind(entry['score'])}")


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INDEX


def _is_score(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))


def _candidate(entry: dict[str, Any]) -> Candidate:
    page, score = entry.get("page"), entry.get("score")
    return Candidate(
        temp_index=entry["temp_index"],
        text=entry["text"],
        source=entry.get("source"),
        page=None if page is None else str(page),
        score=None if score is None else float(score),
    )


def _index(entry: dict[str, Any]) -> str:
    value = entry.get("temp_index")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return _named(entry, "temp_index")
    return f"{value:g}" if abs(value) <= _MAX_INDEX else "one so large"


def _named(entry: dict[str, Any], name: str) -> str:
    if name not in entry:
        return "missing"
    return "blank" if isinstance(entry[name], str) and not entry[name].strip() else _kind(entry[name])


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
