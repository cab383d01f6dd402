"""How well sets of evidence are selected: the search agent and plain searches, asked the same labelled questions."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from agents.limits import Limits
from agents.ports import ChatModel, Reasoner
from agents.reasoners.chain import measurements
from agents.reasoners.llm import LlmReasoner
from agents.search_agent import SearchAgent
from agents.types import Candidate, EvidenceTask
from librarian.contracts.evaluation_evidence import EvidenceEvalReport, EvidenceScores, EvidenceSystem
from librarian.usecases.evidence_cases import EvidenceCase, LabelledTool, Store, read_cases
from librarian.usecases.evidence_script import LabelledModel
from retrieval.encoders.base import Encoder

MAX_RETRIES = 5
AGENT = "heuristic_agent"
LLM_AGENT = "llm_agent"
# Plain searches take so many of the first hits.
_FIRST = (1, 2)
_SCRIPTED = (
    "llm_agent: no language model is set up; a script that knows the labels judges instead, which shows what the tool "
    "and the loop allow, not what a model reaches"
)

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, asked of one system: what it selected of what was labelled, and what that took."""

    dataset: str
    precision: float
    recall: float
    f1: float
    set_ratio: float
    searches: int
    step_ms: float | None = None

    @classmethod
    def of(cls, case: EvidenceCase, selected: Sequence[str], searches: int, step_ms: float | None = None) -> "Outcome":
        """Precision, recall and F1 of the set `selected`."""
        right = len(case.evidence.intersection(selected))
        precision = right / len(selected) if selected else 0.0
        recall = right / len(case.evidence)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        return cls(case.dataset, precision, recall, f1, len(selected) / len(case.evidence), searches, step_ms)


@dataclass(slots=True)
class Timed:
    """A tool that knows how many seconds it took."""

    tool: LabelledTool
    seconds: float = 0.0

    async def search(self, query: str) -> Sequence[Candidate]:
        """What the tool finds."""
        started = time.perf_counter()
        try:
            return await self.tool.search(query)
        finally:
            self.seconds += time.perf_counter() - started


async def evaluate_evidence(
    folders: Sequence[Path],
    *,
    store: Store | None,
    encoder: Encoder | None,
    heuristic: Reasoner,
    model: ChatModel | None,
    on_progress: OnProgress | None = None,
) -> EvidenceEvalReport:
    """Ask every question of plain searches and of both agents; `store` is None where no folder needs one."""
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
    """On which data the agent's weights may be too good."""
    return [
        f"{AGENT}: its weights were fitted on {data}; asked what they had not seen there, F1 is {found['f1']:.3f}"
        for data, found in measurements().items()
    ]


async def ask(case: EvidenceCase, reasoner: Reasoner) -> Outcome:
    """What the agent selects for a question that is its own target item."""
    tool = case.open()
    timed = Timed(tool)
    task = EvidenceTask(case.question, (case.question,), MAX_RETRIES)
    started = time.perf_counter()
    result = await SearchAgent(reasoner, Limits(), time).run(task, timed)
    own_ms = (time.perf_counter() - started - timed.seconds) * 1_000
    steps = 2 + 2 * sum(1 for _ in result.trace.named("evaluation")) + len(result.trace.named("refine"))
    selected = [tool.id_of(one.temp_index) for one in result.selected_evidence]
    return Outcome.of(case, selected, result.searches_used, own_ms / steps)


def report(outcomes: Mapping[str, Sequence[Outcome]], notes: Sequence[str] = ()) -> EvidenceEvalReport:
    """Means of each system; the heuristic agent's stand on top too."""
    systems = {name: _system(own) for name, own in outcomes.items()}
    top = systems[AGENT]
    fields = {name: getattr(top, name) for name in top.__struct_fields__}
    return EvidenceEvalReport(**fields, systems=systems, notes=list(notes))


async def _plain(case: EvidenceCase) -> dict[int, Outcome]:
    """The first hits of one search with the question."""
    tool = case.open()
    found = [tool.id_of(one.temp_index) for one in await tool.search(case.question)]
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
        return round(sum(of(one) for one in outcomes) / len(outcomes), 4)

    return EvidenceScores(
        questions=len(outcomes),
        precision=mean(lambda one: one.precision),
        recall=mean(lambda one: one.recall),
        f1=mean(lambda one: one.f1),
        mean_set_ratio=mean(lambda one: one.set_ratio),
        mean_searches=mean(lambda one: one.searches),
    )
