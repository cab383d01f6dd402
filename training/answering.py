"""Fits retrieval/models/answering.toml on small worlds of questions, and measures it on others.

    python training/answering.py FOLDER … [--conversations FOLDER …] [--test FOLDER …] [--write]

Listwise softmax regression with an L2 penalty (Cao et al., ICML 2007): among a question's candidates, those that its
case puts first or within the first k, or that its answer cites, must have most of the probability, and of two ordered
by a case the first must have more. Conversations in the form of LoCoMo are examples of large namespaces. Beside the
weighted sum a network of one hidden layer is fitted, as the mean of NETWORKS with different starts. Certainties stay
rules: RULES keep their weights, and the network does not read them. Prints the share of correctly answered questions on
the worlds themselves, on those of --test, and on the former again, each by a model that has not seen it. Check LoCoMo
and the Japanese paragraphs with `librarian eval retrieval` before keeping a change.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.answering import Model, judged, middle
from retrieval.judging import JUDGED
from retrieval.jury import FEATURES, Jury
from retrieval.readings import question
from retrieval.whole import SMALL
from training.scenarios import Case, cases_of, conversations_of, faults, worlds_of

MODEL = Path(__file__).parents[1] / "retrieval" / "models" / "answering.toml"
# Prior of the weights where the worlds give little evidence: the values of the earlier coordinate-wise search
# (docs/decisions/0017).
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
# Certainties stay rules.
RULES: Mapping[str, float] = {
    "only_asks": -3.0,
    "knows_not": -3.0,
    "commands": -4.0,
    "repeats": -1.0,
    "ended": -3.0,
    "cause": 2.0,
    "exact": 1.0,
    "replies": 1.4,
}
# Features equal for all candidates of a question order none of them: only the network reads them.
OF_THE_QUESTION = frozenset(
    (
        *("most_said", "most_near", "most_meant", "gap_near", "gap_said", "read", "asks_who", "asks_when"),
        *("asks_amount", "asks_why", "asks_way", "asks_yes_no", "asks_all", "timed"),
    )
)
# Strength of the L2 penalty on the distance from PRIOR, and on the weights of the network.
PENALTY, NETWORK_PENALTY = 0.1, 0.05
HIDDEN, NETWORKS = 8, 3
# Candidates of an example beyond those that its case names: the best by PRIOR and RULES.
KEPT = 24
# Confidence of the model in training relative to its scores, whose scale is that of the prior.
STEEPNESS = 3.0
STEPS = 160
RATE = 0.03


@dataclass(frozen=True, slots=True)
class Asked:
    """A case with the judgement's readings of its candidates."""

    case: Case
    jury: Jury = field(repr=False)
    rows: np.ndarray = field(repr=False)


@dataclass(frozen=True, slots=True)
class Example:
    """The features of a case's candidates, the wanted ones, and pairs whose first must precede the second."""

    rows: np.ndarray = field(repr=False)
    wanted: Sequence[int]
    alternatives: bool
    pairs: Sequence[tuple[int, int]]


def main() -> None:
    """Fit, print the results, and write the model if requested."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("worlds", type=Path, nargs="+")
    arguments.add_argument("--conversations", type=Path, nargs="*", default=[])
    arguments.add_argument("--test", type=Path, nargs="*", default=[])
    arguments.add_argument("--vectors", type=Path, default=Path("vectors.npz"))
    arguments.add_argument("--write", action="store_true")
    chosen = arguments.parse_args()
    asked = [one for folder in chosen.worlds for one in asked_of(worlds_of(folder), chosen.vectors)]
    turns = [one for folder in chosen.conversations for one in asked_of(conversations_of(folder), chosen.vectors)]
    fit = fitted([*asked, *turns])
    report("the worlds by the model fitted on them", *shares(asked, fit))
    for folder in chosen.test:
        report(str(folder), *shares(asked_of(worlds_of(folder), chosen.vectors), fit))
    if chosen.write:
        write(fit)
    report("each world by a model that has not seen it", *left_out(asked, turns))


def asked_of(worlds: Sequence[Mapping[str, Any]], vectors: Path) -> list[Asked]:
    """Return the cases of worlds, each with the readings of its candidates; only the best of a large world's."""
    found = []
    for whole in cases_of(worlds, vectors):
        best = sorted(whole.candidates, key=lambda candidate: -candidate.fused)[:JUDGED]
        case = whole if len(whole.candidates) < SMALL else replace(whole, candidates=best)
        jury = Jury(question(case.query, case.now), case.candidates, case.now)
        found.append(Asked(case, jury, np.array(jury.features())))
    return found


