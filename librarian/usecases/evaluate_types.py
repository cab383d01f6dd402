"""How well the types of memories are told, on labelled texts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.classify import ACCEPTED, Verdict, judge
from agents.memory_types import MemoryType
from agents.type_head import Embedding, head_for
from librarian.contracts.evaluation_types import TypeScores, TypesEvalReport
from librarian.errors import InvalidInput
from retrieval.encoders.base import Encoder
from retrieval.passages import embedding_text, passages


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and the type that its source gives it."""

    text: str
    type: MemoryType


Judged = Sequence[tuple[MemoryType, Verdict]]


async def evaluate_types(file: Path, encoder: Encoder | None) -> TypesEvalReport:
    """Judge every text of `file` and compare with its label. Raises InvalidInput for a file of another format."""
    rows = read_texts(file)
    embeddings = await embedded([row.text for row in rows], encoder)
    verdicts = [judge(row.text, embedding) for row, embedding in zip(rows, embeddings, strict=True)]
    space = head_for(encoder.space.id if encoder else None).space
    return report(file.name, space, [(row.type, verdict) for row, verdict in zip(rows, verdicts, strict=True)])


async def embedded(texts: Sequence[str], encoder: Encoder | None) -> list[Embedding | None]:
    """The vector of each text's first passage, where a head was trained on this encoder's vectors."""
    if encoder is None or head_for(encoder.space.id).space is None:
        return [None] * len(texts)
    vectors = await encoder.encode_passages([first_passage(text) for text in texts])
    return [Embedding(encoder.space.id, vector.tolist()) for vector in vectors]


def first_passage(text: str) -> str:
    """What is encoded of a text to tell its type: the passage it begins with, as items are encoded."""
    return embedding_text(None, next(iter(passages(text)), ""))


def read_texts(file: Path) -> list[LabelledText]:
    """The rows of a JSON Lines file with the fields `text` and `type`. Raises InvalidInput."""
    if not file.is_file():
        raise InvalidInput(f"{file} is missing", field="--data")
    rows = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            rows.append(_labelled(line, f"{file.name}:{number}"))
    if not rows:
        raise InvalidInput(f"{file} holds no rows", field="--data")
    return rows


def report(name: str, space: str | None, judged: Judged) -> TypesEvalReport:
    """The figures of all verdicts on one file."""
    scores = {type_: _scores(judged, type_) for type_ in MemoryType}
    present = [score.f1 for score in scores.values() if score.labelled]
    sure = [(label, verdict) for label, verdict in judged if verdict.confidence >= ACCEPTED]
    applied = [(label, verdict) for label, verdict in judged if verdict.accepted]
    return TypesEvalReport(
        file=name,
        texts=len(judged),
        space=space,
        macro_f1=round(sum(present) / len(present), 4),
        accuracy=_share(_right(judged), len(judged)) or 0.0,
        auto_applied=len(applied),
        auto_applied_precision=_share(_right(applied), len(applied)),
        coverage=round(len(applied) / len(judged), 4),
        sure_precision=_share(_right(sure), len(sure)),
        types={str(type_): score for type_, score in scores.items()},
        confusion={str(label): _guesses(judged, label) for label in MemoryType},
        methods={method: _method(judged, method) for method in ("marker", "head", "none")},
    )


def _labelled(line: str, place: str) -> LabelledText:
    try:
        row = json.loads(line)
        return LabelledText(str(row["text"]), MemoryType.parse(row["type"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(
            f"{place} is no labelled memory",
            field="--data",
            remedy='name a JSON Lines file whose rows have "text" and "type" (docs/memory-types.md)',
        ) from None


def _scores(judged: Judged, type_: MemoryType) -> TypeScores:
    labelled = sum(label is type_ for label, _ in judged)
    told = sum(verdict.type is type_ for _, verdict in judged)
    right = sum(label is verdict.type is type_ for label, verdict in judged)
    return TypeScores(
        labelled=labelled,
        told=told,
        precision=_share(right, told),
        recall=_share(right, labelled),
        f1=round(2 * right / max(1, labelled + told), 4),
    )


def _guesses(judged: Judged, label: MemoryType) -> dict[str, int]:
    guesses = [verdict.type for labelled, verdict in judged if labelled is label]
    return {str(type_): guesses.count(type_) for type_ in MemoryType}


def _method(judged: Judged, method: str) -> int:
    return sum(verdict.method == method for _, verdict in judged)


def _right(judged: Judged) -> int:
    return sum(label is verdict.type for label, verdict in judged)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
