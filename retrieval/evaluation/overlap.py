"""Similarity of two rankings of the same query. Pure functions."""

from collections.abc import Sequence
from itertools import combinations


def overlap(a: Sequence[str], b: Sequence[str], k: int) -> float:
    """Return the common ids of the first k of each, divided by the longer list's number (0..1); 1 if both are empty."""
    ours, theirs = set(a[:k]), set(b[:k])
    longest = max(len(ours), len(theirs))
    return len(ours & theirs) / longest if longest else 1.0


def rank_correlation(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Return Kendall's tau (-1..1) over the ids in both rankings; None with fewer than two of them."""
    ranks = {found: rank for rank, found in enumerate(b)}
    common = [ranks[found] for found in a if found in ranks]
    pairs = list(combinations(common, 2))
    if not pairs:
        return None
    agreeing = sum(first < second for first, second in pairs)
    return (2 * agreeing - len(pairs)) / len(pairs)
