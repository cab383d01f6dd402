"""Compares the search agent with plain searches at selecting sets of evidence for labelled questions."""

import html
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from graph.local.artifacts import Progress
from librarian.agent.own_search import HITS_A_SEARCH
from librarian.agent.reasoning import SemanticSimilarity, reasoner_of
from librarian.app import Librarian
from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import Settings
from librarian.evaluation.contracts import EvidenceEvalReport, EvidenceScores, EvidenceSystem
from librarian.evaluation.data import Row, read_datasets
from librarian.evaluation.lab import Lab
from librarian.evaluation.measures import OnProgress, json_lines, timed
from librarian.runtime.assembly import open_encoder
from librarian.runtime.language_model import chat_model
from librarian.search.contracts import SearchInput, SearchOutput
from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Reasoner
from librarian_agents.search.reasoners.chain import measurements
from librarian_agents.search.reasoners.llm import LlmReasoner
from librarian_agents.search.types import Candidate, EvidenceTask
from retrieval.encoders.base import Encoder
from retrieval.encoders.language_probe import covered_languages, encode_probes
from retrieval.evaluation.pool import PoolSearch
from retrieval.evidence import EncoderSimilarity

MAX_RETRIES = 5
AGENT = "heuristic_agent"
LLM_AGENT = "llm_agent"
# Plain searches take this many of the first hits.
_FIRST = (1, 2)
_SCRIPTED = (
    "llm_agent: no language model is set up; a script that knows the labels judges instead, which shows what the tool "
    "and the loop allow, not what a model reaches"
)

POOL_HITS = 10
"""Returns the documents of a pool for one query."""

Find = Callable[[str, SearchInput], Awaitable[SearchOutput]]
Load = Callable[[Sequence[Row]], Awaitable[None]]
_CANDIDATE = re.compile(r'<candidate temp_index="(\d+)">\n(.*?)\n</candidate>', re.DOTALL)
_ASKED = re.compile(r"<asked>")
_QUOTE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Piece:
    """One result of a search; `source` is the author of a message, None for a document."""

    uid: str
    text: str
    score: float
    source: str | None = None


@dataclass(slots=True)
class LabelledTool:
    """A search tool that numbers the pieces returned by `find`, and times its searches."""

    find: Callable[[str], Awaitable[Sequence[Piece]]]
    seconds: float = 0.0
    _ids: list[str] = field(default_factory=list)

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the pieces found, best first; a piece keeps its number."""
        found, seconds = await timed(self.find(query))
        self.seconds += seconds
        self._ids += [uid for uid in dict.fromkeys(piece.uid for piece in found) if uid not in self._ids]
        return [
            Candidate(self._ids.index(piece.uid) + 1, piece.text, piece.source, score=piece.score) for piece in found
        ]

    def id_of(self, temp_index: int) -> str:
        """Return the data's id of a piece."""
        return self._ids[temp_index - 1]


@dataclass(frozen=True, slots=True)
class Store:
    """Stores conversations by `load` and searches them by `find`."""

    find: Find
    load: Load


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """A question of a data set, the ids of its smallest set of evidence, and how to start a request for it.

    `texts` are those of the evidence as the tool shows them; questions of one `group` share a subject.
    """

    dataset: str
    group: str
    question: str
    evidence: frozenset[str]
    texts: Mapping[str, str]
    open: Callable[[], LabelledTool]


def evidence_folders(named: Sequence[str]) -> list[Path]:
    """Return the folders of `named`, or below them, whose questions can be evaluated. Raises InvalidInput."""
    inside = [path for name in named for path in _inside(Path(name).expanduser())]
    found = [path for path in inside if _is_pool(path) or _is_talk(path)]
    if not found:
        raise InvalidInput(
            f"{', '.join(named)}: no questions with evidence",
            field="--data",
            remedy="Name a folder with questions.jsonl and either documents.jsonl or conversations.jsonl.",
        )
    return found


def need_store(folders: Sequence[Path]) -> bool:
    """Return whether any of `folders` holds conversations, which are searched as stored messages."""
    return any(_is_talk(folder) for folder in folders)


async def read_cases(folder: Path, encoder: Encoder | None, store: Store | None) -> list[EvidenceCase]:
    """Return the cases of a folder. `store` may be None unless `need_store`."""
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
            open=partial(LabelledTool, partial(_turns, partial(store.find, question.namespace))),
        )
        for question in dataset.questions
        if question.relevant
    ]


