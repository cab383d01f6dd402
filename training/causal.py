"""Fits the head of agents/sweep/causal_weights.toml on labelled sentences, and measures it on documents left out.

    PYTHONPATH=. python training/causal.py ../shared/data/causality [--write]

The head weighs what one sentence says of two of its parts; it is fitted on sentences.jsonl and judges a pair of texts
that comes with the context that holds both, as in pairs.jsonl. How well a sweep connects memories, which have no such
context, is measured by training/sweep_worlds.py. Without --write nothing is changed. The figures are cross-validated:
ten folds by document or story, so that no sentence of a tested document is trained on.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from agents.sweep.causal_head import Head
from agents.sweep.causal_stated import locate, statements
from agents.sweep.causal_types import Verdict
from librarian.evaluation.causal import CausalCase, Judged, read_case, read_cases, score, score_kind
from librarian.evaluation.contracts import EdgeScores

FOLDS = 10
# Strength of the L2 penalty: a feature seen a few times must not decide alone.
PENALTY = 1.0
STEPS = 40
WEIGHTS = Path(__file__).parents[1] / "agents" / "sweep" / "causal_weights.toml"


@dataclass(frozen=True, slots=True)
class Example:
    """One reading of one pair, and whether it is right."""

    group: str
    features: Mapping[str, float]
    right: bool


def stated_examples(case: CausalCase) -> Iterable[Example]:
    """The readings of a pair inside its context."""
    first, second = (locate(case.context or "", note.text) for note in (case.first, case.second))
    if first is None or second is None:
        return
    for read in statements(case.context or "", first, second):
        yield Example(case.group, read.features(), case.right(Verdict(read.hit.cue.relation, read.direction)))


def fit(examples: Sequence[Example]) -> Head:
    """Logistic regression with an L2 penalty, by Newton's method."""
    names = sorted({name for example in examples for name in example.features})
    table = np.array([[example.features.get(name, 0.0) for name in names] + [1.0] for example in examples])
    right = np.array([float(example.right) for example in examples])
    penalty = np.diag([PENALTY] * len(names) + [0.0])
    weights = np.zeros(len(names) + 1)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - right) + penalty @ weights
        curve = (table * (chance * (1 - chance))[:, None]).T @ table + penalty
        weights -= np.linalg.solve(curve, slope)
    rounded = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False)}
    return Head(round(float(weights[-1]), 3), rounded)


def fold_of(group: str) -> int:
    """The fold of a document: the same in every run."""
    return int(sha256(group.encode()).hexdigest(), 16) % FOLDS


def left_out(cases: Sequence[CausalCase], stated: Sequence[Example]) -> Judged:
    """Judge each pair by a head that was fitted without its document."""
    judged: list[tuple[CausalCase, Verdict]] = []
    for fold in range(FOLDS):
        head = fit([example for example in stated if fold_of(example.group) != fold])
        judged += [(case, read_case(case, head)) for case in cases if fold_of(case.group) == fold]
    return judged


def toml(head: Head, size: int) -> str:
    """Return the text of causal_weights.toml."""
    lines = ["# Made by training/causal.py: a logistic regression over the readings of labelled pairs.", ""]
    lines += [f"# {size} readings", f"bias = {head.bias}", "", "[weights]"]
    lines += [f"{json.dumps(feature, ensure_ascii=False)} = {weight}" for feature, weight in head.weights.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fit, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    files = {name: read_cases(options.data / name)[0] for name in ("sentences.jsonl", "pairs.jsonl")}
    stated = [example for case in files["sentences.jsonl"] for example in stated_examples(case)]
    for name, cases in files.items():
        _report(name, left_out(cases, stated))
    if options.write:
        WEIGHTS.write_text(toml(fit(stated), len(stated)), encoding="utf-8")


def _report(name: str, judged: Judged) -> None:
    rows = {
        "typed": score(judged),
        "accepted": score([(case, verdict if verdict.accepted else Verdict()) for case, verdict in judged]),
        **{kind: score_kind(judged, kind) for kind in sorted({case.kind for case, _ in judged})},
    }
    sys.stdout.write(f"{name}, documents left out\n" + "".join(_row(label, scores) for label, scores in rows.items()))


def _row(label: str, scores: EdgeScores) -> str:
    precision, recall = (f"{share:.3f}" if share is not None else "-" for share in (scores.precision, scores.recall))
    false_alarms = getattr(scores, "false_alarms", "")
    return f"  {label:26} edges {scores.edges:4} claimed {scores.claimed:4} P {precision} R {recall} {false_alarms}\n"


if __name__ == "__main__":
    main()
