"""Fits the weights of retrieval/models/answering.toml on small worlds of questions, and measures them on others.

    python training/answering.py training/answer_worlds/train [FOLDER …] [--test FOLDER …] [--write]

Listwise softmax regression with an L2 penalty (Cao et al., ICML 2007): of a question's candidates, what its case puts
first or within the first k shall have most of the probability, and of two that a case orders the first shall have more.
What is certain stays a rule: RULES keep their weights. Prints the share of questions whose hits come out right on the
worlds themselves, each by weights that have not seen it, and on the worlds of --test by those that are written.
Check LoCoMo and the Japanese paragraphs with `librarian eval retrieval` before a change is kept.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from retrieval.answering import FEATURES, Jury, judge, model, question
from training.scenarios import Case, cases_of, faults, hits, worlds_of

MODEL = Path(__file__).parents[1] / "retrieval" / "models" / "answering.toml"
# What the weights are drawn to where the worlds say little: those that were searched coordinate by coordinate before
# there was this fit (docs/decisions/0017).
PRIOR: Mapping[str, float] = {
    "fused": 1.54,
    "similarity": 0.45,
    "sentence": 1.26,
    "coverage": 0.1,
    "around": 0.5,
    "named": 0.1,
    "misnamed": -0.3,
    "holds": 0.45,
    "in_span": 1.0,
    "out_of_span": -0.2,
    "newer": 0.1,
    "outdated": -0.4,
    "negative": 0.6,
    "positive": -0.6,
    "length": -0.08,
    "fact": 0.05,
}
# What is certain stays a rule.
RULES: Mapping[str, float] = {
    "only_asks": -3.0,
    "knows_not": -3.0,
    "commands": -4.0,
    "repeats": -1.0,
    "ended": -3.0,
    "cause": 2.0,
    "exact": 1.0,
}
# Features whose weight can only have one sign: fewer ways to fit what is chance.
UPWARD = frozenset({"fused", "similarity", "sentence", "coverage", "around", "holds", "in_span", "near", "said"})
DOWNWARD = frozenset({"out_of_span", "outdated", "misnamed", "positive"})
# Strength of the L2 penalty on the distance from PRIOR: the least of .09, .3 and 1 that costs nothing on LoCoMo.
PENALTY = 1.0
# How much surer the model is in training than its scores say: their scale is that of the prior.
STEEPNESS = 3.0
STEPS = 400
RATE = 0.02


@dataclass(frozen=True, slots=True)
class Example:
    """The features of a case's candidates, which of them are wanted, and pairs of which the first goes before."""

    case: Case
    rows: np.ndarray = field(repr=False)
    wanted: Sequence[int]
    alternatives: bool
    pairs: Sequence[tuple[int, int]]


