"""Limits of one request, and a budget that is checked before anything is spent."""

from dataclasses import dataclass, field
from typing import Protocol

from librarian_agents.errors import TokenBudgetExhausted

MAX_RETRIES = 20
"""Maximum refinements per request."""


class Clock(Protocol):
    """Monotonic time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request.

    `deadline_s` ends it with the best result so far. `token_budget` counts prompts and replies of the language model,
    estimated before each call. `idle_rounds` is the number of consecutive rounds that may bring nothing new, times the
    rounds needed to ask for each missing item once. Only the first `candidates_per_search` of each search, the first
    `candidates` of a request, and the first `text_chars` of each text are read.
    """

    deadline_s: float = 60.0
    token_budget: int = 60_000
    max_refinements: int = MAX_RETRIES
    idle_rounds: int = 2
    queries_per_round: int = 4
    query_chars: int = 400
    candidates_per_search: int = 100
    candidates: int = 500
    text_chars: int = 8_000


@dataclass(slots=True)
class Budget:
    """The remaining time and tokens of a request, and the consecutive failures of its language model."""

    limits: Limits
    clock: Clock
    tokens: int = 0
    model_failures: int = 0
    _ends: float = field(init=False)

    def __post_init__(self) -> None:
        self._ends = self.clock.monotonic() + self.limits.deadline_s

    def remaining_s(self) -> float:
        """Seconds until the deadline, 0 once it has passed."""
        return max(0.0, self._ends - self.clock.monotonic())

    def spend(self, tokens: int) -> None:
        """Count `tokens` about to be used. Raises TokenBudgetExhausted, and counts none, if too few are left."""
        if self.tokens + tokens > self.limits.token_budget:
            raise TokenBudgetExhausted
        self.tokens += tokens
