"""The Professor's search as the agent's tool: one conversation a request, over connections that all requests share.

It goes to the configured address alone: redirects are not followed, and nothing in an answer can name another one.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import stamina

from agents.errors import ToolContractBroken, ToolFailed, ToolRetry
from agents.types import Candidate
from graph.executor import deadline
from librarian import tracing
from librarian.professor.config import ProfessorConfig
from librarian.professor.contract import Numbering, SearchBody, read_answer, told
from librarian.setting_values import is_loopback

if TYPE_CHECKING:
    import httpx

LONGEST_PAUSE_S = 5.0
"""A Professor that asks for a longer pause (Retry-After) counts as away at once: somebody waits for the answer."""

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_BUSY = (429, 503)
_NOT_ALLOWED = (401, 403)
_OK = 200
_FIRST_PAUSE_S = 0.2
# What an answer needs to get back to whoever asked, before their time is up.
_MARGIN_S = 0.5

logger = logging.getLogger("librarian.professor")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from, for the Professor's log and traces: handed on as it came."""

    request_id: str | None = None
    traceparent: str | None = None

    def headers(self) -> dict[str, str]:
        """Request-Id, and traceparent (W3C Trace Context) where it is one."""
        sent = {} if self.request_id is None else {"Request-Id": self.request_id}
        if self.traceparent is not None and _TRACEPARENT.fullmatch(self.traceparent):
            sent["traceparent"] = self.traceparent
        return sent


UNKNOWN = Origin()


class Professor:
    """The Professor's search; safe for concurrent tasks. Connects on first use."""

    def __init__(self, config: ProfessorConfig) -> None:
        self.config = config
        self._opened = False

    def conversation(self, request_id: str, origin: Origin) -> "Conversation":
        """The search tool of one request. `request_id` must be new: numbering goes on through it."""
        return Conversation(self, request_id, origin)

    async def post(self, body: SearchBody, headers: Mapping[str, str], timeout_s: float) -> bytes:
        """The body of one answer, with one attempt. Raises ToolRetry, ToolFailed, ToolContractBroken."""
        import httpx

        wanted = {**headers, "Request-Timeout-Ms": str(max(1, int(timeout_s * 1000)))}
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._http.stream("POST", self.config.url, content=msgspec.json.encode(body), headers=wanted) as answer,
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
        """Close the connections."""
        if self._opened:
            await self._http.aclose()

    @cached_property
    def _http(self) -> "httpx.AsyncClient":
        import httpx

        config = self.config
        self._opened = True
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
        """The body, as long as it is not too long."""
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
    """The searches of one request: counted, repeated where that may help, and held to the contract."""

    professor: Professor
    request_id: str
    origin: Origin
    _searches: int = 0
    _numbering: Numbering = field(default_factory=Numbering)

    async def search(self, query: str) -> Sequence[Candidate]:
        """What the Professor finds, best first; a repeated attempt has the number of the first.

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
                received = await self.professor.post(body, headers, _patience_s(config.timeout_s))
        return self._checked(number, received)

    def _checked(self, number: int, received: bytes) -> Sequence[Candidate]:
        answer = read_answer(received)
        violations = [*answer.violations, *self._numbering.check(number, answer.candidates)]
        if violations:
            raise ToolContractBroken(f"The Professor's answer breaks the contract: {told(violations)}.")
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
    if not isinstance(error, ToolRetry) or _left_s() <= 0:
        return False
    asked = error.pause_s if isinstance(error, _Busy) else None
    if asked is None:
        return True
    return asked if asked <= min(LONGEST_PAUSE_S, _left_s()) else False


def _patience_s(most_s: float) -> float:
    """Seconds that an attempt may take: the request's own deadline counts too."""
    left_s = _left_s()
    if left_s <= 0:
        raise ToolRetry("No time is left for the Professor's search.")
    return min(most_s, left_s)


def _left_s() -> float:
    ends_at = deadline.get()
    return float("inf") if ends_at is None else ends_at - asyncio.get_running_loop().time() - _MARGIN_S


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
