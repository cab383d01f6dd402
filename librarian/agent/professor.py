"""The Professor's search as the agent's tool: its contract, and one conversation per request over shared connections.

Request: `{"request_id": "…", "search_no": 1, "query": "…"}`. Response: `{"candidates": [{"temp_index": 0, "text": "…",
"source"?: "…", "page"?: 12, "score"?: 0.5}, …]}`, best first. Within one request_id a temp_index names one text. Other
fields are ignored. Only the configured address is contacted: redirects are not followed, and nothing in a response can
name another address.
"""

import asyncio
import hashlib
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
import stamina

from graph.executor import deadline
from librarian.base import tracing
from librarian.base.settings.settings import ProfessorConfig
from librarian.base.settings.values import is_loopback
from librarian_agents.errors import ToolContractBroken, ToolFailed, ToolRetry
from librarian_agents.search.types import Candidate

if TYPE_CHECKING:
    import httpx

LONGEST_PAUSE_S = 5.0
"""A Professor that requests a longer pause (Retry-After) counts as unavailable: a user is waiting."""

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_BUSY = (429, 503)
_NOT_ALLOWED = (401, 403)
_OK = 200
_FIRST_PAUSE_S = 0.2
_RESERVE_S = 0.5
_RESERVED_SHARE = 0.125
_MAX_INDEX = 2**53
_LISTED = 5
_KINDS = {bool: "true or false", str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}

logger = logging.getLogger("librarian.professor")


@dataclass(frozen=True, slots=True)
class Violation:
    """A location in an answer, and the rule it violates; holds no text of the answer."""

    path: str
    rule: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the valid candidates, and every violation."""

    candidates: Sequence[Candidate]
    violations: Sequence[Violation] = ()


class SearchBody(msgspec.Struct, frozen=True):
    """The body of a request: the `search_no`th search (from 1) for `request_id`."""

    request_id: str
    search_no: int
    query: str


def read_answer(body: bytes) -> Answer:
    """Read the candidates of an answer's JSON."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Answer((), [Violation("$", "it must be JSON")])
    if not isinstance(decoded, dict):
        return Answer((), [Violation("$", f"it must be an object, not {_kind(decoded)}")])
    entries = decoded.get("candidates")
    if not isinstance(entries, list):
        found = _kind(entries) if "candidates" in decoded else "missing"
        return Answer((), [Violation("$.candidates", f"it must be a list, not {found}")])
    candidates, violations = [], []
    for index, entry in enumerate(entries):
        faults = list(_faults(f"$.candidates[{index}]", entry))
        violations += faults
        if not faults:
            candidates.append(_candidate(entry))
    return Answer(candidates, violations)


def listed(violations: Sequence[Violation]) -> str:
    """Join the violations in one line, the first five of them by name."""
    named = "; ".join(map(str, violations[:_LISTED]))
    more = len(violations) - _LISTED
    return f"{named}; and {more} more" if more > 0 else named


