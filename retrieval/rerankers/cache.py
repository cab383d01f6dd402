"""Cache of scores: the same question about the same text is not computed twice."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from retrieval.rerankers.base import PairScorer, Reranker, Score

MAX_SCORES = 20_000
"""A few megabytes: a key takes 32 bytes."""


class ScoreCache:
    """The most recently used scores, at most `max_scores`."""

    def __init__(self, max_scores: int = MAX_SCORES) -> None:
        self._most = max_scores
        self._scores: OrderedDict[bytes, Score] = OrderedDict()

    def get(self, key: bytes) -> Score | None:
        """Return the score of `key`, which becomes the most recently used."""
        if (score := self._scores.get(key)) is not None:
            self._scores.move_to_end(key)
        return score

    def put(self, key: bytes, score: Score) -> None:
        """Keep a certain score; a guess is worth computing again."""
        if not score.certain:
            return
        self._scores[key] = score
        self._scores.move_to_end(key)
        if len(self._scores) > self._most:
            self._scores.popitem(last=False)

    def __len__(self) -> int:
        return len(self._scores)


class CachedReranker(PairScorer):
    """A reranker that computes only scores missing from its cache, and those of a repeated text once."""

    def __init__(self, reranker: Reranker, cache: ScoreCache | None = None) -> None:
        self._reranker = reranker
        self._cache = ScoreCache() if cache is None else cache

    @property
    def batch_size(self) -> int:
        """Number of pairs that are best scored together."""
        return self._reranker.batch_size

    async def identity(self) -> str:
        """Return the identity of the wrapped reranker."""
        return await self._reranker.identity()

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order."""
        identity = await self.identity()
        keys = [score_key(identity, query, document) for document in documents]
        scores = {key: score for key in keys if (score := self._cache.get(key)) is not None}
        missing = {key: document for key, document in zip(keys, documents, strict=True) if key not in scores}
        if missing:
            fresh = await self._reranker.score_pairs(query, list(missing.values()))
            for key, score in zip(missing, fresh, strict=True):
                scores[key] = score
                self._cache.put(key, score)
        return [scores[key] for key in keys]

    async def is_available(self) -> bool:
        """Return whether the wrapped reranker would answer now."""
        return await self._reranker.is_available()

    async def close(self) -> None:
        """Close the wrapped reranker."""
        await self._reranker.close()


def score_key(identity: str, query: str, document: str) -> bytes:
    """Return a hash of everything that a score depends on; equal only for equal parts."""
    digest = hashlib.sha256()
    for part in (identity, query, document):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()
