"""Fits the heads of librarian_agents/sweep/models/ on labelled texts, and measures them on held-out ones.

    python training/memory_types.py ../shared/data/memory_types --worlds ../shared/data/sweep_worlds [--write]

Reads memories.jsonl and agent_notes.jsonl there, beside this script memory_types.jsonl, memory_documents.jsonl and
memory_notes.jsonl (texts written for the training, none taken from the labelled data), and the worlds of
training/sweep_worlds, its varied, and of --worlds. Without --write nothing is changed. One head sees words alone,
another the default encoder's vectors as well, and if there is a vector the mean of both counts; the encoder is loaded
from the cache of the settings.

A word counts if at least two repositories (or written texts) have it, so that none stands for one project. The figures
are for texts whose repository or world was left out, and calibration uses them alone: in each fold the written texts
that resemble a left-out one (cosine >= .7) are left out as well.
"""

import argparse
import asyncio
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack
from sklearn.linear_model import LogisticRegression

from librarian.base.settings.settings import Settings
from librarian.evaluation.types import first_passage
from librarian.runtime.assembly import open_encoder
from librarian_agents.sweep.classify import ACCEPTED, Verdict, decided_by
from librarian_agents.sweep.features import Features, features
from librarian_agents.sweep.markers import markers
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.type_head import Embedding, Head, joint_probabilities, parse_head

TYPES = list(MemoryType)
HERE = Path(__file__).parent
THEMES = "notes by theme"
# Texts written for the training: short notes, documents such as TIL entries, pages of patterns, bug reports, and notes
# of twenty projects in the forms that agents use.
WRITTEN = {
    "written notes": HERE / "memory_types.jsonl",
    "written documents": HERE / "memory_documents.jsonl",
    THEMES: HERE / "memory_notes.jsonl",
}
MODELS = Path(__file__).parents[1] / "librarian_agents" / "sweep" / "models"
FOLDS = 4
WORLDS = HERE / "sweep_worlds"
# Documents are long, the memories similar and from few sources, the notes by theme of one hand; at full weight they
# would dominate the short notes of users.
WEIGHTS = {"memories": 0.4, "written documents": 0.7, THEMES: 0.5}
INVERSE_PENALTY = 8.0
SCALE_OF_WORDS = math.sqrt(2.0)
SCALE_OF_SIGNS = {"first": math.sqrt(1 / 6), "label": 0.5, "marker": 0.5, "form": 0.5, "lexicon": 0.3, "end": 0.4}
SCALE_OF_VECTOR = 1.25
LEAST_SOURCES = 2
TOO_NEAR = 0.7
SURE = 0.9
FEWEST = 40
OTHERS = "other worlds"
VARIED = "varied worlds"
# A sweep's usual texts, and those with headings, lists and labels, are calibrated separately.
PROSE = {OTHERS}
LAID_OUT = {"memories", "agent_notes"}
MEASURED = {OTHERS, "worlds", *LAID_OUT}

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled text: its origin, its part of the data, and its markers and features."""

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
    """The likeliest type by a head that never saw the row."""

    row: Row
    guess: MemoryType
    probability: float

    @property
    def right(self) -> bool:
        """Whether the likeliest type is the label."""
        return self.guess is self.row.type

    def reported(self, head: Head) -> tuple[MemoryType, float]:
        """Return type and confidence as users get them: from markers, otherwise from the head, calibrated as `head`."""
        marked = self.row.marked
        sure = head.confidence(self.probability, laid_out=self.row.seen.laid_out)
        return (marked.type, marked.confidence) if marked else (self.guess, sure)


def source_of(record: Mapping[str, Any]) -> str:
    """Return the repository; of an issue the one it was filed in, a chat message its conversation, a note its theme."""
    place = f"{record.get('repo', '')} {record.get('path', '')}"
    upstream = re.search(r"issue of [\w./-]+|conv-\d+", place)
    return upstream[0] if upstream else str(record.get("repo") or record.get("theme", ""))


async def read_rows(folder: Path, others: Path) -> tuple[list[Row], str]:
    """Return all rows, and the space of their vectors."""
    records = [
        {**json.loads(line), "part": part}
        for part, file in {
            **{name: folder / f"{name}.jsonl" for name in ("memories", "agent_notes")},
            **WRITTEN,
        }.items()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    records += [*_of_worlds(WORLDS, "worlds"), *_of_worlds(WORLDS / "varied", VARIED), *_of_worlds(others, OTHERS)]
    async with open_encoder(Settings.from_env()) as encoder:
        if encoder is None:
            raise SystemExit("LIBRARIAN_ENCODER is none")
        vectors = await encoder.encode_passages([first_passage(record["text"]) for record in records])
        space = encoder.space.id
    rows = [_row(number, record, vector) for number, (record, vector) in enumerate(zip(records, vectors, strict=True))]
    return rows, space


def _of_worlds(folder: Path, part: str) -> Iterator[dict[str, Any]]:
    """Yield the memories of worlds with stated types; a world is a source."""
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
    """Return words of enough sources with their idf, and signs likewise."""
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
        laid_out_offset=0.0,
    )


def _table(rows: Sequence[Row], idf: Mapping[str, float], signs: Sequence[str]) -> csr_array:
    """Return type_head's values of words and signs, one row per text."""
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
    """Return weights with an equal sum per type."""
    weights = np.array([WEIGHTS.get(row.part, 1.0) for row in rows])
    sums = np.array([weights[labels == number].sum() for number in range(len(TYPES))])
    balanced: Matrix = weights * (sums.mean() / sums)[labels]
    return balanced


def _rounded(values: Matrix) -> list[float]:
    return [round(float(value), 3) for value in values]


