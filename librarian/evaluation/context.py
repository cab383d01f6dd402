"""Measures how much of the evidence for labelled questions their context packs contain."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from graph.search import hydrate
from librarian.app import Librarian
from librarian.evaluation.contracts import ContextEvalReport, ContextScores
from librarian.evaluation.data import Dataset, Question
from librarian.evaluation.measures import OnProgress, mean
from librarian.search.contracts import ContextInput, ContextOutput


@dataclass(frozen=True, slots=True)
class _Pack:
    """The pack of a question, and the share (0..1) of its evidence that the pack contains."""

    question: Question
    pack: ContextOutput
    held: float


async def evaluate_contexts(
    librarian: Librarian, datasets: Sequence[Dataset], *, max_tokens: int, on_progress: OnProgress | None = None
) -> ContextEvalReport:
    """Get the context pack of each question of stored data sets, and score it."""
    all_there_are = sum(len(dataset.questions) for dataset in datasets)
    done: Counter[str] = Counter()
    scores = {}
    for dataset in datasets:
        packs = []
        for question in dataset.questions:
            packs.append(await _pack(librarian, dataset, question, max_tokens))
            done["packs"] += 1
            if on_progress is not None:
                on_progress(done["packs"], all_there_are)
        scores[dataset.name] = _scores(packs)
    return ContextEvalReport(max_tokens=max_tokens, datasets=scores)


async def _pack(librarian: Librarian, dataset: Dataset, question: Question, max_tokens: int) -> _Pack:
    asked = ContextInput(query=question.text[:100_000], max_tokens=max_tokens)
    pack = await librarian.context(question.namespace, asked)
    items = await hydrate(librarian.parts.executor, question.namespace, [item.uid for item in pack.items])
    held = {str(getattr(item, dataset.id_field, None)) for item in items} & question.relevant
    return _Pack(question, pack, len(held) / max(1, len(question.relevant)))


def _scores(packs: Sequence[_Pack]) -> ContextScores:
    answerable = [pack for pack in packs if pack.question.relevant]
    others = [pack for pack in packs if not pack.question.relevant]
    by_category: defaultdict[str, list[float]] = defaultdict(list)
    for pack in answerable:
        by_category[pack.question.category].append(pack.held)
    return ContextScores(
        questions=len(answerable),
        held=mean([pack.held for pack in answerable]),
        whole=mean([pack.held == 1.0 for pack in answerable]),
        by_category={category: mean(held) for category, held in sorted(by_category.items())},
        mean_tokens=mean([pack.pack.tokens for pack in packs]),
        most_tokens=max(pack.pack.tokens for pack in packs),
        supported=mean([pack.pack.supported for pack in answerable]),
        unanswerable=len(others),
        unanswerable_supported=mean([pack.pack.supported for pack in others]),
    )
