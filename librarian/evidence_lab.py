"""Evaluations of the search agent over the graph of one Librarian, with its encoder and its language model."""

from collections.abc import Sequence
from functools import partial

from librarian.contracts.evaluation_evidence import EvidenceEvalReport
from librarian.lab import Lab
from librarian.language_model import chat_model
from librarian.reasoning import Meaning, reasoner_of
from librarian.service import Counted, Librarian
from librarian.usecases.evaluate_evidence import evaluate_evidence


async def evaluate(
    librarian: Librarian, data: Sequence[str], *, on_progress: Counted | None = None
) -> EvidenceEvalReport:
    """Scores of evidence sets on labelled data, which is stored as the lab stores it. Raises InvalidInput."""
    model = chat_model(librarian.settings.llm)
    try:
        return await evaluate_evidence(
            data,
            find=librarian.search,
            load=partial(Lab(librarian).load, on_progress=on_progress),
            encoder=librarian.parts.encoder,
            heuristic=reasoner_of("heuristic", None, Meaning(librarian.lifecycle)),
            model=model,
            on_progress=on_progress,
        )
    finally:
        if model is not None:
            await model.aclose()
