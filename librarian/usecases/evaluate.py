"""Retrieval quality on labelled data: each system asked the same questions, scored the same way."""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.types import ItemFilter
from librarian.contracts.service import EvalReport
from librarian.errors import InvalidInput
from librarian.rowmap import RowMap
from retrieval.arms import OK
from retrieval.pipeline import NOT_ASKED, SearchPipeline
from retrieval.types import BOTH_ARMS, KEYWORD, VECTOR, SearchRequest

CUTOFFS = (1, 5, 10, 20)
SYSTEMS = {"vector": frozenset({VECTOR}), "keyword": frozenset({KEYWORD}), "hybrid": BOTH_ARMS}


@dataclass(frozen=True, slots=True)
class Question:
    """One question, the namespace it is asked in, and the ids of what answers it."""

    namespace: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Labelled data of one folder: rows to ingest (as JSON lines of a built-in map) and questions.

    `id_field` names the property of a hit that `Question.relevant` holds.
    """

    name: str
    documents: Path
    mapping: RowMap
    id_field: str
    questions: Sequence[Question]


def read_dataset(folder: Path) -> Dataset:
    """A LoCoMo folder (conversations.jsonl) or one of titled paragraphs (paragraphs.jsonl), each with questions.jsonl.

    Its documents go into namespaces of their own, `eval:<folder>…`. Raises InvalidInput when the folder holds neither.
    """
    prefix = f"eval:{re.sub(r'[^A-Za-z0-9_.-]', '-', folder.name)[:80]}"
    if (turns := folder / "conversations.jsonl").is_file():
        mapping = RowMap.parse("locomo-messages").into(f"{prefix}:{{sample_id}}")
        return Dataset(folder.name, turns, mapping, "message_id", list(_locomo_questions(folder, prefix)))
    if (paragraphs := folder / "paragraphs.jsonl").is_file():
        mapping = RowMap.parse("paragraphs").into(f"={prefix}")
        return Dataset(folder.name, paragraphs, mapping, "source", list(_paragraph_questions(folder, prefix)))
    raise InvalidInput(
        f"no conversations.jsonl or paragraphs.jsonl in {folder}",
        field="--data",
        remedy="name a folder of the LoCoMo or the titled-paragraphs format (docs/search-quality.md)",
    )


def score(relevant: frozenset[str], ranked: Sequence[str]) -> dict[str, float]:
    """Metrics of one question: recall@k = |relevant in the first k| / |relevant|, reciprocal rank of the first relevant
    one, and nDCG@10 with binary gains (Järvelin & Kekäläinen 2002).
    """
    ranks = [rank for rank, found in enumerate(ranked, start=1) if found in relevant]
    metrics = {f"recall@{k}": sum(rank <= k for rank in ranks) / len(relevant) for k in CUTOFFS}
    metrics["mrr"] = 1 / ranks[0] if ranks else 0.0
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(relevant)) + 1))
    metrics["ndcg@10"] = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10) / ideal
    return metrics


class Scores:
    """Means over questions, by system."""

    def __init__(self) -> None:
        self._sums: dict[str, defaultdict[str, float]] = {system: defaultdict(float) for system in SYSTEMS}
        self._count = 0

    def add(self, by_system: Mapping[str, Mapping[str, float]]) -> None:
        """Count one question."""
        self._count += 1
        for system, metrics in by_system.items():
            for metric, value in metrics.items():
                self._sums[system][metric] += value

    def report(self, dataset: Dataset, notes: Sequence[str]) -> EvalReport:
        """The means, rounded to four digits."""
        systems = {
            system: {metric: round(total / max(1, self._count), 4) for metric, total in sums.items()}
            for system, sums in self._sums.items()
        }
        return EvalReport(dataset=dataset.name, questions=self._count, systems=systems, notes=list(notes))


OnProgress = Callable[[int, int], None]


async def evaluate(pipeline: SearchPipeline, dataset: Dataset, on_progress: OnProgress | None) -> EvalReport:
    """Ask every question of each system; `on_progress` gets (questions asked, all)."""
    scores = Scores()
    notes: dict[str, None] = {}
    for number, question in enumerate(dataset.questions, start=1):
        by_system = {}
        for system, arms in SYSTEMS.items():
            where = ItemFilter(question.namespace)
            result = await pipeline.search(SearchRequest([question.text], where, max(CUTOFFS), arms=arms))
            notes.update(
                dict.fromkeys(
                    f"{arm}: {status}" for arm, status in result.arms.items() if status not in (OK, NOT_ASKED)
                )
            )
            ranked = [str(hit.item.properties.get(dataset.id_field)) for hit in result.hits]
            by_system[system] = score(question.relevant, ranked)
        scores.add(by_system)
        if on_progress:
            on_progress(number, len(dataset.questions))
    return scores.report(dataset, list(notes))


def _locomo_questions(folder: Path, prefix: str) -> Iterator[Question]:
    """Answerable questions (categories 1-4) that name evidence."""
    for row in _rows(folder / "questions.jsonl"):
        if row["category"] != 5 and row["evidence"]:
            yield Question(f"{prefix}:{row['sample_id']}", row["question"], frozenset(row["evidence"]))


def _paragraph_questions(folder: Path, prefix: str) -> Iterator[Question]:
    for row in _rows(folder / "questions.jsonl"):
        yield Question(prefix, row["question"], frozenset(row["positive_paragraph_ids"]))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise InvalidInput(f"{path} is missing", field="--data")
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
