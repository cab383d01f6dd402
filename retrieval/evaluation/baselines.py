"""Baselines over texts in memory: BM25, an encoder's exact cosine, and both fused by rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.encoders.base import Encoder, Vectors
from retrieval.evaluation.bm25 import Bm25
from retrieval.fusion import Ranking, reciprocal_rank_fusion
from retrieval.passages import embedding_text, passages
from retrieval.types import KEYWORD, VECTOR

RRF_K = 60
"""As in the paper, and in most systems that use it."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a corpus, with its text for the product's keyword index (retrieval.text.keyword_text)."""

    id: str
    text: str
    author: str | None
    keywords: str


class Baseline(Protocol):
    """Ranks the documents of one corpus."""

    async def ranked(self, query: str) -> list[str]:
        """Return ids of documents, best first, ties in the order of the corpus."""


class KeywordBaseline:
    """BM25."""

    def __init__(self, documents: Sequence[Document], index: Bm25) -> None:
        self._documents = documents
        self._index = index

    async def ranked(self, query: str) -> list[str]:
        """Return the documents that hold a word of the query."""
        return _ordered(self._documents, self._index.scores(query))


class EncoderBaseline:
    """Cosine of the query and the best passage of each document, without any index; created by `encoded`."""

    def __init__(
        self, documents: Sequence[Document], encoder: Encoder, vectors: Vectors, owners: Sequence[int]
    ) -> None:
        self._documents = documents
        self._encoder = encoder
        self._vectors = vectors
        self._owners = owners

    async def ranked(self, query: str) -> list[str]:
        """Return all documents."""
        (vector,) = await self._encoder.encode_query([query])
        best: dict[int, float] = {}
        for owner, cosine in zip(self._owners, (self._vectors @ vector).tolist(), strict=True):
            best[owner] = max(cosine, best.get(owner, cosine))
        return _ordered(self._documents, best)


async def encoded(documents: Sequence[Document], encoder: Encoder) -> EncoderBaseline:
    """Return the baseline over passages as the product cuts and writes them."""
    parts = [(index, part) for index, document in enumerate(documents) for part in passages(document.text)]
    texts = [embedding_text(documents[index].author, part) for index, part in parts]
    vectors = await encoder.encode_passages(texts)
    return EncoderBaseline(documents, encoder, vectors, [index for index, _ in parts])


class FusedBaseline:
    """Reciprocal rank fusion of both over full rankings."""

    def __init__(self, keyword: Baseline, vector: Baseline) -> None:
        self._arms = {KEYWORD: keyword, VECTOR: vector}

    async def ranked(self, query: str) -> list[str]:
        """Return the documents of either arm."""
        found = {arm: await baseline.ranked(query) for arm, baseline in self._arms.items()}
        rankings = [Ranking(0, arm, ids, [0.0] * len(ids)) for arm, ids in found.items()]
        return [fused.uid for fused in reciprocal_rank_fusion(rankings, k=RRF_K)]


def _ordered(documents: Sequence[Document], scores: Mapping[int, float]) -> list[str]:
    return [documents[index].id for index in sorted(scores, key=lambda index: (-scores[index], index))]