async def _turns(find: Callable[[SearchInput], Awaitable[SearchOutput]], query: str) -> list[Piece]:
    """Return the best turns of one conversation, searched as stored messages."""
    found = await find(SearchInput(queries=[query], limit=HITS_A_SEARCH))
    return [Piece(hit.message_id or hit.uid, hit.content, hit.score, hit.author_name) for hit in found.results]


async def _documents(ids: Sequence[str], texts: Sequence[str], pool: PoolSearch, query: str) -> list[Piece]:
    """Return the best documents of one question, searched in memory, each as a title line and its text."""
    return [Piece(ids[index], texts[index], score) for index, score in await pool.ranked(query, POOL_HITS)]


def _pool_cases(folder: Path, encoder: Encoder | None) -> Iterator[EvidenceCase]:
    documents = {row["doc_id"]: f"{row['title']}\n{row['text']}" for row in json_lines(folder / "documents.jsonl")}
    for row in json_lines(folder / "questions.jsonl"):
        texts = [documents[uid] for uid in row["candidates"]]
        yield EvidenceCase(
            dataset=row["dataset"],
            group=row["question_id"],
            question=row["question"],
            evidence=frozenset(row["evidence"]),
            texts={uid: documents[uid] for uid in row["evidence"]},
            open=partial(LabelledTool, partial(_documents, row["candidates"], texts, PoolSearch(texts, encoder))),
        )


def _inside(folder: Path) -> list[Path]:
    return [folder, *sorted(child for child in folder.iterdir() if child.is_dir())] if folder.is_dir() else []


def _is_pool(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("questions.jsonl", "documents.jsonl"))


def _is_talk(folder: Path) -> bool:
    return all((folder / name).is_file() for name in ("questions.jsonl", "conversations.jsonl"))


@dataclass(frozen=True, slots=True)
class LabelledModel:
    """Plans the question itself, judges each of `texts` as needed, and as found once it is shown, and refines with the
    first line of a text not shown yet.
    """

    question: str
    texts: Sequence[str]

    @property
    def name(self) -> str:
        """The name of the script, in place of a model."""
        return "script"

    async def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
        """Reply in the format that the prompt asks for."""
        prompt = messages[-1].content
        shown = [(int(index), html.unescape(text)) for index, text in _CANDIDATE.findall(prompt)]
        if schema is not None and "needs" in schema["properties"]:
            return json.dumps({"needs": [{"item": 1, "evidence": _evidence(text, shown)} for text in self.texts]})
        if not _ASKED.search(prompt):
            return json.dumps({"queries": [self.question]})
        hidden = [text for text in self.texts if not any(text.startswith(given) for _, given in shown)]
        return json.dumps({"queries": [text.partition("\n")[0] for text in hidden]})

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """Yield the whole reply at once."""
        yield await self.complete(messages)


