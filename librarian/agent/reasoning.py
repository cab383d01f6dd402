"""The reasoner of the search agent, with the functions injected into it, since agents do not depend on retrieval."""

import logging
from collections.abc import Sequence

from librarian.base.errors import SettingsError
from librarian.base.settings.values import ReasonerChoice
from librarian.runtime.lifecycle import Lifecycle, LoadedEncoder
from librarian_agents.chat.model import ChatModel
from librarian_agents.search.ports import Reasoner, Scoring, Similarity
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.llm import LlmReasoner
from retrieval.answerness import is_question
from retrieval.encoders.errors import EncoderError
from retrieval.evidence import EncoderSimilarity, answering, terms
from retrieval.words import in_the_other_language

log = logging.getLogger("librarian.search_agent")


class SemanticSimilarity:
    """Similarity of texts by the encoder loaded at the time of the call; unknown without one."""

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._lifecycle = lifecycle
        self._read: tuple[LoadedEncoder, EncoderSimilarity] | None = None

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Return a row per query with a column per text, each 0..1; None if the encoder cannot tell."""
        loaded = self._lifecycle.loaded_encoder
        if loaded is None:
            return None
        # Kept, since its first use measures the encoder's noise level.
        if self._read is None or self._read[0] is not loaded:
            self._read = loaded, EncoderSimilarity(loaded.encoder, loaded.languages)
        try:
            return await self._read[1](queries, texts)
        except EncoderError as error:
            log.warning("evidence is weighed by words alone: %s", error)
            return None


def reasoner_of(choice: ReasonerChoice, model: ChatModel | None, similarity: Similarity | None) -> Reasoner:
    """Return the chosen reasoner; "auto" is the language model where there is one. Raises SettingsError."""
    if choice == "llm" and model is None:
        raise SettingsError('LIBRARIAN_AGENT_REASONER is "llm", but LLM_BASE_URL names no language model.')
    heuristic = HeuristicReasoner(Scoring(terms, is_question, answering, similarity, in_the_other_language))
    return heuristic if model is None or choice == "heuristic" else LlmReasoner(model, heuristic)
