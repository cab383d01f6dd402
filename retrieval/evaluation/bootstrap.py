"""Compares two systems on the same questions by resampling them. Pure functions."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 4_000
CONFIDENCE = 0.95
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of b - a over the questions, with the bounds of its 95 % interval; `better` is the share (0..1) of
    resamples in which b is ahead.
    """

    mean: float
    low: float
    high: float
    better: float


def paired_difference(
    a: Sequence[float], b: Sequence[float], *, clusters: Sequence[Hashable] | None = None, seed: int
) -> Difference:
    """Compare two systems question by question: percentile bootstrap of the mean difference (Efron 1979).

    Questions of one conversation are correlated; with `clusters` (one entry per question) whole clusters are drawn
    instead, which gives the honest interval, but a coarse one if clusters are few. Raises ValueError without questions
    or if the lists do not match.
    """
    if not a or len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} scores do not make pairs")
    differences: Numbers = np.subtract(b, a, dtype=np.float64)
    sums, sizes = _by_cluster(differences, clusters)
    draws = np.random.default_rng(seed).integers(0, len(sums), (RESAMPLES, len(sums)))
    resampled = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    low, high = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Difference(float(differences.mean()), float(low), float(high), float((resampled > 0).mean()))


def _by_cluster(differences: Numbers, clusters: Sequence[Hashable] | None) -> tuple[Numbers, Numbers]:
    """Return the sum of differences and number of questions of each cluster; by default each question is its own."""
    if clusters is None:
        return differences, np.ones_like(differences)
    indexes = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    of_question = np.array([indexes[cluster] for cluster in clusters])
    sums = np.bincount(of_question, weights=differences).astype(np.float64)
    return sums, np.bincount(of_question).astype(np.float64)
