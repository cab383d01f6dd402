"""Labelled questions for the search agent, each with the search tool that it may ask."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from agents.types import Candidate
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.errors import InvalidInput
from librarian.usecases.evaluate_data import Row, read_datasets
from librarian.usecases.search_agent import HITS_A_SEARCH
from retrieval.encoders.base import Encoder
from retrieval.evaluation.pool import PoolSearch

POOL_HITS = 10
"""What the owner of a pool of documents gives for one query."""

Find = Callable[[str, SearchInput], Awaitable[SearchOutput]]
Load = Callable[[Sequence[Row]], Awaitable[None]]


class LabelledTool(Protocol):
    """A search tool that knows which labelled piece an index stands for."""

    async def search(self, query: str) -> Sequence[Candidate]:
        """What was found, best first."""

    def id_of(self, temp_index: int) -> str:
        """The piece's id in the data."""


@dataclass(frozen=True, slots=True)
class Store:
    """Where conversations are stored by `load`, and searched by `find`."""

    find: Find
    load: Load


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """A question of a data set, the ids of its smallest set of evidence, and how to begin a request for it.

    `texts` are those of the evidence as the tool shows them; questions of one `group` share what they are about.
    """

    dataset: str
    group: str
    question: str
    evidence: frozenset[str]
    texts: Mapping[str, str]
    open: Callable[[], LabelledTool]


def evidence_folders(named: Sequence[str]) -> list[Path]:
    """The folders of `named` with questions that can be evaluated, or the folders in them. Raises InvalidInput."""
    found = [
        place for name in named for place in _inside(Path(name).expanduser()) if _is_pool(place) or _is_talk(place)
    ]
    if not found:
        raise InvalidInput(
            f"{', '.join(named)}: no questions with evidence",
            field="--data",
            remedy="Name a folder with questions.jsonl and either documents.jsonl or conversations.jsonl.",
        )
    return found


def need_store(folders: Sequence[Path]) -> bool:
    """Whether any of `folders` holds conversations, which are searched as stored messages are."""
    return any(_is_talk(folder) for folder in folders)


async def read_cases(folder: Path, encoder: Encoder | None, store: Store | None) -> list[EvidenceCase]:
    """The cases of a folder. `store` may be None where `need_store` says so."""
    if _is_pool(folder):
        return list(_pool_cases(folder, encoder))
    return await _talk_cases(folder, store) if store else []


async def _talk_cases(folder: Path, store: Store) -> list[EvidenceCase]:
    (dataset,) = read_datasets([str(folder)], seed=0)
    await store.load(dataset.rows)
    texts = {(row["namespace"], row[dataset.id_field]): row["text"] for row in dataset.rows}
    return [
        EvidenceCase(
            dataset=dataset.name,
            group=question.group,
            question=question.text,
            evidence=question.relevant,
            texts={uid: texts[question.namespace, uid] for uid in question.relevant},
            open=partial(TurnTool, partial(store.find, question.namespace), {}),
        )
        for question in dataset.questions
        if question.relevant
    ]


@dataclass(slots=True)
class PoolTool:
    """The documents of one question, searched in memory; a title line and the text of each are shown."""

    ids: Sequence[str]
    texts: Sequence[str]
    pool: PoolSearch
    _shown: list[int] = field(default_factory=list)

    async def search(self, query: str) -> Sequence[Candidate]:
        """The best documents."""
        found = await self.pool.ranked(query, POOL_HITS)
        return [Candidate(self._index(place), self.texts[place], score=score) for place, score in found]

    def id_of(self, temp_index: int) -> str:
        """The document's id."""
        return self.ids[self._shown[temp_index - 1]]

    def _index(self, place: int) -> int:
        if place not in self._shown:
            self._shown.append(place)
        return self._shown.index(place) + 1


@dataclass(slots=True)
class TurnTool:
    """The turns of one conversation, searched as stored messages are; `known` answers are not asked for again."""

    find: Callable[[SearchInput], Awaitable[SearchOutput]]
    known: dict[str, SearchOutput]
    _ids: list[str] = field(default_factory=list)

    async def search(self, query: str) -> Sequence[Candidate]:
        """The best turns."""
        found = await self.find(SearchInput(queries=[query], limit=HITS_A_SEARCH))
        return [
            Candidate(self._index(hit.message_id or hit.uid), hit.content, score=hit.score) for hit in found.results
        ]

    def id_of(self, temp_index: int) -> str:
        """The message's id."""
        return self._ids[temp_index - 1]

    def _index(self, uid: str) -> int:
        if uid not in self._ids:
            self._ids.append(uid)
        return self._ids.index(uid) + 1


def _pool_cases(folder: Path, encoder: Encoder | None) -> Iterator[EvidenceCase]:
    documents = {row["doc_id"]: f"{row['title']}\n{row['text']}" for row in _rows(folder / "documents.jsonl")}
    for row in _rows(folder / "questions.jsonl"):
        texts = [documents[uid] for uid in row["candidates"]]
        yield EvidenceCase(
            dataset=row["dataset"],
            group=row["question_id"],
            question=row["question"],
            evidence=frozenset(row["evidence"]),
            texts={uid: documents[uid] for uid in row["evidence"]},
            open=partial(PoolTool, row["candidates"], texts, PoolSearch(texts, encoder)),
        )


def _inside(folder: Path) -> list[Path]:
    return [folder, *sorted(child for child in folder.iterdir() if child.is_dir())] if folder.is_dir() else []


def _is_pool(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("questions.jsonl", "documents.jsonl"))


def _is_talk(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("questions.jsonl", "conversations.jsonl"))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
