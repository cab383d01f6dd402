"""Linear fusion: the weighted sum of both arms' scores and of the signals, query by query."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from retrieval.fusion import Fused, Ranking, Share, SignalShare, in_order
from retrieval.signals import QueryTraits, Traits, signals
from retrieval.whole import WHOLE

WEIGHTS_FILE = "weights.toml"


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of one query: their rankings, their traits by uid, and the traits of the query.

    `whole`: they are all there is.
    """

    query: int
    rankings: Sequence[Ranking]
    traits: Mapping[str, Traits]
    query_traits: QueryTraits
    whole: bool = False


@cache
def default_weights() -> Mapping[str, float]:
    """Return signal name -> weight, from the data file that also records the measured gain of each."""
    table = tomllib.loads(files("retrieval").joinpath(WEIGHTS_FILE).read_text(encoding="utf-8"))
    return {name: float(entry["weight"]) for name, entry in table["signals"].items()}


def linear_fusion(pools: Sequence[Pool], weights: Mapping[str, float], *, explain: bool = False) -> list[Fused]:
    """Fuse the pools of all queries, best first: an item's score is its best over the queries.

    The sum is divided by that of the positive weights that can contribute (an arm without rows cannot), so that 1 is
    the best possible score whatever arms ran. `explain`: each item lists its signals' shares.
    """
    best: dict[str, Fused] = {}
    shares: defaultdict[str, list[Share]] = defaultdict(list)
    for pool in pools:
        for entry in _scored(pool, weights, explain=explain):
            shares[entry.uid].extend(entry.shares)
            if entry.uid not in best or entry.score > best[entry.uid].score:
                best[entry.uid] = entry
    return in_order(Fused(uid, entry.score, shares[uid], entry.signals) for uid, entry in best.items())


def _scored(pool: Pool, weights: Mapping[str, float], *, explain: bool) -> list[Fused]:
    uids = list(pool.traits)
    values = signals(pool.traits, pool.query_traits)
    speaking = [name for name in weights if any(values[name])]
    total = sum(weights[name] for name in speaking if weights[name] > 0) or 1.0
    ranks = _ranks(pool)
    shares = {name: weights[name] * np.array(values[name]) / total for name in speaking}
    scores = sum(shares.values(), np.zeros(len(uids))).tolist()
    signal_shares = [
        [SignalShare(pool.query, name, values[name][index], float(shares[name][index])) for name in speaking]
        if explain
        else ()
        for index in range(len(uids))
    ]
    return [Fused(uid, score, ranks[uid], own) for uid, score, own in zip(uids, scores, signal_shares, strict=True)]


def _ranks(pool: Pool) -> defaultdict[str, list[Share]]:
    """Return where each arm ranked the item; the shares of a linear sum are listed by signal instead."""
    ranks: defaultdict[str, list[Share]] = defaultdict(list)
    for ranking in pool.rankings:
        if ranking.arm == WHOLE:
            continue
        for rank, (uid, score) in enumerate(zip(ranking.uids, ranking.scores, strict=True), start=1):
            ranks[uid].append(Share(ranking.query, ranking.arm, rank, score, 0.0))
    return ranks
