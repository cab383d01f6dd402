"""What every reranker is: a query and texts in, the probability that each text answers the query out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from retrieval.rerankers.errors import RerankerError

T = TypeVar("T")

Endpoint = Literal["chat", "rerank"]

DEFAULT_INSTRUCTION = "Given a query, retrieve relevant facts that answer the query"


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """How to reach a reranker and what to ask of it.

    `model` is the name that the server is sent, or "cross-encoder:<name or path>" for one in this process, which uses
    neither address, key nor `max_concurrent`. `timeout_s` is the longest time of one call, whatever the number of
    pairs; `max_concurrent` bounds the requests in flight and `batch_size` the pairs of one step. `endpoint` "rerank"
    asks for /v1/rerank where it is proven to agree with chat. `oversample` is the number of candidates for each hit
    wanted.
    """

    base_url: str = "http://localhost:8080"
    api_key: str | None = field(default=None, repr=False)
    model: str = "qwen3-reranker"
    instruction: str = DEFAULT_INSTRUCTION
    timeout_s: float = 30.0
    max_concurrent: int = 10
    batch_size: int = 10
    oversample: float = 3.0
    endpoint: Endpoint = "chat"


@dataclass(frozen=True, slots=True)
class Score:
    """The probability in 0..1 that a text answers a query; not `certain` when it is no more than a guess.

    `fault` is the code of the RerankerError that this text alone has met: then there is no score.
    """

    value: float
    certain: bool = True
    fault: str | None = None


UNKNOWN = Score(0.5, certain=False)
"""The reranker said nothing about the pair."""


def scored(found: Sequence[Score | RerankerError]) -> list[Score]:
    """The scores, without one where a text met an error of its own. Raises the first error where all did."""
    errors = [each for each in found if isinstance(each, RerankerError)]
    if errors and len(errors) == len(found):
        raise errors[0]
    return [Score(0.5, certain=False, fault=each.code) if isinstance(each, RerankerError) else each for each in found]


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """An item with its score; `position` is where it stood before."""

    item: T
    score: Score
    position: int


class Reranker(Protocol):
    """Scores pairs of a query and a document. All methods but `is_available` raise RerankerError.

    A text that the reranker fails at costs its own score, not those of the others.
    """

    @property
    def batch_size(self) -> int:
        """Pairs that are best scored together."""

    async def identity(self) -> str:
        """What the scores depend on besides query and document; scores may be kept for as long as it is the same."""

    async def score_pair(self, query: str, document: str) -> Score:
        """The score of one document."""

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """The scores of `documents`, in their order."""

    async def rerank(
        self, query: str, items: Sequence[T], text_extractor: Callable[[T], str], top_k: int | None = None
    ) -> list[Ranked[T]]:
        """The best `top_k` items (None: all), best first; equal scores keep their order."""

    async def is_available(self) -> bool:
        """Whether it would answer now; says nothing of how well. Never raises."""

    async def close(self) -> None:
        """Give back threads and connections; the reranker cannot be used afterwards."""


class PairScorer:
    """The verbs that follow from `score_pairs`, for a class that has it."""

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """The scores of `documents`, in their order."""
        raise NotImplementedError

    async def score_pair(self, query: str, document: str) -> Score:
        """The score of one document."""
        (score,) = await self.score_pairs(query, [document])
        return score

    async def rerank(
        self, query: str, items: Sequence[T], text_extractor: Callable[[T], str], top_k: int | None = None
    ) -> list[Ranked[T]]:
        """The best `top_k` items (None: all), best first; equal scores keep their order."""
        scores = await self.score_pairs(query, [text_extractor(item) for item in items])
        return ranked(items, scores, top_k)


def ranked(items: Sequence[T], scores: Sequence[Score], top_k: int | None = None) -> list[Ranked[T]]:
    """`items` by their scores, best first, equal scores in their order; at most `top_k` of them."""
    pairs = zip(items, scores, strict=True)
    entries = [Ranked(item, score, position) for position, (item, score) in enumerate(pairs)]
    return sorted(entries, key=lambda entry: -entry.score.value)[:top_k]


def probability(value: object) -> float | None:
    """`value` when it is a number in 0..1, else None: models and servers also return NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
