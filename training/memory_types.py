"""Fits the heads of agents/models/ on labelled texts, and measures them on repositories left out.

    python training/memory_types.py ../shared/data/memory_types --calibrate ../shared/data/sweep_worlds [--write]

Reads memories.jsonl and agent_notes.jsonl there, and beside this script memory_types.jsonl and memory_documents.jsonl:
texts written for the training, none of them taken from the labelled data. Without --write nothing is changed. One head
sees words alone, one the default encoder's vectors too, and where there is a vector the mean of both counts; the
encoder is loaded from the cache of the settings. Confidence is calibrated on worlds of another author
(--calibrate; the format of training/sweep_worlds), which no head is trained on.

A word counts when at least two repositories (or written texts) have it, so that none speaks for one project. In each
fold the written texts that resemble one left out (cosine >= .7) are left out too. Repositories that are the only
source of a type would leave nothing to learn it from; the figures of memories are therefore given twice, by repository
and by document, and the truth about a new source lies between.
"""

import argparse
import asyncio
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack
from sklearn.linear_model import LogisticRegression

from agents.sweep.classify import ACCEPTED, Verdict, decided_by
from agents.sweep.features import Features, features
from agents.sweep.markers import markers
from agents.sweep.memory_types import MemoryType
from agents.sweep.type_head import Embedding, Head, joint_probabilities, parse_head
from librarian.base.settings.settings import Settings
from librarian.evaluation.types import first_passage
from librarian.runtime.assembly import open_encoder

TYPES = list(MemoryType)
HERE = Path(__file__).parent
# Texts written for the training: short notes, and documents such as TIL entries, pages of patterns, bug reports.
WRITTEN = {"written notes": HERE / "memory_types.jsonl", "written documents": HERE / "memory_documents.jsonl"}
MODELS = Path(__file__).parents[1] / "agents" / "sweep" / "models"
FOLDS = 8
WORLDS = HERE / "sweep_worlds"
# Documents are long, and the memories alike and from few sources; at full weight they drown the notes.
WEIGHTS = {"memories": 0.4, "written documents": 0.7}
INVERSE_PENALTY = 4.0
SCALE_OF_WORDS = math.sqrt(2.0)
SCALE_OF_SIGNS = {"first": math.sqrt(1 / 6), "label": 0.5, "marker": 0.5, "form": 0.5, "lexicon": 0.3}
SCALE_OF_VECTOR = 1.25
LEAST_SOURCES = 2
TOO_NEAR = 0.7
SURE = 0.9
CALIBRATING = "other worlds"

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled text: where it comes from, the part of the data, what the markers and what the heads see of it."""

    type: MemoryType
    source: str
    document: str
    part: str
    marked: Verdict | None
    seen: Features
    vector: NDArray[np.float32]
    latin: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What a head that never saw the row holds for likeliest."""

    row: Row
    guess: MemoryType
    probability: float

    @property
    def right(self) -> bool:
        """Whether the likeliest type is the label."""
        return self.guess is self.row.type

    def reported(self, head: Head) -> tuple[MemoryType, float]:
        """Type and confidence as a user gets them: markers first, else the head's, calibrated as `head` is."""
        marked = self.row.marked
        return (marked.type, marked.confidence) if marked else (self.guess, head.confidence(self.probability))


def source_of(record: Mapping[str, Any]) -> str:
    """Return the repository; of an issue the one it was filed in, of a chat message its conversation."""
    place = f"{record.get('repo', '')} {record.get('path', '')}"
    upstream = re.search(r"issue of [\w./-]+|conv-\d+", place)
    return upstream[0] if upstream else str(record.get("repo", ""))


