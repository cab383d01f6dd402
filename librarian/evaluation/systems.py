"""The systems to compare: Librarian's search with changed settings, and baselines over the same texts.

A system is written `NAME,option=value,…`. Names: hybrid, vector and keyword are searches; bm25, bm25-plain, encoder and
rrf60 are baselines, which have no options.
"""

import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from graph.types import ItemFilter
from librarian.base.errors import InvalidInput
from librarian.evaluation.data import Dataset, Question
from librarian.runtime.reranking import Reranking
from retrieval.arms import OK
from retrieval.encoders.base import Encoder
from retrieval.evaluation.baselines import Baseline, Document, FusedBaseline, KeywordBaseline, encoded
from retrieval.evaluation.bm25 import Analyser, Bm25, plain_words, stemmed_words
from retrieval.linear import default_weights
from retrieval.pipeline import NOT_ASKED, SearchPipeline
from retrieval.rerankers.cascade import candidate_text
from retrieval.thresholds import AdaptiveBound, FixedBound
from retrieval.types import BOTH_ARMS, KEYWORD, VECTOR, ScoredItem, SearchRequest

EACH_SIGNAL = "hybrid,without=each"
"""Stands for one system per signal, each without that signal."""

_ARMS = {"hybrid": BOTH_ARMS, "vector": frozenset({VECTOR}), "keyword": frozenset({KEYWORD})}
_BASELINES = ("bm25", "bm25-plain", "encoder", "rrf60")
_FUSIONS = ("linear", "rrf", "score_sum", "score_max")
# A session has about ten turns: this many hits usually cover twenty sessions.
_HITS_A_UNIT = {"session": 10}


@dataclass(frozen=True, slots=True)
class Answered:
    """Distinct ids, best first, and notes on arms that did not run."""

    ranked: Sequence[str]
    notes: Sequence[str] = ()


class System(Protocol):
    """Answers the questions of one data set."""

    async def answer(self, question: Question) -> Answered:
        """Return the ids found for one question."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Librarian's search with settings: the changed request, and whether to rerank."""

    request: SearchRequest
    rerank: bool = False


def names_of(written: Sequence[str]) -> list[str]:
    """Return the distinct systems, with "each signal" expanded. Raises InvalidInput for an unknown system."""
    names: dict[str, None] = {}
    for name in written:
        each = [f"hybrid,without={signal}" for signal in default_weights()] if name == EACH_SIGNAL else [name]
        names |= dict.fromkeys(map(checked_name, each))
    return list(names)


def checked_name(name: str) -> str:
    """Return `name` if it names a system. Raises InvalidInput."""
    if name not in _BASELINES:
        variant_of(name)
    return name


def variant_of(name: str) -> Variant:
    """Return the search that `name` describes. Raises InvalidInput."""
    arms, *options = name.split(",")
    if arms not in _ARMS:
        raise _unknown(name, f"there is no system {arms!r}")
    variant = Variant(SearchRequest([], ItemFilter(""), limit=1, arms=_ARMS[arms]))
    for option in options:
        key, _, value = option.partition("=")
        if key not in _OPTIONS:
            raise _unknown(name, f"there is no option {key!r}")
        variant = _OPTIONS[key](variant, value)
    return variant


class Systems:
    """Creates the systems of one data set."""

    def __init__(self, pipeline: SearchPipeline, reranking: Reranking, encoder: Encoder | None, limit: int) -> None:
        self._pipeline = pipeline
        self._reranking = reranking
        self._encoder = encoder
        self._limit = limit
        self._encoded: dict[str, Baseline] = {}

    def make(self, name: str, dataset: Dataset) -> System:
        """Return the system `name`. Raises InvalidInput if a requirement is missing."""
        if name in _BASELINES:
            return _BaselineSystem(dataset.corpora(), self._baseline(name), self._limit)
        return _SearchSystem(self._pipeline, self._reranking, variant_of(name), dataset, self._limit)

    def _baseline(self, name: str) -> "Make":
        match name:
            case "bm25-plain":
                return _keyword_maker(plain_words, k1=1.2, b=0.75)
            case "bm25":
                return _keyword_maker(_stemmer())
            case "encoder":
                return self._encoder_maker(name)
        keyword, vector = _keyword_maker(_stemmer()), self._encoder_maker(name)

        async def fused(namespace: str, documents: Sequence[Document]) -> Baseline:
            return FusedBaseline(await keyword(namespace, documents), await vector(namespace, documents))

        return fused

    def _encoder_maker(self, name: str) -> "Make":
        """Return a factory that encodes the texts of a namespace once for all systems."""
        encoder = self._encoder
        if encoder is None:
            raise InvalidInput(f"{name} needs an encoder", field="--system", remedy="Set LIBRARIAN_ENCODER.")

        async def make(namespace: str, documents: Sequence[Document]) -> Baseline:
            if namespace not in self._encoded:
                self._encoded[namespace] = await encoded(documents, encoder)
            return self._encoded[namespace]

        return make


Make = Callable[[str, Sequence[Document]], Awaitable[Baseline]]
"""A baseline over the documents of a namespace."""


