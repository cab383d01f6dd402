"""Scores that are known already: the same question about the same text is not computed twice."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from retrieval.rerankers.base import PairScorer, Reranker, Score

MAX_SCORES = 20_000
"""A few megabytes: a key takes 32 bytes."""


class ScoreCache:
    """The scores that were used last, at most `max_scores`."""

    def __init__(self, max_scores: int = MAX_SCORES) -> None:
        self._most = max_scores
        self._scores: OrderedDict[bytes, Score] = OrderedDict()

    def get(self, key: bytes) -> Score | None:
        """The score of `key`, which counts as used now."""
        if (known := self._scores.get(key)) is not None:
            self._scores.move_to_end(key)
        return known

    def put(self, key: bytes, score: Score) -> None:
        """Keep a certain score; a guess is worth asking again."""
        if not score.certain:
            return
        self._scores[key] = score
        self._scores.move_to_end(key)
        if len(self._scores) > self._most:
            self._scores.popitem(last=False)

    def __len__(self) -> int:
        return len(self._scores)


class CachedReranker(PairScorer):
    """A reranker that is asked only for what its cache does not hold, and for a text that occurs twice only once."""

    def __init__(self, reranker: Reranker, cache: ScoreCache | None = None) -> None:
        self._reranker = reranker
        self._cache = ScoreCache() if cache is None else cache

    @property
    def batch_size(self) -> int:
        """Pairs that are best scored together."""
        return self._reranker.batch_size

    async def identity(self) -> str:
        """That of the reranker behind."""
        return await self._reranker.identity()

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """The scores of `documents`, in their order."""
        identity = await self.identity()
        keys = [score_key(identity, query, document) for document in documents]
        known = {key: score for key in keys if (score := self._cache.get(key)) is not None}
        missing = {key: document for key, document in zip(keys, documents, strict=True) if key not in known}
        if missing:
            fresh = await self._reranker.score_pairs(query, list(missing.values()))
            for key, score in zip(missing, fresh, strict=True):
                known[key] = score
                self._cache.put(key, score)
        return [known[key] for key in keys]

    async def is_available(self) -> bool:
        """Whether the reranker behind would answer now."""
        return await self._reranker.is_available()

    async def close(self) -> None:
        """Close the reranker behind."""
        await self._reranker.close()


def score_key(identity: str, query: str, document: str) -> bytes:
    """A hash of everything that a score depends on; equal only for equal parts."""
    digest = hashlib.sha256()
    for part in (identity, query, document):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()
