"""Fits the two heads of agents/causal_weights.toml on labelled pairs, and measures them on documents left out.

    PYTHONPATH=. python training/causal.py ../shared/data/causality [--write]

Reads sentences.jsonl (what one sentence says of two of its parts), pairs.jsonl and agent_notes_pairs.jsonl (what two
texts say of each other), causal_memories.jsonl beside this script (pairs of memories written for it, since the other
texts hardly refer to each other), and ../memory_types/memories.jsonl: memories of different repositories, drawn at
random, which have nothing to do with each other. Without --write nothing is changed. The figures are cross-validated:
ten folds by document, story or repository, so that no sentence of a tested document is trained on.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from agents.causal_between import claims
from agents.causal_head import Head, Heads
from agents.causal_stated import locate, statements
from agents.causal_terms import Reading
from agents.causal_types import Direction, Note, Relation, Verdict
from librarian.contracts.evaluation_causal import EdgeScores
from librarian.usecases.causal_cases import CausalCase, read_cases
from librarian.usecases.evaluate_causal import Judged, read_case, score, score_kind

FOLDS = 10
# Strength of the L2 penalty: a feature seen a few times must not decide alone.
PENALTY = 1.0
NO_ANSWERS: frozenset[tuple[Relation, Direction | None]] = frozenset()
STEPS = 40
OWN = Path(__file__).with_name("causal_memories.jsonl")
WEIGHTS = Path(__file__).parents[1] / "agents" / "causal_weights.toml"

UNRELATED = 6000


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


def between_examples(case: CausalCase) -> Iterable[Example]:
    """The readings of a pair by what the texts say of each other."""
    for claim in claims(Reading(case.first.text), Reading(case.second.text)):
        yield Example(case.group, claim.features, case.right(Verdict(claim.relation, claim.direction)))


def unrelated(file: Path, seed: int) -> list[CausalCase]:
    """Pairs of memories of different repositories, drawn at random."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    draw = random.Random(seed)
    pairs = (draw.sample(rows, 2) for _ in range(UNRELATED))
    return [
        CausalCase(
            one["id"] + two["id"],
            "unrelated",
            one["repo"],
            Note(one["text"]),
            Note(two["text"]),
            None,
            None,
            NO_ANSWERS,
        )
        for one, two in pairs
        if one["repo"] != two["repo"]
    ]


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


def left_out(cases: Sequence[CausalCase], stated: Sequence[Example], between: Sequence[Example]) -> Judged:
    """Each pair judged by heads that were fitted without its document."""
    judged: list[tuple[CausalCase, Verdict]] = []
    for fold in range(FOLDS):
        heads = Heads(*(fit([one for one in part if fold_of(one.group) != fold]) for part in (stated, between)))
        judged += [(case, read_case(case, heads)) for case in cases if fold_of(case.group) == fold]
    return judged


def toml(heads: Heads, sizes: Sequence[int]) -> str:
    """The text of causal_weights.toml."""
    lines = ["# Made by training/causal.py: logistic regressions over the readings of labelled pairs."]
    for name, head, size in zip(("stated", "between"), (heads.stated, heads.between), sizes, strict=True):
        lines += ["", f"# {size} readings", f"[{name}]", f"bias = {head.bias}", "", f"[{name}.weights]"]
        lines += [f"{json.dumps(feature, ensure_ascii=False)} = {weight}" for feature, weight in head.weights.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fit, report, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    files = {
        name: read_cases(options.data / name)[0]
        for name in ("sentences.jsonl", "pairs.jsonl", "agent_notes_pairs.jsonl")
    }
    files[OWN.name] = read_cases(OWN)[0]
    sentences, pairs, notes, own = files.values()
    strangers = unrelated(options.data.parent / "memory_types" / "memories.jsonl", seed=1)
    files["unrelated memories"] = unrelated(options.data.parent / "memory_types" / "memories.jsonl", seed=2)
    stated = [example for case in sentences for example in stated_examples(case)]
    between = [example for case in [*pairs, *notes, *own, *strangers] for example in between_examples(case)]
    for name, cases in files.items():
        _report(name, left_out(cases, stated, between))
    if options.write:
        heads = Heads(fit(stated), fit(between))
        WEIGHTS.write_text(toml(heads, (len(stated), len(between))), encoding="utf-8")


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