def _evidence(text: str, shown: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    return [
        {"temp_index": index, "quote": given[:_QUOTE_CHARS]}
        for index, given in shown
        if given and text.startswith(given)
    ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The set that one system selected for one question, compared with the labelled one, and its cost."""

    dataset: str
    precision: float
    recall: float
    f1: float
    set_ratio: float
    searches: int
    step_ms: float | None = None

    @classmethod
    def of(cls, case: EvidenceCase, selected: Sequence[str], searches: int, step_ms: float | None = None) -> "Outcome":
        """Return precision, recall and F1 of the set `selected`."""
        right = len(case.evidence.intersection(selected))
        precision = right / len(selected) if selected else 0.0
        recall = right / len(case.evidence)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        return cls(case.dataset, precision, recall, f1, len(selected) / len(case.evidence), searches, step_ms)


async def evaluate_with_graph(
    librarian: Librarian, folders: Sequence[Path], *, on_progress: OnProgress | None = None
) -> EvidenceEvalReport:
    """Return the scores on labelled data; the lab stores conversations. Raises InvalidInput."""
    async with _model(librarian.settings) as model:
        return await _evaluate(
            folders,
            store=Store(librarian.search, partial(Lab(librarian).load, on_progress=on_progress)),
            encoder=librarian.parts.encoder,
            heuristic=reasoner_of("heuristic", None, SemanticSimilarity(librarian.lifecycle)),
            model=model,
            on_progress=on_progress,
        )


async def evaluate_pools(
    settings: Settings,
    folders: Sequence[Path],
    *,
    progress: Progress | None = None,
    on_progress: OnProgress | None = None,
) -> EvidenceEvalReport:
    """Return the scores on folders that need no store, with the configured encoder and without a graph."""
    async with open_encoder(settings, progress=progress) as encoder, _model(settings) as model:
        similarity = None
        if encoder is not None:
            similarity = EncoderSimilarity(encoder, covered_languages(await encode_probes(encoder)))
        return await _evaluate(
            folders,
            store=None,
            encoder=encoder,
            heuristic=reasoner_of("heuristic", None, similarity),
            model=model,
            on_progress=on_progress,
        )


@asynccontextmanager
async def _model(settings: Settings) -> AsyncIterator[ChatModel | None]:
    model = chat_model(settings.llm)
    try:
        yield model
    finally:
        if model is not None:
            await model.aclose()


async def _evaluate(
    folders: Sequence[Path],
    *,
    store: Store | None,
    encoder: Encoder | None,
    heuristic: Reasoner,
    model: ChatModel | None,
    on_progress: OnProgress | None = None,
) -> EvidenceEvalReport:
    """Run plain searches and both agents on every question; `store` is None if no folder needs one."""
    cases = [case for folder in folders for case in await read_cases(folder, encoder, store)]
    outcomes: defaultdict[str, list[Outcome]] = defaultdict(list)
    for number, case in enumerate(cases, start=1):
        for first, outcome in (await _plain(case)).items():
            outcomes[f"single_search_first_{first}"].append(outcome)
        outcomes[AGENT].append(await ask(case, heuristic))
        judge = model or LabelledModel(case.question, tuple(case.texts.values()))
        outcomes[LLM_AGENT].append(await ask(case, LlmReasoner(judge, heuristic)))
        if on_progress:
            on_progress(number, len(cases))
    return report(outcomes, [*_seen(), *([] if model else [_SCRIPTED])])


def _seen() -> list[str]:
    """Return a note for each data set used to fit the agent's weights."""
    return [
        f"{AGENT}: its weights were fitted on {data}; on unseen questions of it, F1 is {found['f1']:.3f}"
        for data, found in measurements().items()
    ]


async def ask(case: EvidenceCase, reasoner: Reasoner) -> Outcome:
    """Return the outcome of the agent for a question that is its own target item."""
    tool = case.open()
    task = EvidenceTask(case.question, (case.question,), MAX_RETRIES)
    started = time.perf_counter()
    result = await SearchAgent(reasoner, Limits(), time).run(task, tool)
    own_ms = (time.perf_counter() - started - tool.seconds) * 1_000
    steps = 2 + 2 * sum(1 for _ in result.trace.named("evaluation")) + len(result.trace.named("refine"))
    selected = [tool.id_of(evidence.temp_index) for evidence in result.selected_evidence]
    return Outcome.of(case, selected, result.searches_used, own_ms / steps)


def report(outcomes: Mapping[str, Sequence[Outcome]], notes: Sequence[str] = ()) -> EvidenceEvalReport:
    """Return the means of each system, with those of the heuristic agent repeated at the top level."""
    systems = {name: _system(own) for name, own in outcomes.items()}
    top = systems[AGENT]
    fields = {name: getattr(top, name) for name in top.__struct_fields__}
    return EvidenceEvalReport(**fields, systems=systems, notes=list(notes))


async def _plain(case: EvidenceCase) -> dict[int, Outcome]:
    """Return the outcomes of plain searches, by the number of hits they keep."""
    tool = case.open()
    found = [tool.id_of(candidate.temp_index) for candidate in await tool.search(case.question)]
    return {first: Outcome.of(case, found[:first], 1) for first in _FIRST}


def _system(outcomes: Sequence[Outcome]) -> EvidenceSystem:
    by_dataset: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_dataset[outcome.dataset].append(outcome)
    steps = [outcome.step_ms for outcome in outcomes if outcome.step_ms is not None]
    return EvidenceSystem(
        **msgspec.structs.asdict(_scores(outcomes)),
        datasets={name: _scores(own) for name, own in by_dataset.items()},
        mean_step_ms=round(sum(steps) / len(steps), 2) if steps else None,
    )


def _scores(outcomes: Sequence[Outcome]) -> EvidenceScores:
    def mean(of: Callable[[Outcome], float]) -> float:
        return round(sum(of(outcome) for outcome in outcomes) / len(outcomes), 4)

    return EvidenceScores(
        questions=len(outcomes),
        precision=mean(lambda outcome: outcome.precision),
        recall=mean(lambda outcome: outcome.recall),
        f1=mean(lambda outcome: outcome.f1),
        mean_set_ratio=mean(lambda outcome: outcome.set_ratio),
        mean_searches=mean(lambda outcome: outcome.searches),
    )