async def read_rows(folder: Path, calibrating: Path | None) -> tuple[list[Row], str]:
    """Return all rows, and the space of their vectors."""
    records = [
        {**json.loads(line), "part": part}
        for part, file in {
            **{name: folder / f"{name}.jsonl" for name in ("memories", "agent_notes")},
            **WRITTEN,
        }.items()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    records += [*_of_worlds(WORLDS, "worlds"), *(_of_worlds(calibrating, CALIBRATING) if calibrating else ())]
    async with open_encoder(Settings.from_env()) as encoder:
        if encoder is None:
            raise SystemExit("LIBRARIAN_ENCODER is none")
        vectors = await encoder.encode_passages([first_passage(record["text"]) for record in records])
        space = encoder.space.id
    rows = [_row(number, record, vector) for number, (record, vector) in enumerate(zip(records, vectors, strict=True))]
    return rows, space


def _of_worlds(folder: Path, part: str) -> Iterator[dict[str, Any]]:
    """Yield the memories of worlds whose types are stated there; a world is a source."""
    for file in sorted(folder.glob("*.json")):
        world = json.loads(file.read_text(encoding="utf-8"))
        texts = {memory["uid"]: memory["text"] for memory in world["memories"]}
        for uid, type_ in world["types"].items():
            yield {"type": type_, "text": texts[uid], "part": part, "repo": world["name"]}


def _row(number: int, record: Mapping[str, Any], vector: NDArray[np.float32]) -> Row:
    source = source_of(record) or f"written {number}"
    document = f"{source} {record.get('path', '')}"
    text = record["text"]
    marked = decided_by(markers(text))
    latin = not re.search("[\u3040-\u30ff]", text)
    return Row(MemoryType(record["type"]), source, document, record["part"], marked, features(text), vector, latin)


def vocabulary(rows: Sequence[Row]) -> tuple[dict[str, float], list[str]]:
    """Words of enough sources with their idf, and such signs."""
    sources: defaultdict[str, set[str]] = defaultdict(set)
    counts: Counter[str] = Counter()
    signs: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        counts.update(row.seen.words.keys())
        for word in row.seen.words:
            sources[word].add(row.source)
        for sign in row.seen.signs:
            signs[sign].add(row.source)
    words = sorted(word for word in sources if len(sources[word]) >= LEAST_SOURCES)
    idf = {word: 1 + math.log((1 + len(rows)) / (1 + counts[word])) for word in words}
    return idf, sorted(sign for sign in signs if len(signs[sign]) >= LEAST_SOURCES)


def fit(rows: Sequence[Row], space: str | None) -> Head:
    """Return a head fitted on `rows`, uncalibrated; with their vectors when `space` is given."""
    idf, signs = vocabulary(rows)
    scales = np.array([SCALE_OF_WORDS] * len(idf) + [SCALE_OF_SIGNS[sign.partition(":")[0]] for sign in signs])
    table = _table(rows, idf, signs) @ diags_array(scales)
    mean = np.mean([row.vector for row in rows], axis=0, dtype=np.float64)
    if space:
        table = hstack([table, SCALE_OF_VECTOR * (np.array([row.vector for row in rows]) - mean)], format="csr")
    labels = np.array([TYPES.index(row.type) for row in rows])
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=300, tol=1e-3)
    model.fit(table, labels, sample_weight=_weights(rows, labels))
    weights, bias = model.coef_.T, model.intercept_
    count = len(idf)
    scaled = weights[: len(scales)] * scales[:, None]
    vector = SCALE_OF_VECTOR * weights[len(scales) :]
    return Head(
        space=space,
        bias=_rounded(bias - (mean @ vector if space else 0.0)),
        words={word: [round(idf[word], 2), *_rounded(row)] for word, row in zip(idf, scaled[:count], strict=True)},
        signs={sign: _rounded(row) for sign, row in zip(signs, scaled[count:], strict=True)},
        vector=[_rounded(row) for row in vector.T] if space else (),
        slope=1.0,
        offset=0.0,
    )