def example(asked: Asked) -> Example | None:
    """Return the example of a case; None if the case does not constrain the order."""
    expect = asked.case.expect
    place = {candidate.uid: index for index, candidate in enumerate(asked.case.candidates)}
    named = [place[uid] for uid in expect.get("first", []) if uid in place]
    listed = [*expect.get("within", {"uids": []})["uids"], *expect.get("cites", [])]
    all_of = [place[uid] for uid in listed if uid in place]
    pairs = [(place[one], place[other]) for one, other in expect.get("before", []) if {one, other} <= place.keys()]
    if asked.case.ask == "answer" and not all_of:
        named, wrong = _answering(asked.case)
        pairs += [(named[0], other) for other in wrong if named]
    if not named and not all_of and not pairs:
        return None
    best = np.argsort(-(asked.rows @ _prior()))[:KEPT].tolist()
    kept = sorted({*best, *named, *all_of, *(index for pair in pairs for index in pair)})
    at = {index: number for number, index in enumerate(kept)}
    wanted = [at[index] for index in named or all_of]
    return Example(asked.rows[kept], wanted, bool(named), [(at[one], at[other]) for one, other in pairs])


def _answering(case: Case) -> tuple[list[int], list[int]]:
    """Return the candidates with something that the answer must hold, and those with something it must not."""
    right, wrong = (
        {
            index
            for index, candidate in enumerate(case.candidates)
            for text in case.expect.get(name, [])
            if text.casefold() in candidate.text.casefold()
        }
        for name in ("answer_has", "answer_has_not")
    )
    return sorted(right - wrong), sorted(wrong)


