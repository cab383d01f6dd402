"""The smallest set of candidates that meets all satisfiable needs. Pure functions.

A set cover of needs by candidates. Among the smallest sets the one with the higher scores is taken, then the one from
more sources, then the one seen earlier. Exact for common sizes; beyond MOST_EXACT sets greedy (at most ln(needs) + 1
times the smallest, Chvátal 1979), with redundant members removed.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from librarian_agents.search.types import Candidate, Evaluation, Need, Selected, Support

MOST_EXACT = 20_000
"""Sets that are tried before switching to a greedy choice."""

NEAR_EQUAL = 0.9
"""Minimum share of common letter sequences (Jaccard) of equivalent texts."""

_SHINGLE = 5
_QUOTE_CHARS = 240
_NOT_LETTERS = re.compile(r"[\W_]+")
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")

NeedKey = int
Score = tuple[float, int, tuple[int, ...]]


@dataclass(slots=True)
class Cover:
    """A candidate and the needs it meets, by index."""

    candidate: Candidate
    meets: dict[NeedKey, Support] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """How well it meets them, summed."""
        return sum(support.score for support in self.meets.values())


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected candidates, in the order of the needs they meet, and each covered item's pieces by temp_index."""

    selected: tuple[Selected, ...]
    coverage: Mapping[str, tuple[int, ...]]


def select(evaluation: Evaluation, candidates: Mapping[int, Candidate]) -> Selection:
    """Return the smallest set for `evaluation`; unseen or misquoted candidates are never selected."""
    needs = evaluation.needs
    covers = _without_duplicates(_covers(needs, candidates))
    chosen = smallest(covers)
    chosen.sort(key=lambda cover: (min(cover.meets), cover.candidate.temp_index))
    coverage: dict[str, list[int]] = {}
    for key, need in enumerate(needs):
        met_by = [cover.candidate.temp_index for cover in chosen if key in cover.meets][:1]
        coverage.setdefault(need.item, []).extend(met_by)
    return Selection(
        tuple(Selected(cover.candidate.temp_index, why(cover, needs)) for cover in chosen),
        {item: tuple(dict.fromkeys(indexes)) for item, indexes in coverage.items() if indexes},
    )


def smallest(covers: Sequence[Cover]) -> list[Cover]:
    """Return the smallest of the best sets of `covers` that meets every need that any of them meets."""
    useful = _undominated(covers)
    wanted = frozenset(key for cover in useful for key in cover.meets)
    if not wanted:
        return []
    greedy = _greedy(useful, wanted)
    tried = 0
    for size in range(1, len(greedy) + 1):
        tried += math.comb(len(useful), size)
        if tried > MOST_EXACT:
            break
        complete = [list(some) for some in combinations(useful, size) if _met(some) >= wanted]
        if complete:
            return max(complete, key=_goodness)
    return greedy


def why(cover: Cover, needs: Sequence[Need]) -> str:
    """Name the items (and their parts) that a candidate covers, with the supporting spans."""
    by_quote: dict[str, list[str]] = {}
    for key in sorted(cover.meets):
        need = needs[key]
        label = f"{need.item} ({need.name})" if need.name and need.name != need.item else need.item
        labels = by_quote.setdefault(_shortened(cover.meets[key].quote), [])
        if label not in labels:
            labels.append(label)
    return "; ".join(f'{", ".join(labels)}: "{quote}"' for quote, labels in by_quote.items())


def near_equal(text: str, other: str) -> bool:
    """Whether two texts are equivalent, ignoring marks, letter case and a few letters; numbers must match."""
    plain, other_plain = _plain(text), _plain(other)
    if plain == other_plain:
        return True
    shorter, longer = sorted((len(plain), len(other_plain)))
    if shorter < NEAR_EQUAL * longer or _NUMBERS.findall(text) != _NUMBERS.findall(other):
        return False
    shingles, other_shingles = _shingles(plain), _shingles(other_plain)
    return len(shingles & other_shingles) >= NEAR_EQUAL * len(shingles | other_shingles)


