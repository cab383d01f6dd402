"""Fusion of ranked lists. Pure functions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from retrieval.signals import scaled

# Two arms that each find half of the answers need a steep curve: on LoCoMo turns recall@10 is .735 with 10 and .678
# with the customary 60 (docs/decisions/0002).
DEFAULT_RRF_K = 10


@dataclass(frozen=True, slots=True)
class Ranking:
    """One arm's result for one query: uids best first, with the arm's own scores."""

    query: int
    arm: str
    uids: Sequence[str]
    scores: Sequence[float]


class Share(NamedTuple):
    """Contribution of one ranking to an item: its rank there (from 1), raw score, and share of the fused score."""

    query: int
    arm: str
    rank: int
    score: float
    share: float


class SignalShare(NamedTuple):
    """Contribution of one signal to an item for one query: its value, and its share (weight x value) of the score."""

    query: int
    signal: str
    value: float
    share: float


@dataclass(frozen=True, slots=True)
class Fused:
    """An item's fused score and its sources; `signals` only if the method weighs them and they are requested."""

    uid: str
    score: float
    shares: Sequence[Share]
    signals: Sequence[SignalShare] = ()


def reciprocal_rank_fusion(rankings: Sequence[Ranking], *, k: int = DEFAULT_RRF_K) -> list[Fused]:
    """Fuse ranked lists into one, best first (Cormack et al., SIGIR 2009).

    An item at rank r (from 1) of a list gets 1 / (k + r) from it; an item missing from a list gets nothing. Scores
    lie in (0, len(rankings) / (k + 1)]. Larger k flattens the difference between the first ranks. Ties are broken by
    uid, so that the same lists always give the same order.
    """
    return _combined(rankings, lambda ranking: [1 / (k + rank) for rank in range(1, len(ranking.uids) + 1)], sum)


def score_sum(rankings: Sequence[Ranking]) -> list[Fused]:
    """Fuse by the sum of the lists' scores, each list scaled to 0..1; best first, ties by uid."""
    return _combined(rankings, _scaled, sum)


def score_max(rankings: Sequence[Ranking]) -> list[Fused]:
    """Fuse by the best of the lists' scores, each list scaled to 0..1; best first, ties by uid."""
    return _combined(rankings, _scaled, max)


def boosted(fused: Sequence[Fused], queries: int, boost: float) -> list[Fused]:
    """Favour items that several queries agree on; best first.

    A score grows by the factor 1 + boost x (share of the other queries that also found the item): with `boost` 0 or one
    query nothing changes.
    """
    if queries < 2 or boost == 0:
        return list(fused)
    return in_order(replace(entry, score=entry.score * (1 + boost * _agreement(entry, queries))) for entry in fused)


def in_order(fused: Iterable[Fused]) -> list[Fused]:
    """Return the items best first, ties by uid."""
    return sorted(fused, key=lambda entry: (-entry.score, entry.uid))


def _scaled(ranking: Ranking) -> list[float]:
    # The only hit of an arm is its best: equal scores count in full.
    return scaled(ranking.scores, when_equal=1.0)


def _combined(
    rankings: Sequence[Ranking],
    values: Callable[[Ranking], Sequence[float]],
    combine: Callable[[list[float]], float],
) -> list[Fused]:
    shares: defaultdict[str, list[Share]] = defaultdict(list)
    for ranking in rankings:
        rows = zip(ranking.uids, ranking.scores, values(ranking), strict=True)
        for rank, (uid, score, value) in enumerate(rows, start=1):
            shares[uid].append(Share(ranking.query, ranking.arm, rank, score, value))
    return in_order([Fused(uid, combine([entry.share for entry in own]), own) for uid, own in shares.items()])


def _agreement(entry: Fused, queries: int) -> float:
    return (len({share.query for share in entry.shares}) - 1) / (queries - 1)
