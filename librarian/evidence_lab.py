"""Evaluations of the search agent: over conversations in the graph of one Librarian, or over documents alone."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from agents.ports import ChatModel
from graph.local.artifacts import Progress
from librarian.contracts.evaluation_evidence import EvidenceEvalReport
from librarian.lab import Lab
from librarian.language_model import chat_model
from librarian.reasoning import Meaning, reasoner_of
from librarian.service import Counted, Librarian
from librarian.settings import Settings
from librarian.usecases.evaluate_evidence import evaluate_evidence
from librarian.usecases.evidence_cases import Store
from librarian.wiring import open_encoder
from retrieval.encoders.language_probe import covered_languages, encode_probes
from retrieval.evidence import EncoderSimilarity


async def evaluate(
    librarian: Librarian, folders: Sequence[Path], *, on_progress: Counted | None = None
) -> EvidenceEvalReport:
    """Scores of evidence sets on labelled data, which is stored as the lab stores it. Raises InvalidInput."""
    async with _model(librarian.settings) as model:
        return await evaluate_evidence(
            folders,
            store=Store(librarian.search, partial(Lab(librarian).load, on_progress=on_progress)),
            encoder=librarian.parts.encoder,
            heuristic=reasoner_of("heuristic", None, Meaning(librarian.lifecycle)),
            model=model,
            on_progress=on_progress,
        )


async def evaluate_pools(
    settings: Settings,
    folders: Sequence[Path],
    *,
    progress: Progress | None = None,
    on_progress: Counted | None = None,
) -> EvidenceEvalReport:
    """The same for folders that need no store: with the encoder of the settings, without a graph."""
    async with open_encoder(settings, progress=progress) as encoder, _model(settings) as model:
        similarity = None
        if encoder is not None:
            similarity = EncoderSimilarity(encoder, covered_languages(await encode_probes(encoder)))
        return await evaluate_evidence(
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
