"""Quality of one ranking against the ids that are relevant. Pure functions."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

CUTOFFS = (1, 5, 10, 20)


def ranking_metrics(relevant: Collection[str], ranked: Sequence[str]) -> dict[str, float]:
    """Return the metrics (0..1) of a question with an answer; `ranked` is everything returned, best first, each id
    once.

    recall@k: relevant ids among the first k, divided by all relevant ones; any@10: whether one is among the first 10;
    mrr: 1 / rank of the first; ndcg@10 with binary gains (Järvelin & Kekäläinen 2002); precision: relevant share of
    what was returned; false_abstention: 1 if nothing was returned. size is the number returned.
    """
    ranks = [rank for rank, found in enumerate(ranked, start=1) if found in relevant]
    metrics = {f"recall@{k}": sum(rank <= k for rank in ranks) / len(relevant) for k in CUTOFFS}
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(relevant)) + 1))
    return metrics | {
        "any@10": float(any(rank <= 10 for rank in ranks)),
        "mrr": 1 / ranks[0] if ranks else 0.0,
        "ndcg@10": sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10) / ideal,
        "precision": len(ranks) / len(ranked) if ranked else 0.0,
        "size": float(len(ranked)),
        "false_abstention": float(not ranked),
    }


def abstention_metrics(ranked: Sequence[str]) -> dict[str, float]:
    """Return the metrics of a question without an answer: whether nothing was returned, and how much was."""
    return {"abstention": float(not ranked), "unwanted": float(len(ranked))}


def means(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return each metric's mean over the questions that have it, to four digits, in the order of first appearance."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for metric, value in row.items():
            values.setdefault(metric, []).append(value)
    return {metric: round(sum(own) / len(own), 4) for metric, own in values.items()}


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the smallest sample that at least `share` (0..1] of all reach; 0 without
    samples.
    """
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