def _table(rows: Sequence[Row], idf: Mapping[str, float], signs: Sequence[str]) -> csr_array:
    """Return what type_head computes of words and signs, a row a text."""
    places = {name: place for place, name in enumerate([*idf, *signs])}
    values: list[float] = []
    columns: list[int] = []
    ends = [0]
    for row in rows:
        words = {word: (1 + math.log(count)) * idf[word] for word, count in row.seen.words.items() if word in idf}
        norm = math.sqrt(sum(value * value for value in words.values())) or 1.0
        found = {**{word: value / norm for word, value in words.items()}, **row.seen.signs}
        known = {places[name]: value for name, value in found.items() if name in places}
        columns.extend(known)
        values.extend(known.values())
        ends.append(len(columns))
    return csr_array((values, columns, ends), shape=(len(rows), len(places)))


def _weights(rows: Sequence[Row], labels: NDArray[np.int_]) -> Matrix:
    """Every type weighs the same in sum."""
    weights = np.array([WEIGHTS.get(row.part, 1.0) for row in rows])
    sums = np.array([weights[labels == number].sum() for number in range(len(TYPES))])
    balanced: Matrix = weights * (sums.mean() / sums)[labels]
    return balanced


def _rounded(values: Matrix) -> list[float]:
    return [round(float(value), 3) for value in values]


