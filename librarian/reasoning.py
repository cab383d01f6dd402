"""Who reasons in the search agent, and what it is lent: plain functions, since agents know nothing of retrieval."""

import logging
from collections.abc import Sequence

from agents.ports import ChatModel, Reasoner, Similarity
from agents.reasoners.heuristic import HeuristicReasoner
from agents.reasoners.llm import LlmReasoner
from agents.reasoners.scoring import Scoring
from librarian.errors import SettingsError
from librarian.lifecycle import Lifecycle, Reading
from librarian.setting_values import ReasonerChoice
from retrieval.answerness import is_question
from retrieval.encoders.errors import EncoderError
from retrieval.evidence import EncoderSimilarity, terms

log = logging.getLogger("librarian.search_agent")


class Meaning:
    """How near texts are in meaning, by the encoder that is loaded when it is asked; unknown while there is none."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._read: tuple[Reading, EncoderSimilarity] | None = None

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """A row a query, a column a text, each 0..1; None where the encoder cannot say."""
        reading = self._lifecycle.reading
        if reading is None:
            return None
        # Kept, since it measures on first use what is noise to the encoder.
        if self._read is None or self._read[0] is not reading:
            self._read = reading, EncoderSimilarity(reading.encoder, reading.languages)
        try:
            return await self._read[1](queries, texts)
        except EncoderError as error:
            log.warning("evidence is weighed by words alone: %s", error)
            return None


def reasoner_of(choice: ReasonerChoice, model: ChatModel | None, similarity: Similarity | None) -> Reasoner:
    """The chosen reasoner; "auto" is the language model where there is one. Raises SettingsError."""
    if choice == "llm" and model is None:
        raise SettingsError('LIBRARIAN_AGENT_REASONER is "llm", but LLM_BASE_URL names no language model.')
    heuristic = HeuristicReasoner(Scoring(terms, is_question, similarity))
    return heuristic if model is None or choice == "heuristic" else LlmReasoner(model, heuristic)
