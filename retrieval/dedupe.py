"""Merges items that say the same into one hit. Pure functions."""

import json
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import replace

from graph.item import Fact, Item, Message
from retrieval.types import ScoredItem


def deduplicate(ranked: Sequence[ScoredItem]) -> list[ScoredItem]:
    """Return `ranked` (best first) with one hit for each group of items that say the same.

    Facts are equal if person (else subject), type, object and relationship agree (and name an object); other items if
    kind, author and text agree. The best-ranked one stays, takes over the evidence of the others, and names their uids
    in `duplicates`.
    """
    kept: dict[Hashable, ScoredItem] = {}
    for scored in ranked:
        key = _identity(scored.item)
        kept[key] = _merged(kept[key], scored) if key in kept else scored
    return list(kept.values())


def _identity(item: Item) -> Hashable:
    if isinstance(item, Fact) and item.fact_object:
        about = item.person_id or item.subject
        return (item.kind, about, item.fact_type, item.fact_object, _relationship(item))
    text = unicodedata.normalize("NFKC", item.text)
    author = item.author_name if isinstance(item, Message) else None
    return (item.kind, author, " ".join(text.casefold().split()))


def _relationship(fact: Fact) -> str | None:
    """Return the kind of relationship, which some sources keep among the attributes."""
    if fact.relationship_type or not fact.attributes:
        return fact.relationship_type
    relationship = json.loads(fact.attributes).get("relationship_type")
    return None if relationship is None else str(relationship)


def _merged(best: ScoredItem, other: ScoredItem) -> ScoredItem:
    cited = {source.uid for source in best.item.evidence}
    added = [source for source in other.item.evidence if source.uid not in cited]
    return replace(
        best,
        item=replace(best.item, evidence=(*best.item.evidence, *added)),
        duplicates=(*best.duplicates, other.item.uid),
    )
