"""A plain hybrid search over few texts in memory, such as the owner of a small pool of documents might offer."""

from collections.abc import Sequence

import numpy as np

from retrieval.encoders.base import Encoder, Vectors
from retrieval.evaluation.bm25 import Bm25
from retrieval.evidence import terms

_VECTOR_SHARE = 0.65
"""Share in the weighted sum of both arms' scores, each scaled from worst to best: the best plain fusion on LoCoMo
turns.
"""


class PoolSearch:
    """BM25 and an encoder's cosine, fused by score; BM25 alone without an encoder. Texts are encoded on first use."""

    def __init__(self, texts: Sequence[str], encoder: Encoder | None) -> None:
        self._texts = texts
        self._keywords = Bm25(texts, terms)
        self._encoder = encoder
        self._vectors: Vectors | None = None

    async def ranked(self, query: str, most: int) -> list[tuple[int, float]]:
        """Return the indexes of the best texts with their scores (0..1), ties in the order of the texts."""
        found = self._keywords.scores(query)
        scores = _spread(np.array([found.get(index, 0.0) for index in range(len(self._texts))]))
        if self._encoder is not None:
            scores = (1 - _VECTOR_SHARE) * scores + _VECTOR_SHARE * _spread(await self._cosines(self._encoder, query))
        order = np.argsort(-scores, kind="stable")[:most]
        return [(int(index), float(scores[index])) for index in order]

    async def _cosines(self, encoder: Encoder, query: str) -> Vectors:
        if self._vectors is None:
            self._vectors = await encoder.encode_passages(self._texts)
        (vector,) = await encoder.encode_query([query])
        cosines: Vectors = self._vectors @ vector
        return cosines


def _spread(scores: Vectors) -> Vectors:
    """Return scores from 0 (the worst) to 1 (the best); all 0 if they are equal."""
    low, high = scores.min(initial=0.0), scores.max(initial=0.0)
    spread: Vectors = (scores - low) / (high - low) if high > low else np.zeros_like(scores)
    return spread
