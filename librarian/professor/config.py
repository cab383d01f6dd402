"""Where the Professor is, and what is taken from it."""

from dataclasses import dataclass, field

DEFAULT_TIMEOUT_S = 10.0
DEFAULT_MAX_RETRIES = 2
DEFAULT_MAX_CANDIDATES = 100
DEFAULT_MAX_ANSWER_MB = 8


@dataclass(frozen=True, slots=True)
class ProfessorConfig:
    """`timeout_s` bounds one attempt of a search, which is repeated up to `max_retries` times when the Professor is
    busy, late or cannot be reached. Of each answer the first `max_candidates` are looked at; an answer of more than
    `max_answer_bytes` is refused.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = DEFAULT_TIMEOUT_S
    max_retries: int = DEFAULT_MAX_RETRIES
    max_candidates: int = DEFAULT_MAX_CANDIDATES
    max_answer_bytes: int = DEFAULT_MAX_ANSWER_MB * 2**20