def main() -> None:
    """Fit, print what comes out, and write the weights if wanted."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("worlds", type=Path, nargs="+")
    arguments.add_argument("--test", type=Path, nargs="*", default=[])
    arguments.add_argument("--vectors", type=Path, default=Path("vectors.npz"))
    arguments.add_argument("--write", action="store_true")
    chosen = arguments.parse_args()
    cases = [case for folder in chosen.worlds for case in cases_of(worlds_of(folder), chosen.vectors)]
    report("each world by weights that have not seen it", *left_out(cases))
    weights = fitted([example(case) for case in cases])
    report("the same worlds by the weights fitted on all", *shares(cases, weights))
    for folder in chosen.test:
        report(str(folder), *shares(cases_of(worlds_of(folder), chosen.vectors), weights))
    if chosen.write:
        write(weights)


def example(case: Case) -> Example | None:
    """Return what a case teaches; None for one that says nothing of the order."""
    place = {candidate.uid: index for index, candidate in enumerate(case.candidates)}
    first = [place[uid] for uid in case.expect.get("first", []) if uid in place]
    within = [place[uid] for uid in case.expect.get("within", {"uids": []})["uids"] if uid in place]
    pairs = [
        (place[before], place[after])
        for before, after in case.expect.get("before", [])
        if before in place and after in place
    ]
    if not first and not within and not pairs:
        return None
    rows = np.array(Jury(question(case.query, case.now), case.candidates, case.now).features())
    return Example(case, rows, first or within, bool(first), pairs)


class Sample:
    """Examples in one matrix: a step over all of them costs milliseconds."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.rows = np.vstack([one.rows for one in examples])
        self.starts = np.cumsum([0, *(len(one.rows) for one in examples)])[:-1]
        self.sizes = np.array([len(one.rows) for one in examples])
        # Where any of several is right, the model may choose; where all are wanted, each has its share.
        self.chosen, self.shared = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        before, after, weight = [], [], []
        for start, one in zip(self.starts, examples, strict=True):
            target = self.chosen if one.alternatives else self.shared
            target[[start + index for index in one.wanted]] = 1.0 if one.alternatives else 1 / max(1, len(one.wanted))
            before += [start + first for first, _ in one.pairs]
            after += [start + second for _, second in one.pairs]
            weight += [0.5 / len(one.pairs) for _ in one.pairs]
        self.before, self.after, self.weight = np.array(before, int), np.array(after, int), np.array(weight)
        self.asks = np.repeat([float(bool(one.wanted)) for one in examples], self.sizes)

    def slope(self, weights: np.ndarray) -> np.ndarray:
        """Return the slope of the mean loss."""
        scores = STEEPNESS * (self.rows @ weights)
        likely = np.exp(scores - np.repeat(np.maximum.reduceat(scores, self.starts), self.sizes))
        likely /= np.repeat(np.add.reduceat(likely, self.starts), self.sizes)
        picked = likely * self.chosen
        picked /= np.repeat(np.add.reduceat(picked, self.starts), self.sizes) + 1e-12
        slope = (self.asks * likely - picked - self.shared) @ self.rows
        wrong = self.weight / (1 + np.exp(scores[self.before] - scores[self.after]))
        slope += wrong @ (self.rows[self.after] - self.rows[self.before])
        return STEEPNESS * slope / len(self.starts)


def fitted(examples: Sequence[Example | None]) -> np.ndarray:
    """Return the weights that minimise the mean loss, by Adam (Kingma & Ba, ICLR 2015)."""
    sample = Sample([one for one in examples if one is not None])
    free = np.array([float(name not in RULES) for name in FEATURES])
    up, down = (np.array([name in names for name in FEATURES]) for names in (UPWARD, DOWNWARD))
    prior = np.array([RULES.get(name, PRIOR.get(name, 0.0)) for name in FEATURES])
    weights = prior.copy()
    mean, square = np.zeros(len(weights)), np.zeros(len(weights))
    for step in range(1, STEPS + 1):
        slope = (sample.slope(weights) + PENALTY * (weights - prior)) * free
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        weights = np.where(up, np.maximum(weights, 0.0), np.where(down, np.minimum(weights, 0.0), weights))
    return weights


def left_out(cases: Sequence[Case]) -> tuple[Counter[str], Counter[str]]:
    """Return how many cases of each kind come out right, and how many there are, each world left out in turn."""
    examples = [example(case) for case in cases]
    right, asked = Counter[str](), Counter[str]()
    for world in sorted({case.world for case in cases}):
        weights = fitted([one for case, one in zip(cases, examples, strict=True) if case.world != world])
        own = shares([case for case in cases if case.world == world], weights)
        right, asked = right + own[0], asked + own[1]
    return right, asked


def shares(cases: Sequence[Case], weights: np.ndarray) -> tuple[Counter[str], Counter[str]]:
    """Return how many cases of each kind come out right with `weights`, and how many there are."""
    right, asked = Counter[str](), Counter[str]()
    named = dict(zip(FEATURES, weights.tolist(), strict=True))
    for case in cases:
        judged = judge(question(case.query, case.now), case.candidates, case.now, named)
        asked[case.about] += 1
        right[case.about] += not faults(case, hits(case, judged))
    return right, asked


def report(name: str, right: Mapping[str, int], asked: Mapping[str, int]) -> None:
    """Print the share of all, then of each kind."""
    kinds = ", ".join(f"{about} {right.get(about, 0)}/{asked[about]}" for about in sorted(asked))
    print(f"{name}: {sum(right.values()) / max(1, sum(asked.values())):.3f} of {sum(asked.values())} ({kinds})")


def write(weights: np.ndarray) -> None:
    """Write the weights as the model that is shipped."""
    lines = [f"{name} = {weight:g}" for name, weight in zip(FEATURES, weights.round(3).tolist(), strict=True)]
    MODEL.write_text(f"middle = {model().middle}\n\n[weights]\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
