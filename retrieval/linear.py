"""Linear fusion: the weighted sum of both arms' scores and of the signals, query by query."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from retrieval.fusion import Fused, Ranking, Share, SignalShare, in_order
from retrieval.signals import Asked, Traits, signals

WEIGHTS_FILE = "weights.toml"


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one query: the rankings they come from, their traits by uid, and what the query asks."""

    query: int
    rankings: Sequence[Ranking]
    traits: Mapping[str, Traits]
    asked: Asked


@cache
def default_weights() -> Mapping[str, float]:
    """Signal name -> weight, from the data file that also says what each was measured to gain."""
    table = tomllib.loads(files("retrieval").joinpath(WEIGHTS_FILE).read_text(encoding="utf-8"))
    return {name: float(entry["weight"]) for name, entry in table["signals"].items()}


def linear_fusion(pools: Sequence[Pool], weights: Mapping[str, float]) -> list[Fused]:
    """Fuse the pools of all queries, best first: an item's score is its best over the queries.

    The sum is divided by that of the positive weights which can speak (an arm without rows cannot), so that 1 is the
    best possible score whatever arms ran.
    """
    best: dict[str, Fused] = {}
    shares: defaultdict[str, list[Share]] = defaultdict(list)
    for pool in pools:
        for one in _scored(pool, weights):
            shares[one.uid].extend(one.shares)
            if one.uid not in best or one.score > best[one.uid].score:
                best[one.uid] = one
    return in_order(Fused(uid, one.score, shares[uid], one.signals) for uid, one in best.items())


def _scored(pool: Pool, weights: Mapping[str, float]) -> list[Fused]:
    uids = list(pool.traits)
    values = signals(pool.traits, pool.asked)
    speaking = [name for name in weights if any(values[name])]
    total = sum(weights[name] for name in speaking if weights[name] > 0) or 1.0
    ranks = _ranks(pool)
    scored = []
    for place, uid in enumerate(uids):
        own = [
            SignalShare(pool.query, name, values[name][place], weights[name] * values[name][place] / total)
            for name in speaking
        ]
        scored.append(Fused(uid, sum(one.share for one in own), ranks[uid], own))
    return scored


def _ranks(pool: Pool) -> defaultdict[str, list[Share]]:
    """Where each arm had the item; the shares of a linear sum are told by signal instead."""
    ranks: defaultdict[str, list[Share]] = defaultdict(list)
    for ranking in pool.rankings:
        for rank, (uid, score) in enumerate(zip(ranking.uids, ranking.scores, strict=True), start=1):
            ranks[uid].append(Share(ranking.query, ranking.arm, rank, score, 0.0))
    return ranks
