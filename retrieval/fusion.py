"""Fusion of ranked lists. Pure functions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

# Two arms that each hold half of the answers want a steep curve: on LoCoMo turns recall@10 is .735 with 10 and .678
# with the customary 60 (docs/decisions/0002).
DEFAULT_RRF_K = 10


@dataclass(frozen=True, slots=True)
class Ranking:
    """One arm's answer to one query: uids best first, with the arm's own scores."""

    query: int
    arm: str
    uids: Sequence[str]
    scores: Sequence[float]


@dataclass(frozen=True, slots=True)
class Share:
    """What one ranking added to an item: its rank there (from 1), raw score, and share of the fused score."""

    query: int
    arm: str
    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class Fused:
    """An item's fused score and where it comes from."""

    uid: str
    score: float
    shares: Sequence[Share]


def reciprocal_rank_fusion(rankings: Sequence[Ranking], *, k: int = DEFAULT_RRF_K) -> list[Fused]:
    """Fuse ranked lists into one, best first (Cormack et al., SIGIR 2009).

    An item at rank r (from 1) of a list gets 1 / (k + r) from it; an item missing from a list gets nothing. Scores
    lie in (0, len(rankings) / (k + 1)]. Larger k flattens the difference between the first ranks. Ties are broken by
    uid, so that the same lists always give the same order.
    """
    shares: defaultdict[str, list[Share]] = defaultdict(list)
    for ranking in rankings:
        for rank, (uid, score) in enumerate(zip(ranking.uids, ranking.scores, strict=True), start=1):
            shares[uid].append(Share(ranking.query, ranking.arm, rank, score, 1 / (k + rank)))
    fused = [Fused(uid, sum(share.share for share in own), own) for uid, own in shares.items()]
    return sorted(fused, key=lambda item: (-item.score, item.uid))