def folds(rows: Sequence[Row], part: str, key: str) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield what to train on and what to test on, of one part of the data; groups of the same `key` stay together."""
    groups = sorted({getattr(row, key) for row in rows if row.part == part})
    random.Random(0).shuffle(groups)
    for number in range(min(FOLDS, len(groups))):
        out = set(groups[number::FOLDS])
        tested = [row for row in rows if row.part == part and getattr(row, key) in out]
        near = np.array([row.vector for row in tested])
        yield [row for row in rows if getattr(row, key) not in out and not _resembles(row, near)], tested


def _resembles(row: Row, tested: NDArray[np.float32]) -> bool:
    return row.part in WRITTEN and bool((tested @ row.vector).max() >= TOO_NEAR)


def cross_validated(rows: Sequence[Row], part: str, key: str, space: str | None) -> list[Judged]:
    """Return the verdicts on every row of `part` by heads that saw nothing of its group."""
    judged = []
    for training, tested in folds(rows, part, key):
        heads = [fit(training, None), *([fit(training, space)] if space else [])]
        for row in tested:
            guess, probability = _top(heads, row, space)
            judged.append(Judged(row, guess, probability))
    return judged


def _top(heads: Sequence[Head], row: Row, space: str | None) -> tuple[MemoryType, float]:
    embedding = Embedding(space, row.vector.tolist()) if space else None
    probabilities = joint_probabilities(heads, row.seen, embedding)
    guess = max(probabilities, key=lambda type_: probabilities[type_])
    return guess, probabilities[guess]


def calibrated(judged: Sequence[Judged]) -> tuple[float, float]:
    """Return slope and offset from log-odds of the likeliest type to log-odds of being right (Platt 1999), with the
    offset such that SURE of the accepted are right: a wrong type that is written costs more than one that is asked
    about. What markers decide and what counts as Unknown is never accepted by a head, and left out.
    """
    left = [one for one in judged if one.row.marked is None and one.guess is not MemoryType.UNKNOWN]
    odds = np.array([math.log(one.probability / (1 - min(one.probability, 1 - 1e-6))) for one in left])
    right = np.array([one.right for one in left])
    slope = max(0.5, float(LogisticRegression(C=1e6).fit(odds[:, None], right).coef_[0, 0]))
    floor = min(bound for bound in np.arange(0.0, 3.0, 0.02) if right[odds >= bound].mean() >= SURE)
    return round(slope, 3), round(math.log(ACCEPTED / (1 - ACCEPTED)) - slope * float(floor), 3)


def judged_by(heads: Sequence[Head], rows: Sequence[Row], space: str | None) -> list[Judged]:
    """Return the verdicts of heads on rows that they have not seen."""
    return [Judged(row, *_top(heads, row, space)) for row in rows]


def show(title: str, judged: Sequence[Judged], head: Head) -> None:
    """Macro-F1, precision and coverage of what would be written, and the confusion matrix (rows are labels)."""
    reported = [(one.row.type, *one.reported(head)) for one in judged]
    accepted = [label is type_ for label, type_, confidence in reported if confidence >= ACCEPTED]
    f1 = {type_: _f1([(label, guess) for label, guess, _ in reported], type_) for type_ in TYPES}
    coverage = len(accepted) / len(judged)
    print(f"{title}: macro-F1 {np.mean(list(f1.values())):.3f}, at .7 {np.mean(accepted):.3f} right of {coverage:.0%}")
    confusion = Counter((label, guess) for label, guess, _ in reported)
    for label in TYPES:
        print(f"  {label:10}", *(f"{confusion[label, guess]:4}" for guess in TYPES), f"  F1 {f1[label]:.2f}")


def _f1(reported: Sequence[tuple[MemoryType, MemoryType]], type_: MemoryType) -> float:
    hits = sum(label is guess is type_ for label, guess in reported)
    return 2 * hits / max(1, sum((label is type_) + (guess is type_) for label, guess in reported))


def trained(rows: Sequence[Row], others: Sequence[Row], space: str | None) -> Head:
    """Return the head of all rows, calibrated on `others`, which it has not seen; print its figures on the way."""
    head = fit(rows, space)
    heads = [fit(rows, None), head] if space else [head]
    readable = [row for row in others if space is None or row.latin]
    unseen = judged_by(heads, readable, space)
    slope, offset = calibrated(unseen)
    head = replace(head, slope=slope, offset=offset)
    print(f"{space or 'words'}: {len(head.words)} words, {len(head.signs)} signs, slope {slope}, offset {offset}")
    show("other worlds, never trained on", unseen, head)
    for part, key in (
        ("agent_notes", "source"),
        ("worlds", "source"),
        ("memories", "source"),
        ("memories", "document"),
    ):
        show(f"{part}, by {key}", cross_validated(rows, part, key, space), head)
    return head


def write(head: Head, file: Path, rows: Sequence[Row]) -> None:
    """One feature a line, so that a change of the model can be read."""
    record = {
        "types": TYPES,
        "trained_on": dict(Counter(row.part for row in rows)),
        "space": head.space,
        "calibration": {"slope": head.slope, "offset": head.offset},
        "bias": head.bias,
        "signs": head.signs,
        "words": head.words,
        "vector": [list(row) for row in zip(*head.vector, strict=True)] if head.space else [],
    }
    parse_head(record)
    fields = (f"{json.dumps(name)}: {_lines(value)}" for name, value in record.items())
    file.write_text("{\n" + ",\n".join(fields) + "\n}\n", encoding="utf-8")


def _lines(value: Any) -> str:
    if isinstance(value, Mapping):
        lines = (f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(one)}" for key, one in value.items())
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + ",\n".join(json.dumps(one) for one in value) + "\n]"
    return json.dumps(value)


def main() -> None:
    """Fit, measure and, if asked to, write both heads."""
    parser = argparse.ArgumentParser(description="Fit the heads of the memory types.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calibrate", type=Path, required=True, help="worlds that no head is trained on")
    parser.add_argument("--write", action="store_true", help="replace the files of agents/models/")
    arguments = parser.parse_args()
    every, space = asyncio.run(read_rows(arguments.folder, arguments.calibrate))
    rows = [row for row in every if row.part != CALIBRATING]
    others = [row for row in every if row.part == CALIBRATING]
    for name, own in (("memory_types_words.json", None), ("memory_types_bge_small.json", space)):
        head = trained(rows, others, own)
        if arguments.write:
            write(head, MODELS / name, rows)


if __name__ == "__main__":
    main()