@dataclass(slots=True)
class Numbering:
    """The texts that the temp_index values of one request_id stand for, kept as digests."""

    _seen: dict[int, tuple[int, bytes]] = field(default_factory=dict)

    def check(self, search_no: int, candidates: Sequence[Candidate]) -> list[Violation]:
        """Record the candidates of a search; return a violation for each index that stood for another text before."""
        return [
            violation
            for candidate in candidates
            if (violation := self._note(search_no, candidate.temp_index, _digest(candidate.text))) is not None
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
    return f"{value:g}" if abs(value) <= _MAX_INDEX else "such a large number"


def _named(entry: dict[str, Any], name: str) -> str:
    if name not in entry:
        return "missing"
    return "blank" if isinstance(entry[name], str) and not entry[name].strip() else _kind(entry[name])


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a request, passed unchanged to the Professor's logs and traces."""

    request_id: str | None = None
    traceparent: str | None = None

    def headers(self) -> dict[str, str]:
        """Return Request-Id, and traceparent (W3C Trace Context) if it is valid."""
        sent = {} if self.request_id is None else {"Request-Id": self.request_id}
        if self.traceparent is not None and _TRACEPARENT.fullmatch(self.traceparent):
            sent["traceparent"] = self.traceparent
        return sent


UNKNOWN = Origin()


class Professor:
    """The Professor's search; safe for concurrent tasks. Connects on first use."""

    def __init__(self, config: ProfessorConfig) -> None:
        self.config = config

    def conversation(self, request_id: str, origin: Origin) -> "Conversation":
        """Return the search tool of one request. `request_id` must be new: numbering continues throughout it."""
        return Conversation(self, request_id, origin)

    async def post(self, body: SearchBody, headers: Mapping[str, str], timeout_s: float) -> bytes:
        """Return the body of one answer after a single attempt. Raises ToolRetry, ToolFailed, ToolContractBroken."""
        import httpx

        wanted = {**headers, "Request-Timeout-Ms": str(max(1, int(timeout_s * 1000)))}
        # Created before the clock starts: loading certificates is slow and not the Professor's time.
        http = self._http
        try:
            async with (
                asyncio.timeout(timeout_s),
                http.stream("POST", self.config.url, content=msgspec.json.encode(body), headers=wanted) as answer,
            ):
                _check_status(answer)
                return await self._whole(answer)
        except TimeoutError:
            raise ToolRetry(f"The Professor's search did not answer within {timeout_s:.3g} s.") from None
        except httpx.TransportError as error:
            raise ToolRetry(f"The Professor's search does not answer ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise ToolContractBroken("The Professor's answer is not encoded as it says.") from None
        except httpx.InvalidURL:
            raise ToolFailed("The Professor's address is not valid. Check PROFESSOR_SEARCH_URL.") from None

    async def aclose(self) -> None:
        """Close the connections; the next search opens new ones."""
        if (http := self.__dict__.pop("_http", None)) is not None:
            await http.aclose()

    @cached_property
    def _http(self) -> "httpx.AsyncClient":
        import httpx

        config = self.config
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if config.api_key:
            headers["Authorization"] = f"Bearer {config.api_key}"
        return httpx.AsyncClient(
            headers=headers,
            timeout=None,  # noqa: S113 - each attempt is bounded as a whole, which a timeout a chunk is not
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            trust_env=not is_loopback(urlsplit(config.url).hostname or ""),
        )

    async def _whole(self, answer: "httpx.Response") -> bytes:
        """Return the body unless it is too long."""
        parts, size = [], 0
        async for part in answer.aiter_bytes():
            size += len(part)
            if size > self.config.max_answer_bytes:
                most = f"{self.config.max_answer_bytes / 2**20:g} MB"
                raise ToolContractBroken(f"The Professor's answer is larger than {most} (PROFESSOR_MAX_ANSWER_MB).")
            parts.append(part)
        return b"".join(parts)


@dataclass(slots=True)
class Conversation:
    """The searches of one request: counted, retried if useful, and checked against the contract."""

    professor: Professor
    request_id: str
    origin: Origin
    _searches: int = 0
    _numbering: Numbering = field(default_factory=Numbering)

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the Professor's candidates, best first; a retry has the number of the first attempt.

        Raises ToolRetry, ToolFailed, and ToolContractBroken with the violations.
        """
        self._searches += 1
        number = self._searches
        config = self.professor.config
        body = SearchBody(self.request_id, number, query)
        async for attempt in stamina.retry_context(
            on=_pause, attempts=config.max_retries + 1, timeout=None, wait_initial=_FIRST_PAUSE_S, wait_max=2.0
        ):
            with attempt, tracing.span("professor search", kind="client"):
                headers = {**self.origin.headers(), **tracing.outgoing()}
                received = await self.professor.post(body, headers, _attempt_s(config.timeout_s))
        return self._checked(number, received)

    def _checked(self, number: int, received: bytes) -> Sequence[Candidate]:
        answer = read_answer(received)
        violations = [*answer.violations, *self._numbering.check(number, answer.candidates)]
        if violations:
            raise ToolContractBroken(f"The Professor's answer breaks the contract: {listed(violations)}.")
        most = self.professor.config.max_candidates
        if len(answer.candidates) > most:
            logger.info("the first %d of %d candidates are looked at", most, len(answer.candidates))
        return answer.candidates[:most]


class _Busy(ToolRetry):
    """The Professor's search is busy; it may have said for how long."""

    def __init__(self, status: int, retry_after: str | None) -> None:
        super().__init__(f"The Professor's search is busy (status {status}).")
        self.pause_s = float(retry_after) if retry_after and re.fullmatch(r"[0-9]{1,6}", retry_after) else None


def _pause(error: Exception) -> bool | float:
    """Whether to try again, or the seconds to wait before; stamina's backoff hook."""
    if not isinstance(error, ToolRetry) or time_left_s() <= 0:
        return False
    asked = error.pause_s if isinstance(error, _Busy) else None
    if asked is None:
        return True
    return asked if asked <= min(LONGEST_PAUSE_S, time_left_s()) else False


def _attempt_s(most_s: float) -> float:
    """Return the seconds that one attempt may take. Raises ToolRetry if none are left."""
    left_s = time_left_s(most_s)
    if left_s <= 0:
        raise ToolRetry("No time is left for the Professor's search.")
    return left_s


def time_left_s(most_s: float = math.inf) -> float:
    """Return the seconds that work on a request may still take, at most `most_s`.

    Counts to the deadline, minus a reserve for selecting, writing and sending the best result so far.
    """
    ends_at = deadline.get()
    if ends_at is None:
        return most_s
    left_s = ends_at - asyncio.get_running_loop().time()
    return min(most_s, left_s - min(_RESERVE_S, left_s * _RESERVED_SHARE))


def _check_status(answer: "httpx.Response") -> None:
    status = answer.status_code
    if status in _BUSY:
        raise _Busy(status, answer.headers.get("Retry-After"))
    if status in _NOT_ALLOWED:
        raise ToolFailed(f"The Professor's search refuses the key (status {status}). Check PROFESSOR_API_KEY.")
    if status >= 500:
        raise ToolFailed(f"The Professor's search failed (status {status}). Look at its log.")
    if status != _OK:
        raise ToolFailed(f"The Professor's search answers with status {status}. Check PROFESSOR_SEARCH_URL.")
