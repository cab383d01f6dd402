"""Hits of the pipeline as the wire has them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from graph.types import FOREVER, FoundItem, Kind
from librarian.contracts.evidence import Evidence
from librarian.contracts.fields import Attribute
from librarian.contracts.search import ArmExplanation, Explanation, Hit, SignalExplanation
from librarian.contracts.semantic import ChunkResult, FactResult, MemoryResult, MessageResult
from retrieval.types import VECTOR, ScoredItem

_RESULTS: Mapping[Kind, type[Struct]] = {
    Kind.FACT: FactResult,
    Kind.MESSAGE: MessageResult,
    Kind.MEMORY: MemoryResult,
    Kind.FILE_CHUNK: ChunkResult,
}
_MADE = frozenset(
    {"uid", "kind", "content", "score", "similarity_score", "rerank_score"}
    | {"valid_to", "attributes", "evidence", "explanation"}
)


def hit(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> Hit:
    """A hit of any kind, with the fields that it has."""
    properties = scored.item.properties
    stored = {name: properties[name] for name in _stored(Hit) if name in properties}
    return Hit(
        kind=scored.item.kind.value,
        valid_to=open_end(properties.get("valid_to")),
        attributes=attributes_of(properties),
        evidence=evidence_of(scored.item),
        **_common(scored, rerank_score, explain=explain),
        **stored,
    )


def result(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> Struct:
    """A hit as its kind has it, with null for what it lacks."""
    type_, properties = _RESULTS[scored.item.kind], scored.item.properties
    required = {field.name for field in msgspec.structs.fields(type_) if field.required}
    fields = {name: properties.get(name) for name in _stored(type_) if name in properties or name in required}
    if type_ is FactResult:
        fields["valid_to"] = open_end(properties.get("valid_to"))
        fields["attributes"] = attributes_of(properties)
        fields["evidence"] = evidence_of(scored.item)
    return type_(**fields, **_common(scored, rerank_score, explain=explain))


def _stored(type_: type[Struct]) -> list[str]:
    """The fields that are stored under their own names."""
    return [name for name in type_.__struct_fields__ if name not in _MADE]


def _common(scored: ScoredItem, rerank_score: float | None, *, explain: bool) -> dict[str, Any]:
    return {
        "uid": scored.item.uid,
        "content": scored.item.properties["text"],
        "score": round(scored.score, 6),
        "similarity_score": scored.similarity,
        "rerank_score": None if rerank_score is None else round(rerank_score, 4),
        "explanation": _explanation(scored) if explain else None,
    }


def evidence_of(item: FoundItem) -> list[Evidence]:
    """What supports a fact, for the wire."""
    return [
        Evidence(
            uid=source.uid,
            message_id=source.message_id,
            author_name=source.author_name,
            content=source.text,
            sent_at=source.sent_at,
            path=source.path,
            start=source.start_line,
            end=source.end_line,
        )
        for source in item.evidence
    ]


def attributes_of(properties: Mapping[str, Any]) -> dict[str, Attribute]:
    """A fact's attributes, which the graph keeps as JSON since a node holds no maps."""
    stored = properties.get("attributes")
    return msgspec.json.decode(stored, type=dict[str, Attribute]) if stored else {}


def open_end(valid_to: datetime | None) -> datetime | None:
    """When a fact ceases to hold; the sentinel for "still holds" becomes None."""
    return None if valid_to is None or valid_to >= FOREVER else valid_to


def _explanation(scored: ScoredItem) -> Explanation:
    arms = [
        ArmExplanation(
            query=share.query,
            arm=share.arm,
            rank=share.rank,
            # BM25 tells about the whole corpus, other namespaces included.
            score=round(share.score, 4) if share.arm == VECTOR else None,
            share=round(share.share, 6),
        )
        for share in scored.shares
    ]
    signals = [
        SignalExplanation(query=one.query, signal=one.signal, value=round(one.value, 4), share=round(one.share, 6))
        for one in scored.signals
    ]
    return Explanation(
        arms=arms,
        signals=signals,
        fused_score=round(scored.score, 6),
        merged_duplicates=list(scored.duplicates),
        cosine=None if scored.cosine is None else round(scored.cosine, 4),
        exempt=None if scored.exempt is None else scored.exempt.value,
    )
