"""Scores the recognition of memory types on labelled texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import TypeScores, TypesEvalReport
from librarian.evaluation.measures import labelled_rows, ratio
from librarian_agents.sweep.classify import ACCEPTED, Verdict, judge
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.type_head import Embedding, head_for
from retrieval.encoders.base import Encoder
from retrieval.passages import embedding_text, passages


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and its labelled type."""

    text: str
    type: MemoryType


Judged = Sequence[tuple[MemoryType, Verdict]]


async def evaluate_types(file: Path, encoder: Encoder | None) -> TypesEvalReport:
    """Classify every text of `file` and compare with its label. Raises InvalidInput for a file of another format."""
    rows = read_texts(file)
    embeddings = await embedded([row.text for row in rows], encoder)
    verdicts = [judge(row.text, embedding) for row, embedding in zip(rows, embeddings, strict=True)]
    space = head_for(encoder.space.id if encoder else None).space
    return report(file.name, space, [(row.type, verdict) for row, verdict in zip(rows, verdicts, strict=True)])


async def embedded(texts: Sequence[str], encoder: Encoder | None) -> list[Embedding | None]:
    """Return the vector of each text's first passage, if a head was trained on this encoder's vectors."""
    if encoder is None or head_for(encoder.space.id).space is None:
        return [None] * len(texts)
    vectors = await encoder.encode_passages([first_passage(text) for text in texts])
    return [Embedding(encoder.space.id, vector.tolist()) for vector in vectors]


def first_passage(text: str) -> str:
    """Return the passage of a text that is encoded to classify it: the first, as for items."""
    return embedding_text(None, next(iter(passages(text)), ""))


def read_texts(file: Path) -> list[LabelledText]:
    """Return the rows of a JSON Lines file with the fields `text` and `type`. Raises InvalidInput."""
    return [_labelled(row, f"{file.name}:{number}") for number, row in enumerate(labelled_rows(file), start=1)]


def report(name: str, space: str | None, judged: Judged) -> TypesEvalReport:
    """Return the figures of all verdicts on one file."""
    scores = {type_: _scores(judged, type_) for type_ in MemoryType}
    present = [score.f1 for score in scores.values() if score.labelled]
    sure = [(label, verdict) for label, verdict in judged if verdict.confidence >= ACCEPTED]
    applied = [(label, verdict) for label, verdict in judged if verdict.accepted]
    counts = Counter((label, verdict.type) for label, verdict in judged)
    return TypesEvalReport(
        file=name,
        texts=len(judged),
        space=space,
        macro_f1=round(sum(present) / len(present), 4),
        accuracy=ratio(_right(judged), len(judged)) or 0.0,
        auto_applied=len(applied),
        auto_applied_precision=ratio(_right(applied), len(applied)),
        coverage=round(len(applied) / len(judged), 4),
        sure_precision=ratio(_right(sure), len(sure)),
        types={str(type_): score for type_, score in scores.items()},
        confusion={str(label): {str(type_): counts[label, type_] for type_ in MemoryType} for label in MemoryType},
        methods={
            method: sum(verdict.method == method for _, verdict in judged) for method in ("marker", "head", "none")
        },
    )


def _labelled(row: Mapping[str, Any], where: str) -> LabelledText:
    try:
        return LabelledText(str(row["text"]), MemoryType.parse(row["type"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f"{where} is not a labelled memory",
            field="--data",
            remedy='name a JSON Lines file whose rows have "text" and "type" (docs/memory-types.md)',
        ) from None


def _scores(judged: Judged, type_: MemoryType) -> TypeScores:
    labelled = sum(label is type_ for label, _ in judged)
    predicted = sum(verdict.type is type_ for _, verdict in judged)
    right = sum(label is verdict.type is type_ for label, verdict in judged)
    return TypeScores(
        labelled=labelled,
        predicted=predicted,
        precision=ratio(right, predicted),
        recall=ratio(right, labelled),
        f1=round(2 * right / max(1, labelled + predicted), 4),
    )


def _right(judged: Judged) -> int:
    return sum(label is verdict.type for label, verdict in judged)
