"""Labelled data sets: rows to ingest into separate namespaces, and questions with the ids that answer them."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.evaluation.measures import json_lines
from librarian.items.rowmap import RowMap
from retrieval.evaluation.baselines import Document
from retrieval.text import keyword_text

SAMPLE = "sample"
"""The name of the data set shipped with Librarian."""

ELSEWHERE = "asked elsewhere"
UNANSWERABLE = "unanswerable"
_MOST_ELSEWHERE = 100
_ADVERSARIAL = 5

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question, its namespace, and the ids that answer it (none: it cannot be answered there).

    `group` is its unit of correlation: the conversation, article or user that it is about.
    """

    id: str
    namespace: str
    text: str
    relevant: frozenset[str]
    category: str
    group: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """Labelled data. `rows` are rows of an ingest, each with its namespace; `id_field` is the field of rows, and
    property of hits, whose values `Question.relevant` holds; `unit` describes it.
    """

    name: str
    unit: str
    id_field: str
    rows: Sequence[Row]
    questions: Sequence[Question]

    def corpora(self) -> dict[str, list[Document]]:
        """Return the documents of each namespace, for in-memory systems."""
        corpora: defaultdict[str, list[Document]] = defaultdict(list)
        for row in self.rows:
            corpora[row["namespace"]].append(_document(row, self.id_field))
        return corpora

    def sizes(self) -> dict[str, int]:
        """Return the number of distinct ids in each namespace."""
        ids: defaultdict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            ids[row["namespace"]].add(str(row[self.id_field]))
        return {namespace: len(own) for namespace, own in ids.items()}


def read_datasets(named: Sequence[str], *, seed: int) -> list[Dataset]:
    """Return the data sets of folders, and "sample"; a folder without one stands for those inside it.

    `seed` draws the questions that are asked in a foreign namespace. Raises InvalidInput for a name without a data set.
    """
    return [dataset for name in named for dataset in _named(name, seed)]


def _named(name: str, seed: int) -> list[Dataset]:
    if name == SAMPLE:
        return [_sample()]
    folder = Path(name).expanduser()
    inside = sorted(child for child in folder.iterdir() if child.is_dir()) if folder.is_dir() else []
    found = [dataset for path in (folder, *inside) if (dataset := _read(path, seed)) is not None]
    if not found:
        raise InvalidInput(
            f"{name} is not a data set and holds none",
            field="--data",
            remedy='name a folder of one of the formats in docs/search-quality.md, or "sample"',
        )
    return found


def _read(folder: Path, seed: int) -> Dataset | None:
    """Return the data set of a folder, recognised by its files, or None."""
    prefix = f"eval:{re.sub(r'[^A-Za-z0-9_.-]', '-', folder.name)[:80]}"
    for name, read in _FORMATS.items():
        if (folder / name).is_file() and (folder / "questions.jsonl").is_file():
            return read(folder, prefix, seed)
    return None


def _conversations(folder: Path, prefix: str, seed: int) -> Dataset:
    """Read the LoCoMo format: turns, one namespace per conversation; questions of category 5 have no answer."""
    mapping = RowMap.parse("locomo-messages").into(f"{prefix}:{{sample_id}}")
    questions = [
        Question(
            id=row["question_id"],
            namespace=f"{prefix}:{row['sample_id']}",
            text=row["question"],
            relevant=frozenset() if row["category"] == _ADVERSARIAL else frozenset(row["evidence"]),
            category=UNANSWERABLE if row["category"] == _ADVERSARIAL else f"category {row['category']}",
            group=row["sample_id"],
        )
        for row in json_lines(folder / "questions.jsonl")
        if row["evidence"]
    ]
    rows = _mapped(folder / "conversations.jsonl", mapping)
    return Dataset(folder.name, "turn", "message_id", rows, [*questions, *_elsewhere(questions, seed)])


def _sessions(folder: Path, prefix: str, _seed: int) -> Dataset:
    """Read the LongMemEval format: turns of sessions, one namespace per user; whole sessions are found."""
    questions = [
        Question(
            id=row["question_id"],
            namespace=f"{prefix}:{row['user_id']}",
            text=row["question"],
            relevant=frozenset(row["evidence_session_ids"]),
            category=row["question_type"] if row["answerable"] else UNANSWERABLE,
            group=row["user_id"],
        )
        for row in json_lines(folder / "questions.jsonl")
    ]
    rows = [row for session in json_lines(folder / "sessions.jsonl") for row in _turns(session, prefix)]
    return Dataset(folder.name, "session", "session_id", rows, questions)


