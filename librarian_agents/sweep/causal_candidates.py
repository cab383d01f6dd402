"""The pairs of memories worth reading for a relation: those with an existing tie. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from librarian_agents.sweep.causal_terms import MAX_CHARS, identifiers
from librarian_agents.sweep.causal_types import Note

PAIRS_PER_ITEM = 20
"""Maximum pairs per memory."""
# A name in more memories than this is the project's, not one story's.
_COMMON_NAME = 12

_LIKE_A_UID = re.compile(r"(?=\S*[\d_:-])[^\s/\\\"'`()\[\]<>,;]{3,200}")
_MOST_UIDS = 50

Why: TypeAlias = Literal["link", "name", "neighbour", "statement"]


@dataclass(frozen=True, slots=True)
class CandidatePair:
    """Two memories to read, `first` with the lower uid. `similarity` is the search's, None if it did not pair them.

    `why`: a `link` between them (evidence, imported), a shared `name`, or a search `neighbour`.
    """

    first: str
    second: str
    why: Why
    similarity: float | None = None


def candidate_pairs(
    notes: Iterable[Note],
    links: Iterable[tuple[str, str]] = (),
    neighbours: Mapping[str, Sequence[tuple[str, float]]] | None = None,
    *,
    per_item: int = PAIRS_PER_ITEM,
) -> list[CandidatePair]:
    """Return the pairs to read, each once, at most `per_item` for any memory.

    Links come first, then the rarest shared names, then the nearest neighbours (uid -> (uid, similarity)). Pairs with a
    uid that is not among `notes` are dropped.
    """
    notes = list(notes)
    known = {note.uid for note in notes}
    near = {_pair(uid, other): score for uid, found in (neighbours or {}).items() for other, score in found}
    taken: Counter[str] = Counter()
    chosen: dict[tuple[str, str], CandidatePair] = {}
    for (first, second), why in _ranked(notes, links, near):
        fresh = first != second and (first, second) not in chosen
        if fresh and {first, second} <= known and max(taken[first], taken[second]) < per_item:
            chosen[first, second] = CandidatePair(first, second, why, near.get((first, second)))
            taken.update((first, second))
    return list(chosen.values())


def words_like_uids(text: str) -> list[str]:
    """Return the first words of `text` that may be uids of other memories."""
    return list(dict.fromkeys(word.rstrip(".:!?") for word in _LIKE_A_UID.findall(text)))[:_MOST_UIDS]


def _ranked(
    notes: Sequence[Note], links: Iterable[tuple[str, str]], near: Mapping[tuple[str, str], float]
) -> Iterator[tuple[tuple[str, str], Why]]:
    for first, second in links:
        yield _pair(first, second), "link"
    for pair in _named(notes):
        yield pair, "name"
    for pair in sorted(near, key=lambda pair: (-near[pair], pair)):
        yield pair, "neighbour"


def _named(notes: Sequence[Note]) -> Iterator[tuple[str, str]]:
    """Yield pairs that share a name, the rarest name first; a uid counts as a name of its memory."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    uids = {note.uid.lower() for note in notes}
    for note in notes:
        holders[note.uid.lower()].add(note.uid)
        for name in identifiers(note.text[:MAX_CHARS]):
            holders[name].add(note.uid)
    for name, held in sorted(holders.items(), key=lambda entry: (len(entry[1]), entry[0])):
        if name in uids or len(held) <= _COMMON_NAME:
            yield from combinations(sorted(held), 2)


def _pair(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first <= second else (second, first)