class Sample:
    """Examples in one matrix, so that a step over all of them takes milliseconds."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.rows = np.vstack([one.rows for one in examples])
        self.starts = np.cumsum([0, *(len(one.rows) for one in examples)])[:-1]
        self.sizes = np.array([len(one.rows) for one in examples])
        # If any of several is right, the model may choose; if all are wanted, each has its share.
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

    def slope(self, values: np.ndarray) -> np.ndarray:
        """Return the slope of the mean loss by the value of each row."""
        scores = STEEPNESS * values
        likely = np.exp(scores - np.repeat(np.maximum.reduceat(scores, self.starts), self.sizes))
        likely /= np.repeat(np.add.reduceat(likely, self.starts), self.sizes)
        picked = likely * self.chosen
        picked /= np.repeat(np.add.reduceat(picked, self.starts), self.sizes) + 1e-12
        slope = self.asks * likely - picked - self.shared
        wrong = self.weight / (1 + np.exp(scores[self.before] - scores[self.after]))
        np.add.at(slope, self.after, wrong)
        np.add.at(slope, self.before, -wrong)
        return STEEPNESS * slope / len(self.starts)


def _prior() -> np.ndarray:
    return np.array([RULES.get(name, PRIOR.get(name, 0.0)) for name in FEATURES])


def fitted(asked: Sequence[Asked]) -> Model:
    """Return the mean of NETWORKS models fitted to the examples."""
    sample = Sample([one for one in map(example, asked) if one is not None])
    models = [_fitted(sample, np.random.default_rng(seed)) for seed in range(NETWORKS)]
    first = models[0]
    return Model(
        first.middle,
        np.mean([one.weights for one in models], axis=0),
        first.mean,
        first.deviation,
        np.vstack([one.inner for one in models]),
        np.concatenate([one.bias for one in models]),
        np.concatenate([one.outer for one in models]) / NETWORKS,
    )


def _fitted(sample: Sample, random: np.random.Generator) -> Model:
    """Return the model that minimises the mean loss, by Adam (Kingma & Ba, ICLR 2015)."""
    prior, count = _prior(), len(FEATURES)
    seen = np.array([float(name not in RULES) for name in FEATURES])
    free = seen * [float(name not in OF_THE_QUESTION) for name in FEATURES]
    # Each part is a view of one vector, which the optimiser updates.
    every = np.zeros(count + HIDDEN * (count + 2))
    weights, inner, bias, outer = np.split(every, [count, count + HIDDEN * count, len(every) - HIDDEN])
    inner = inner.reshape(HIDDEN, count)
    weights[:], inner[:] = prior, random.normal(scale=0.3, size=inner.shape) * seen
    bias[:] = random.normal(scale=0.1, size=HIDDEN)
    fit = Model(middle(), weights, sample.rows.mean(0), sample.rows.std(0) + 1e-3, inner, bias, outer)
    standard = fit.standard(sample.rows)
    mean, square = np.zeros(len(every)), np.zeros(len(every))
    for step in range(1, STEPS + 1):
        hidden = np.tanh(standard @ inner.T + bias)
        slope = sample.slope(sample.rows @ weights + hidden @ outer)
        back = slope[:, None] * outer * (1 - hidden**2)
        down = np.concatenate(
            [
                (slope @ sample.rows + PENALTY * (weights - prior)) * free,
                ((back.T @ standard + 2 * NETWORK_PENALTY * inner) * seen).ravel(),
                back.sum(0),
                slope @ hidden + 2 * NETWORK_PENALTY * outer,
            ]
        )
        mean, square = 0.9 * mean + 0.1 * down, 0.99 * square + 0.01 * down**2
        every -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return fit


def left_out(asked: Sequence[Asked], always: Sequence[Asked]) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of correct and of all cases by kind, leaving out each world in turn.

    `always` are examples in every fit.
    """
    right, count = Counter[str](), Counter[str]()
    for world in sorted({one.case.world for one in asked}):
        fit = fitted([*(one for one in asked if one.case.world != world), *always])
        own = shares([one for one in asked if one.case.world == world], fit)
        right, count = right + own[0], count + own[1]
    return right, count


def shares(asked: Sequence[Asked], fit: Model) -> tuple[Counter[str], Counter[str]]:
    """Return the counts of a model's correct cases and of all cases by kind."""
    right, count = Counter[str](), Counter[str]()
    for one in asked:
        found = judged(one.jury, one.rows.tolist(), fit.values(one.rows).tolist())
        count[one.case.about] += 1
        right[one.case.about] += not faults(one.case, found)
    return right, count


def report(name: str, right: Mapping[str, int], asked: Mapping[str, int]) -> None:
    """Print the overall share, then that of each kind."""
    kinds = ", ".join(f"{about} {right.get(about, 0)}/{asked[about]}" for about in sorted(asked))
    print(f"{name}: {sum(right.values()) / max(1, sum(asked.values())):.3f} of {sum(asked.values())} ({kinds})")


def write(fit: Model) -> None:
    """Write the shipped model: the weight, mean, deviation and part in each hidden unit of each feature."""
    columns = np.vstack([fit.weights, fit.mean, fit.deviation, fit.inner]).T
    lines = [f"{name} = {_numbers(column)}" for name, column in zip(FEATURES, columns, strict=True)]
    head = f"middle = {fit.middle}\n\n[network]\nbias = {_numbers(fit.bias)}\nouter = {_numbers(fit.outer)}\n"
    MODEL.write_text(f"{head}\n[features]\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _numbers(values: np.ndarray) -> str:
    # Adding 0 turns a negative zero into zero.
    return "[" + ", ".join(f"{value + 0.0:g}" for value in np.round(values, 3).tolist()) + "]"


if __name__ == "__main__":
    main()