def folds(rows: Sequence[Row], parts: Set[str] = MEASURED) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield training sets, and test sets of `parts`; texts of one source stay together."""
    sources = sorted({row.source for row in rows if row.part in parts})
    random.Random(1).shuffle(sources)
    for number in range(FOLDS):
        out = set(sources[number::FOLDS])
        tested = [row for row in rows if row.source in out]
        near = np.array([row.vector for row in tested if row.part in LAID_OUT]).reshape(-1, len(rows[0].vector))
        yield [row for row in rows if row.source not in out and not _resembles(row, near)], tested


def _resembles(row: Row, tested: NDArray[np.float32]) -> bool:
    return row.part in WRITTEN and bool((tested @ row.vector).max(initial=0.0) >= TOO_NEAR)


def cross_validated(rows: Sequence[Row], space: str, parts: Set[str] = MEASURED) -> tuple[list[Judged], list[Judged]]:
    """Return the verdicts from words alone, and from words and vectors, by heads that saw nothing of the source.

    The latter exist where the encoder can read a text.
    """
    words, joint = [], []
    for training, tested in folds(rows, parts):
        heads = [fit(training, None), fit(training, space)]
        words += [Judged(row, *_top(heads[:1], row, None)) for row in tested]
        joint += [Judged(row, *_top(heads, row, space)) for row in tested if row.latin]
    return words, joint


def _top(heads: Sequence[Head], row: Row, space: str | None) -> tuple[MemoryType, float]:
    embedding = Embedding(space, row.vector.tolist()) if space else None
    probabilities = joint_probabilities(heads, row.seen, embedding)
    guess = max(probabilities, key=lambda type_: probabilities[type_])
    return guess, probabilities[guess]


def calibrated(head: Head, judged: Sequence[Judged]) -> Head:
    """Return the head with slope and offsets from log-odds of the likeliest type to those of being right (Platt 1999).

    Each offset makes SURE of the accepted types right: a wrong type that is written costs more than a question. Texts
    decided by markers and those that count as Unknown are never accepted by a head, and are left out.
    """
    left = [one for one in judged if one.row.marked is None and one.guess is not MemoryType.UNKNOWN]
    odds, right = _odds(left)
    slope = round(max(0.5, float(LogisticRegression(C=1e6).fit(odds[:, None], right).coef_[0, 0])), 3)
    prose = [one for one in left if one.row.part in PROSE and not one.row.seen.laid_out]
    laid_out = [one for one in left if one.row.part in LAID_OUT and one.row.seen.laid_out]
    return replace(head, slope=slope, offset=_offset(prose, slope), laid_out_offset=_offset(laid_out, slope))


def _odds(judged: Sequence[Judged]) -> tuple[Matrix, NDArray[np.bool_]]:
    odds = [math.log(one.probability / (1 - min(one.probability, 1 - 1e-6))) for one in judged]
    return np.array(odds), np.array([one.right for one in judged])


def _offset(judged: Sequence[Judged], slope: float) -> float:
    """Return the offset at which SURE of the accepted types are right, at the bound and at every higher one."""
    odds, right = _odds(judged)
    bounds = [bound for bound in np.arange(-0.5, 4.0, 0.02) if (odds >= bound).any()]
    low = [bound for bound in bounds if right[odds >= bound].mean() < SURE and (odds >= bound).sum() >= FEWEST]
    return round(math.log(ACCEPTED / (1 - ACCEPTED)) - slope * float(max(low, default=0.0) + 0.02), 3)


def show(title: str, judged: Sequence[Judged], head: Head) -> None:
    """Print macro-F1, precision and coverage of written types, and the confusion matrix (rows are labels)."""
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


def trained(rows: Sequence[Row], judged: Sequence[Judged], themes: Sequence[Judged], space: str | None) -> Head:
    """Return the head of all rows, calibrated on verdicts of heads that had not seen the text; print its figures.

    `themes` are the verdicts on notes of left-out themes, which are only measured.
    """
    head = calibrated(fit(rows, space), judged)
    print(f"{space or 'words'}: {len(head.words)} words, {len(head.signs)} signs")
    print(f"  slope {head.slope}, offset {head.offset}, of laid-out texts {head.laid_out_offset}")
    for part in (OTHERS, "worlds", "agent_notes", "memories"):
        show(part, [one for one in judged if one.row.part == part], head)
    show(THEMES, themes, head)
    return head


def write(head: Head, file: Path, rows: Sequence[Row]) -> None:
    """Write one feature per line, so that changes of the model are readable."""
    record = {
        "types": TYPES,
        "trained_on": dict(Counter(row.part for row in rows)),
        "space": head.space,
        "calibration": {"slope": head.slope, "offset": head.offset, "laid_out_offset": head.laid_out_offset},
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
    """Fit, measure and, if requested, write both heads."""
    parser = argparse.ArgumentParser(description="Fit the heads of the memory types.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worlds", type=Path, required=True, help="worlds of another author, trained on as well")
    parser.add_argument("--write", action="store_true", help="replace the files of librarian_agents/sweep/models/")
    arguments = parser.parse_args()
    rows, space = asyncio.run(read_rows(arguments.folder, arguments.worlds))
    words, joint = cross_validated(rows, space)
    words_of_themes, joint_of_themes = cross_validated(rows, space, {THEMES})
    for name, own, judged, themes in (
        ("memory_types_words.json", None, words, words_of_themes),
        ("memory_types_bge_small.json", space, joint, joint_of_themes),
    ):
        head = trained(rows, judged, themes, own)
        if arguments.write:
            write(head, MODELS / name, rows)


if __name__ == "__main__":
    main()