def _pool(folder: Path, prefix: str, _seed: int) -> Dataset:
    """Read the paragraphs of several questions into one pool; a text counts as found wherever it came from."""
    documents = {row["doc_id"]: row for row in json_lines(folder / "documents.jsonl")}
    by_text = {row["text_hash"]: row for row in documents.values()}
    rows = [_paragraph(prefix, row["text_hash"], row["title"], row["text"]) for row in by_text.values()]
    questions = [
        Question(
            id=row["question_id"],
            namespace=prefix,
            text=row["question"],
            relevant=frozenset(documents[uid]["text_hash"] for uid in row["evidence"]),
            category=row["dataset"],
            group=row["question_id"],
        )
        for row in json_lines(folder / "questions.jsonl")
    ]
    return Dataset(folder.name, "paragraph", "source", rows, questions)


def _paragraphs(folder: Path, prefix: str, _seed: int) -> Dataset:
    """Read titled paragraphs into one namespace."""
    mapping = RowMap.parse("paragraphs").into(f"={prefix}")
    questions = [
        Question(
            id=str(row.get("question_id", number)),
            namespace=prefix,
            text=row["question"],
            relevant=frozenset(row["positive_paragraph_ids"]),
            category=_rarity(row),
            group=str(row.get("title", number)),
        )
        for number, row in enumerate(json_lines(folder / "questions.jsonl"), start=1)
    ]
    return Dataset(folder.name, "paragraph", "source", _mapped(folder / "paragraphs.jsonl", mapping), questions)


def _rarity(row: Row) -> str:
    """Return the category of a question; those that name a rare term are easier."""
    if "names_a_rare_term" not in row:
        return "all"
    return "names a rare term" if row["names_a_rare_term"] else "names no rare term"


_FORMATS: Mapping[str, Callable[[Path, str, int], Dataset]] = {
    "conversations.jsonl": _conversations,
    "sessions.jsonl": _sessions,
    "documents.jsonl": _pool,
    "paragraphs.jsonl": _paragraphs,
}
"""File beside questions.jsonl that identifies a format -> its reader."""


def _sample() -> Dataset:
    """Return the sample data, with questions in English and Japanese, some of them unanswerable."""
    namespace = f"eval:{SAMPLE}"
    names = ("messages", "facts", "memories")
    rows = [{**row, "namespace": namespace} for name in names for row in _sample_lines(name)]
    questions = [
        Question(
            id=row["question_id"],
            namespace=namespace,
            text=row["question"],
            relevant=frozenset(row["relevant"]),
            category=row["category"],
            group=row["about"],
        )
        for row in _sample_lines("questions")
    ]
    return Dataset(SAMPLE, "item", "uid", rows, questions)


def _elsewhere(questions: Sequence[Question], seed: int) -> list[Question]:
    """Return answerable questions moved to the next conversation, where nothing answers them."""
    namespaces = list(dict.fromkeys(question.namespace for question in questions))
    if len(namespaces) < 2:
        return []
    following = dict(zip(namespaces, [*namespaces[1:], namespaces[0]], strict=True))
    answerable = [question for question in questions if question.relevant]
    drawn = random.Random(seed).sample(answerable, min(_MOST_ELSEWHERE, len(answerable)))  # noqa: S311 - no secret
    return [
        Question(f"{own.id}:elsewhere", following[own.namespace], own.text, frozenset(), ELSEWHERE, own.group)
        for own in drawn
    ]


def _turns(session: Row, prefix: str) -> Iterator[Row]:
    sent_at = datetime.strptime(session["date"], "%Y/%m/%d (%a) %H:%M").isoformat()  # noqa: DTZ007 - no zone is known
    spoken = [turn for turn in session["turns"] if turn["content"].strip()]
    for position, turn in enumerate(spoken, start=1):
        yield {
            "kind": "message",
            "namespace": f"{prefix}:{session['user_id']}",
            "message_id": f"{session['session_id']}:{position}",
            "conversation_id": session["user_id"],
            "session_id": session["session_id"],
            "position": position,
            "author_name": turn["role"],
            "role": turn["role"],
            "sent_at": sent_at,
            "text": turn["content"],
        }


def _paragraph(namespace: str, source: str, title: str, text: str) -> Row:
    return {
        "kind": "memory",
        "type": "Reference",
        "namespace": namespace,
        "source": source,
        "name": title,
        "text": text,
    }


def _document(row: Row, id_field: str) -> Document:
    content = row.get("text") or " ".join(row[name] for name in ("subject", "predicate", "object"))
    text = content if row.get("caption") is None else f"{content} [{row['caption']}]"
    when = row.get("sent_at") or row.get("occurred_at") or row.get("valid_from")
    keywords = keyword_text(
        text,
        title=row.get("name"),
        author=row.get("author_name"),
        when=None if when is None else datetime.fromisoformat(when),
    )
    return Document(str(row[id_field]), text, row.get("author_name"), keywords)


def _mapped(path: Path, mapping: RowMap) -> list[Row]:
    return [mapping.apply(row, number) for number, row in enumerate(json_lines(path), start=1)]


def _sample_lines(name: str) -> Iterator[dict[str, Any]]:
    with as_file(files("librarian.items").joinpath("sample", f"{name}.jsonl")) as path:
        yield from json_lines(path)