class _BaselineSystem:
    """A baseline: one index per corpus, built on first use."""

    def __init__(self, corpora: Mapping[str, Sequence[Document]], make: Make, limit: int) -> None:
        self._corpora = corpora
        self._make = make
        self._limit = limit
        self._made: dict[str, Baseline] = {}

    async def answer(self, question: Question) -> Answered:
        namespace = question.namespace
        if namespace not in self._made:
            self._made[namespace] = await self._make(namespace, self._corpora[namespace])
        ranked = await self._made[namespace].ranked(question.text)
        return Answered(list(dict.fromkeys(ranked))[: self._limit])


class _SearchSystem:
    """Librarian's own search."""

    def __init__(
        self, pipeline: SearchPipeline, reranking: Reranking, variant: Variant, dataset: Dataset, limit: int
    ) -> None:
        self._pipeline = pipeline
        self._reranking = reranking
        self._variant = variant
        self._id_field = dataset.id_field
        self._limit = limit
        self._hits = limit * _HITS_A_UNIT.get(dataset.unit, 1)

    async def answer(self, question: Question) -> Answered:
        namespace, queries = question.namespace, [question.text]
        hits, notes = await searched(self._pipeline, self._reranking, self._variant, namespace, queries, self._hits)
        ids = dict.fromkeys(str(getattr(hit.item, self._id_field, None)) for hit in hits)
        return Answered(list(ids)[: self._limit], notes)


async def searched(
    pipeline: SearchPipeline,
    reranking: Reranking,
    variant: Variant,
    namespace: str,
    queries: Sequence[str],
    limit: int,
) -> tuple[Sequence[ScoredItem], list[str]]:
    """Return at most `limit` hits of one search, with notes on arms and the reranker."""
    spare = max(0, reranking.pool(limit) - limit) if variant.rerank else 0
    where = ItemFilter(namespace)
    request = replace(variant.request, queries=queries, where=where, limit=limit, spare=spare)
    result = await pipeline.search(request)
    hits = result.hits
    notes = [f"{arm}: {status}" for arm, status in result.arms.items() if status not in (OK, NOT_ASKED)]
    if variant.rerank:
        texts = [candidate_text(hit.item) for hit in hits]
        outcome = await reranking.rerank("eval", queries[0], texts, limit=limit, deadline_s=reranking.timeout_s)
        hits = [hits[index] for index in outcome.order]
        notes += [] if outcome.reranked else [f"not reranked: {outcome.reason}"]
    return hits[:limit], notes


def _keyword_maker(analyse: Analyser, **parameters: float) -> Make:
    async def make(_namespace: str, documents: Sequence[Document]) -> Baseline:
        return KeywordBaseline(documents, Bm25([document.keywords for document in documents], analyse, **parameters))

    return make


def _stemmer() -> Analyser:
    try:
        return stemmed_words()
    except ModuleNotFoundError:
        raise InvalidInput(
            "bm25 needs a stemmer that is not installed", field="--system", remedy="pip install 'librarian[eval]'"
        ) from None


def _fusion(variant: Variant, value: str) -> Variant:
    if value not in _FUSIONS:
        raise _unknown(f"fusion={value}", f"it is one of {', '.join(_FUSIONS)}")
    return replace(variant, request=replace(variant.request, fusion_method=value))  # type: ignore[arg-type]  # checked


def _without(variant: Variant, value: str) -> Variant:
    weights = dict(variant.request.weights or default_weights())
    for signal in value.split("+"):
        if weights.pop(signal, None) is None:
            raise _unknown(f"without={value}", f"the signals are {', '.join(default_weights())}")
    return replace(variant, request=replace(variant.request, weights=weights))


def _weights(variant: Variant, value: str) -> Variant:
    """Read weights from a file like retrieval/weights.toml, or with one `signal = weight` per line."""
    path = Path(value).expanduser()
    if not path.is_file():
        raise _unknown(f"weights={value}", "there is no such file")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = table.get("signals", table)
        weights = {
            name: float(entry["weight"] if isinstance(entry, dict) else entry) for name, entry in entries.items()
        }
    except (ValueError, KeyError, TypeError):
        raise _unknown(f"weights={value}", "it is not a file of weights") from None
    if unknown := sorted(set(weights) - set(default_weights())):
        raise _unknown(f"weights={value}", f"there is no signal {unknown[0]!r}")
    return replace(variant, request=replace(variant.request, weights=weights))


def _threshold(variant: Variant, value: str) -> Variant:
    if value == "adaptive":
        return replace(variant, request=replace(variant.request, bound=AdaptiveBound()))
    try:
        bound = float(value)
    except ValueError:
        raise _unknown(f"threshold={value}", "it is adaptive or a number from 0 to 1") from None
    return replace(variant, request=replace(variant.request, bound=FixedBound(bound)))


def _rerank(variant: Variant, value: str) -> Variant:
    if value not in ("yes", "no"):
        raise _unknown(f"rerank={value}", "it is yes or no")
    return replace(variant, rerank=value == "yes")


_OPTIONS: Mapping[str, Callable[[Variant, str], Variant]] = {
    "fusion": _fusion,
    "without": _without,
    "weights": _weights,
    "threshold": _threshold,
    "rerank": _rerank,
}


def _unknown(name: str, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{name}: {reason}", field="--system", remedy="docs/search-quality.md lists the systems and their options."
    )
