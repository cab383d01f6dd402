"""Conversion of the pipeline's hits to the wire."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from msgspec import Struct, convert

from graph.item import ITEM_CLASSES, Fact, Item, stored_fields
from graph.types import Kind
from librarian.items.reading import attributes_of, evidence_of, open_end, plain, unsupported_of
from librarian.search.contracts import (
    ArmExplanation,
    Cause,
    ChunkResult,
    Explanation,
    FactResult,
    Hit,
    MemoryResult,
    MessageResult,
    SignalExplanation,
)
from retrieval.types import VECTOR, ScoredItem

_RESULTS: Mapping[Kind, type[Struct]] = {
    Kind.FACT: FactResult,
    Kind.MESSAGE: MessageResult,
    Kind.MEMORY: MemoryResult,
    Kind.FILE_CHUNK: ChunkResult,
}
# Fields of hits that differ from the graph's or are not stored.
_DERIVED = frozenset(
    {"namespace", "uid", "kind", "content", "score", "similarity_score", "rerank_score"}
    | {"valid_to", "attributes", "evidence", "led_by", "explanation"}
)


def _taken(struct: type[Struct], kind: Kind) -> list[str]:
    """Return the fields of a hit that an item of this kind stores under the same names."""
    stored = stored_fields(ITEM_CLASSES[kind])
    return [name for name in struct.__struct_fields__ if name in stored and name not in _DERIVED]


_HIT_FIELDS = {kind: _taken(Hit, kind) for kind in Kind}
_RESULT_FIELDS = {kind: _taken(struct, kind) for kind, struct in _RESULTS.items()}


def hit(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> Hit:
    """Return a hit of any kind, with the fields that it has."""
    item = scored.item
    return Hit(
        kind=item.kind.value,
        evidence=evidence_of(item),
        attributes=attributes_of(item),
        valid_to=_valid_to(item),
        **_common(scored, rerank_score, explain=explain),
        **{name: plain(getattr(item, name)) for name in _HIT_FIELDS[item.kind]},
    )


def result(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> Struct:
    """Return a hit in its kind's form, with null for missing fields."""
    item = scored.item
    fields = {name: plain(getattr(item, name)) for name in _RESULT_FIELDS[item.kind]}
    if isinstance(item, Fact):
        fields |= {"valid_to": _valid_to(item), "attributes": attributes_of(item), "evidence": evidence_of(item)}
    return _RESULTS[item.kind](**fields, **_common(scored, rerank_score, explain=explain))


def _valid_to(item: Item) -> datetime | None:
    return open_end(item.valid_to) if isinstance(item, Fact) else None


def _common(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> dict[str, Any]:
    return {
        "uid": scored.item.uid,
        "content": scored.item.text,
        "score": round(scored.score, 6),
        "similarity_score": scored.similarity,
        "rerank_score": None if rerank_score is None else round(rerank_score, 4),
        "led_by": led_by(scored.item),
        "unsupported": unsupported_of(scored.loss),
        "superseded_by": scored.replaced_by,
        "explanation": _explanation(scored) if explain else None,
    }


def led_by(item: Item) -> list[Cause]:
    """Return the causes of an item, for the wire."""
    return [convert(asdict(cause), Cause) for cause in item.led_by]


def _explanation(scored: ScoredItem) -> Explanation:
    arms = [
        ArmExplanation(
            query=share.query,
            arm=share.arm,
            rank=share.rank,
            # BM25 reveals statistics of the whole corpus, including other namespaces.
            score=round(share.score, 4) if share.arm == VECTOR else None,
            share=round(share.share, 6),
        )
        for share in scored.shares
    ]
    signals = [
        SignalExplanation(
            query=signal.query, signal=signal.signal, value=round(signal.value, 4), share=round(signal.share, 6)
        )
        for signal in scored.signals
    ]
    return Explanation(
        arms=arms,
        signals=signals,
        fused_score=round(scored.score, 6),
        merged_duplicates=list(scored.duplicates),
        cosine=None if scored.cosine is None else round(scored.cosine, 4),
        exempt=None if scored.exempt is None else scored.exempt.value,
    )
