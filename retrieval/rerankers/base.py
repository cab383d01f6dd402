"""The interface of rerankers: from a query and texts to the probability that each text answers the query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from retrieval.rerankers.errors import RerankerError

T = TypeVar("T")

Endpoint = Literal["chat", "rerank"]

DEFAULT_INSTRUCTION = "Given a query, retrieve relevant facts that answer the query"


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """Address and limits of a reranker.

    `model` is the name sent to the server, or "cross-encoder:<name or path>" for one in this process, which uses
    neither address, key nor `max_concurrent`. `timeout_s` bounds one call, whatever the number of pairs;
    `max_concurrent` bounds the requests in flight and `batch_size` the pairs of one step. `endpoint` "rerank" uses
    /v1/rerank if it is proven to agree with chat. `oversample` is the number of candidates for each hit wanted.
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
    """The probability in 0..1 that a text answers a query; not `certain` if it is only a guess.

    `fault` is the code of a RerankerError for this text alone: then there is no score.
    """

    value: float
    certain: bool = True
    fault: str | None = None


UNKNOWN = Score(0.5, certain=False)
"""The reranker said nothing about the pair."""


def scored(found: Sequence[Score | RerankerError]) -> list[Score]:
    """Return the scores, marking texts that met an error of their own. Raises the first error if all did."""
    errors = [each for each in found if isinstance(each, RerankerError)]
    if errors and len(errors) == len(found):
        raise errors[0]
    return [Score(0.5, certain=False, fault=each.code) if isinstance(each, RerankerError) else each for each in found]


@dataclass(frozen=True, slots=True)
class Ranked(Generic[T]):
    """An item with its score; `position` is its earlier rank."""

    item: T
    score: Score
    position: int


class Reranker(Protocol):
    """Scores pairs of a query and a document. All methods but `is_available` raise RerankerError.

    A text that the reranker fails on loses only its own score.
    """

    @property
    def batch_size(self) -> int:
        """Number of pairs that are best scored together."""

    async def identity(self) -> str:
        """Return what the scores depend on besides query and document; scores may be cached while it is unchanged."""

    async def score_pair(self, query: str, document: str) -> Score:
        """Return the score of one document."""

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order."""

    async def rerank(
        self, query: str, items: Sequence[T], text_extractor: Callable[[T], str], top_k: int | None = None
    ) -> list[Ranked[T]]:
        """Return the best `top_k` items (None: all), best first; equal scores keep their order."""

    async def is_available(self) -> bool:
        """Return whether it would answer now, however well. Never raises."""

    async def close(self) -> None:
        """Release threads and connections; the reranker cannot be used afterwards."""


class PairScorer:
    """Implements the other verbs by `score_pairs`."""

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order."""
        raise NotImplementedError

    async def score_pair(self, query: str, document: str) -> Score:
        """Return the score of one document."""
        (score,) = await self.score_pairs(query, [document])
        return score

    async def rerank(
        self, query: str, items: Sequence[T], text_extractor: Callable[[T], str], top_k: int | None = None
    ) -> list[Ranked[T]]:
        """Return the best `top_k` items (None: all), best first; equal scores keep their order."""
        scores = await self.score_pairs(query, [text_extractor(item) for item in items])
        return ranked(items, scores, top_k)


def ranked(items: Sequence[T], scores: Sequence[Score], top_k: int | None = None) -> list[Ranked[T]]:
    """Return `items` by their scores, best first, equal scores in order; at most `top_k` of them."""
    pairs = zip(items, scores, strict=True)
    entries = [Ranked(item, score, position) for position, (item, score) in enumerate(pairs)]
    return sorted(entries, key=lambda entry: -entry.score.value)[:top_k]


def probability(value: object) -> float | None:
    """Return `value` if it is a number in 0..1, else None: models and servers also return NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