def quoted(quote: str, text: str) -> bool:
    """Return whether `quote` occurs in `text`, ignoring white space."""
    return bool(quote.strip()) and "".join(quote.split()) in "".join(text.split())


def _covers(needs: Sequence[Need], candidates: Mapping[int, Candidate]) -> list[Cover]:
    covers: dict[int, Cover] = {}
    for key, need in enumerate(needs):
        for support in need.supports:
            candidate = candidates.get(support.temp_index)
            if candidate is None or not quoted(support.quote, candidate.text):
                continue
            meets = covers.setdefault(support.temp_index, Cover(candidate)).meets
            if key not in meets or meets[key].score < support.score:
                meets[key] = support
    return [covers[index] for index in candidates if index in covers]


def _without_duplicates(covers: Iterable[Cover]) -> list[Cover]:
    """Keep one cover per text: the most useful of equal or nearly equal texts, for all their needs."""
    kept: list[Cover] = []
    for cover in sorted(covers, key=lambda cover: (-len(cover.meets), -cover.score)):
        same = next((other for other in kept if _is_duplicate(cover, other)), None)
        if same is None:
            kept.append(cover)
            continue
        for key, support in cover.meets.items():
            if quoted(support.quote, same.candidate.text):
                same.meets.setdefault(key, Support(same.candidate.temp_index, support.quote, support.score))
    return kept


def _is_duplicate(cover: Cover, other: Cover) -> bool:
    """Return whether `cover` is the same page with nothing new, or nearly the same text."""
    if _reference(cover) and _reference(cover) == _reference(other) and cover.meets.keys() <= other.meets.keys():
        return True
    return near_equal(cover.candidate.text, other.candidate.text)


def _reference(cover: Cover) -> tuple[str, str] | None:
    source, page = cover.candidate.source, cover.candidate.page
    return (source, page) if source and page else None


def _undominated(covers: Sequence[Cover]) -> list[Cover]:
    """Drop candidates dominated by another: it meets the same needs as well, and more of them or some better.

    Equals from different sources stay, for the choice between them.
    """
    kept: list[Cover] = []
    for cover in sorted(covers, key=lambda cover: (-len(cover.meets), -cover.score, cover.candidate.temp_index)):
        if not any(_replaces(other, cover) for other in kept):
            kept.append(cover)
    return kept


def _replaces(other: Cover, cover: Cover) -> bool:
    if not all(key in other.meets and other.meets[key].score >= support.score for key, support in cover.meets.items()):
        return False
    more = len(other.meets) > len(cover.meets) or other.score > cover.score
    return more or other.candidate.source == cover.candidate.source


def _greedy(covers: Sequence[Cover], wanted: frozenset[NeedKey]) -> list[Cover]:
    chosen: list[Cover] = []
    left = set(wanted)
    while left:
        best = max(covers, key=lambda cover: (len(left & cover.meets.keys()), cover.score))
        chosen.append(best)
        left -= best.meets.keys()
    for cover in list(chosen):
        others = [other for other in chosen if other is not cover]
        if _met(others) >= wanted:
            chosen = others
    return chosen


def _met(covers: Iterable[Cover]) -> frozenset[NeedKey]:
    return frozenset(key for cover in covers for key in cover.meets)


def _goodness(covers: Sequence[Cover]) -> Score:
    best: dict[NeedKey, float] = {}
    for cover in covers:
        for key, support in cover.meets.items():
            best[key] = max(best.get(key, 0.0), support.score)
    sources = {cover.candidate.source for cover in covers}
    return round(sum(best.values()), 6), len(sources), tuple(-cover.candidate.temp_index for cover in covers)


def _plain(text: str) -> str:
    return _NOT_LETTERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def _shingles(text: str) -> set[str]:
    return {text[at : at + _SHINGLE] for at in range(max(1, len(text) - _SHINGLE + 1))}


def _shortened(quote: str) -> str:
    whole = " ".join(quote.split())
    return whole if len(whole) <= _QUOTE_CHARS else f"{whole[:_QUOTE_CHARS].rstrip()}…"
