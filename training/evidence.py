"""Fits the regressions of librarian_agents/search/reasoners/evidence.json on labelled questions, and measures them.

    python training/evidence.py ../shared/data/evidence_selection ../shared/data/locomo [--write]

Documents: five folds by question. Messages: each conversation by regressions fitted on the others. Both are measured in
the whole loop, as in `librarian eval evidence`, which on the same data uses weights that have seen the questions.
Without --write nothing is changed. Needs the graph and the encoder of the settings, as the evaluation does.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from librarian import Librarian
from librarian.agent.reasoning import SemanticSimilarity
from librarian.evaluation.evidence import EvidenceCase, Outcome, Store, ask, evidence_folders, read_cases
from librarian.evaluation.lab import Lab
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.chain import SetModel, SetQuestion, features, separate_features
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.passages import Passage, read_all
from librarian_agents.search.types import Findings, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms

WEIGHTS = Path(__file__).parents[1] / "librarian_agents" / "search" / "reasoners" / "evidence.json"
POOLED = "documents"
# Minimum probability of a further passage: the best of a few tried in cross-validation. Messages are judged separately.
ENOUGH = {"documents": 0.25, "messages": None}
FOLDS = 5
SCORING = Scoring(terms, is_question, answering)
# Strength of the L2 penalty.
PENALTY = 1.0
STEPS = 30
READ = 30
# Weight of a state that the growing set only reaches by a mistake.
MISTAKEN = 0.3
MOST_STATES = 12


@dataclass(frozen=True, slots=True)
class Question:
    """A labelled question after its first search: the ids of its passages, those that are evidence, and its group."""

    case: EvidenceCase
    asked: SetQuestion
    ids: Mapping[int, str]
    group: str

    @property
    def right(self) -> list[Passage]:
        """The passages that are evidence."""
        return [passage for passage in self.asked.passages if self.ids[passage.index] in self.case.evidence]


@dataclass(frozen=True, slots=True)
class Example:
    """A passage that could be added to a set, whether it should be, and its weight."""

    features: Mapping[str, float]
    right: bool
    weight: float


async def questions_of(librarian: Librarian, folder: Path) -> list[Question]:
    """Return the questions of a folder, each searched once."""
    cases = await read_cases(folder, librarian.parts.encoder, Store(librarian.search, Lab(librarian).load))
    return [await _question(case) for case in cases]


async def _question(case: EvidenceCase) -> Question:
    tool = case.open()
    found = tuple(await tool.search(case.question))
    passages = read_all(Findings((Search(case.question, found),)), (case.question,), terms)[:READ]
    asked = SetQuestion.of(case.question, passages, SCORING)
    return Question(case, asked, {passage.index: tool.id_of(passage.index) for passage in passages}, case.group)


def examples(question: Question, *, separate: bool) -> Iterator[Example]:
    """Yield every passage: separately, or with every possible set (nothing, parts of the evidence, a wrong start)."""
    right = question.right
    if separate:
        for passage, values in zip(question.asked.passages, separate_features(question.asked), strict=True):
            yield Example(values, passage in right, 1.0)
        return
    wrong = [passage for passage in question.asked.passages if passage not in right]
    yield from _beside(question, (), 1.0)
    for size in range(1, len(right) + 1):
        states = list(combinations(right, size))[:MOST_STATES]
        for state in states:
            yield from _beside(question, state, 1 / len(states))
    for mistake in sorted(wrong, key=lambda passage: -passage.relevance)[:1]:
        yield from _beside(question, (mistake,), MISTAKEN)
        for passage in right[:2]:
            yield from _beside(question, (passage, mistake), MISTAKEN / 2)


def _beside(question: Question, chosen: Sequence[Passage], weight: float) -> Iterator[Example]:
    right = question.right
    for passage in question.asked.passages:
        if passage not in chosen:
            yield Example(features(question.asked, passage, chosen), passage in right, weight)


def fit(sample: Sequence[Example]) -> dict[str, float]:
    """Return weights of a logistic regression with an L2 penalty, by Newton's method."""
    names = sorted({name for example in sample for name in example.features})
    values = np.array([[example.features.get(name, 0.0) for name in names] for example in sample])
    right = np.array([float(example.right) for example in sample])
    weight = np.array([example.weight for example in sample])
    found = np.zeros(len(names))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(values @ found)))
        slope = values.T @ (weight * (right - likely)) - PENALTY * found
        bend = (values.T * (weight * likely * (1 - likely))) @ values + PENALTY * np.eye(len(names))
        found += np.linalg.solve(bend, slope)
    return dict(zip(names, found.round(3).tolist(), strict=True))


async def left_out(questions: Sequence[Question], enough: float | None, scoring: Scoring) -> list[Outcome]:
    """Run each question with an agent whose regression has not seen its group."""
    outcomes: list[Outcome] = []
    samples = [list(examples(question, separate=enough is None)) for question in questions]
    for fold in sorted({question.group for question in questions}):
        known = [
            each
            for question, sample in zip(questions, samples, strict=True)
            if question.group != fold
            for each in sample
        ]
        model = SetModel(fit(known), enough)
        agent = HeuristicReasoner(scoring, dict.fromkeys(ENOUGH, model))
        outcomes.extend([await ask(question.case, agent) for question in questions if question.group == fold])
    return outcomes


def measured(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Means over questions."""
    means = np.mean(
        [(each.precision, each.recall, each.f1, each.set_ratio, each.searches) for each in outcomes], axis=0
    )
    names = ("precision", "recall", "f1", "mean_set_ratio", "mean_searches")
    return {"questions": len(outcomes), **dict(zip(names, means.round(3).tolist(), strict=True))}


def folded(questions: Sequence[Question]) -> list[Question]:
    """Return the questions in FOLDS random but reproducible groups."""
    order = list(range(len(questions)))
    random.Random(0).shuffle(order)
    return [
        Question(questions[index].case, questions[index].asked, questions[index].ids, f"fold {number % FOLDS}")
        for number, index in enumerate(order)
    ]


async def trained(folders: Sequence[Path]) -> dict[str, Any]:
    """Return the content of the weights file."""
    models: dict[str, Any] = {}
    async with Librarian() as librarian:
        scoring = replace(SCORING, similarity=SemanticSimilarity(librarian.lifecycle))
        for folder in folders:
            questions = await questions_of(librarian, folder)
            name = "documents" if (folder / "documents.jsonl").is_file() else "messages"
            own = folded(questions) if name == POOLED else questions
            enough = ENOUGH[name]
            models[name] = {
                "trained_on": folder.name,
                "left_out": measured(await left_out(own, enough, scoring)),
                "enough": enough,
                "weights": fit(
                    [each for question in questions for each in examples(question, separate=enough is None)]
                ),
            }
            print(name, models[name]["left_out"])
    return {"by": "training/evidence.py", "models": models}


def main() -> None:
    """Measure, and write the weights if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    table = asyncio.run(trained(evidence_folders(given.data)))
    if given.write:
        WEIGHTS.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
