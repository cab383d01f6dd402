"""Items that say the same are one hit. Pure functions."""

import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import replace

from graph.types import FoundItem, Kind
from retrieval.types import ScoredItem


def deduplicate(ranked: Sequence[ScoredItem]) -> list[ScoredItem]:
    """`ranked` (best first) with one hit for each group of items that say the same.

    Facts are the same when person (else subject), type, object and relationship agree (and name an object); other
    items when kind, author and text agree. The best-ranked one stays, takes over the evidence of the others, and
    names their uids in `duplicates`.
    """
    kept: dict[Hashable, ScoredItem] = {}
    for scored in ranked:
        key = _identity(scored.item)
        kept[key] = _merged(kept[key], scored) if key in kept else scored
    return list(kept.values())


def _identity(item: FoundItem) -> Hashable:
    properties = item.properties
    if item.kind is Kind.FACT and properties.get("fact_object"):
        about = properties.get("person_id") or properties.get("subject")
        said = (properties.get(field) for field in ("fact_type", "fact_object", "relationship_type"))
        return (item.kind, about, *said)
    text = unicodedata.normalize("NFKC", str(properties["text"]))
    return (item.kind, properties.get("author_name"), " ".join(text.casefold().split()))


def _merged(best: ScoredItem, other: ScoredItem) -> ScoredItem:
    known = {source.uid for source in best.item.evidence}
    added = [source for source in other.item.evidence if source.uid not in known]
    return replace(
        best,
        item=replace(best.item, evidence=[*best.item.evidence, *added]),
        duplicates=(*best.duplicates, other.item.uid),
    )
