"""Tests weights of linear fusion where they were not tuned: leave one conversation out. Pure functions.

A search reports the value of every signal for every hit, so that other weights need no other search.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.evaluation.metrics import ranking_metrics

STEP = 0.05
ROUNDS = 3
TARGET = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Judged:
    """The candidates of one question: ids and, for each, the values of the signals in one fixed order."""

    group: str
    relevant: frozenset[str]
    ids: Sequence[str]
    values: NDArray[np.float64]

    @classmethod
    def make(cls, group: str, relevant: frozenset[str], rows: Mapping[str, Sequence[float]]) -> "Judged":
        """Create it from id -> values; a question may have no candidate."""
        return cls(group, relevant, list(rows), np.array([list(row) for row in rows.values()], ndmin=2))


@dataclass(frozen=True, slots=True)
class Fold:
    """One conversation left out: metrics there with the present weights and with those tuned on the others."""

    left_out: str
    questions: int
    as_is: Mapping[str, float]
    tuned: Mapping[str, float]
    weights: Mapping[str, float]


def leave_one_out(questions: Sequence[Judged], weights: Mapping[str, float]) -> list[Fold]:
    """Return a fold for each conversation, in the order of first appearance. Raises ValueError with fewer than two."""
    groups = list(dict.fromkeys(question.group for question in questions))
    if len(groups) < 2:
        raise ValueError("leaving one conversation out takes two at least")
    names = list(weights)
    start = np.array([weights[name] for name in names])
    folds = []
    for left_out in groups:
        own = [question for question in questions if question.group == left_out]
        best = tuned([question for question in questions if question.group != left_out], start)
        chosen = {name: round(float(weight), 2) for name, weight in zip(names, best, strict=True)}
        folds.append(Fold(left_out, len(own), evaluated(own, start), evaluated(own, best), chosen))
    return folds


def tuned(questions: Sequence[Judged], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights after coordinate ascent from `start` on nDCG@10: each weight in turn is moved by one or two
    steps of .05, up or down, while that helps.
    """
    best, best_score = start.copy(), evaluated(questions, start)[TARGET]
    for _ in range(ROUNDS):
        before = best_score
        for index in range(len(best)):
            for step in (STEP, -STEP, 2 * STEP, -2 * STEP):
                tried = best.copy()
                tried[index] += step
                if (score := evaluated(questions, tried)[TARGET]) > best_score:
                    best, best_score = tried, score
        if best_score == before:
            break
    return best


def evaluated(questions: Sequence[Judged], weights: NDArray[np.float64]) -> dict[str, float]:
    """Return the mean metrics of the ranking by `weights`."""
    rows = [ranking_metrics(question.relevant, _ranked(question, weights)) for question in questions]
    return {metric: sum(row[metric] for row in rows) / len(rows) for metric in rows[0]}


def _ranked(question: Judged, weights: NDArray[np.float64]) -> list[str]:
    if not question.ids:
        return []
    order = np.lexsort((np.array(question.ids), -(question.values @ weights)))
    return [question.ids[index] for index in order]
