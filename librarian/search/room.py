"""Searches of one graph, and answers from their hits."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import TypeVar

from graph.types import Kind
from librarian.base.settings.settings import Settings
from librarian.base.strictjson import convert
from librarian.runtime.lifecycle import Lifecycle
from librarian.search import answer as answering
from librarian.search import search as searching
from librarian.search.context import context_pack
from librarian.search.contracts import (
    DEFAULT_MAX_HITS,
    MAX_HITS,
    AnswerEvent,
    AnswerInput,
    AnswerOutput,
    ContextInput,
    ContextOutput,
    FactSearchOutput,
    MemoryHit,
    MemorySearchOutput,
    MessageSearchOutput,
    MixedSearchOutput,
    RelevantInput,
    RelevantOutput,
    SearchInput,
    SearchOutput,
    SemanticSearchInput,
    SemanticSearchOutput,
    WhyNotInput,
    WhyNotOutput,
)
from librarian.search.definitions import definition_hits
from librarian.search.relevant import get_relevant_memory
from librarian.search.semantic import semantic_search
from librarian.search.several import search_several
from librarian.search.why_not import why_not

Out = TypeVar("Out", bound=SemanticSearchOutput)


class SearchRoom:
    """Finds items of one namespace: hybrid candidates, fused, judged, cut, explained. A broken arm is reported in
    `arms`, not raised.

    The room itself is its main verb: `await search(namespace, query)`.
    """

    def __init__(self, lifecycle: Lifecycle, settings: Settings, chat: answering.Chat | None) -> None:
        self._lifecycle = lifecycle
        self._settings = settings.search
        self._log_queries = settings.log.queries
        self._chat = chat

    async def __call__(self, namespace: str, query: SearchInput) -> SearchOutput:
        """Hits of `namespace`, or of those that `query` names, best first. Raises InvalidInput."""
        if query.namespaces is not None:
            return await search_several(self, namespace, query)
        parts = self._lifecycle.parts
        return await searching.search(parts.pipeline, parts.reranking, namespace, query, self._settings)

    async def semantic_search_facts(self, namespace: str, query: SemanticSearchInput) -> FactSearchOutput:
        """Facts of `namespace` that are similar to `query`, with their evidence, best first. Raises InvalidInput."""
        return await self._similar("semantic_search_facts", namespace, query, [Kind.FACT], FactSearchOutput)

    async def semantic_search_messages(self, namespace: str, query: SemanticSearchInput) -> MessageSearchOutput:
        """Messages of `namespace` that are similar to `query`, best first. Raises InvalidInput."""
        return await self._similar("semantic_search_messages", namespace, query, [Kind.MESSAGE], MessageSearchOutput)

    async def semantic_search_memories(self, namespace: str, query: SemanticSearchInput) -> MemorySearchOutput:
        """Memories of `namespace` that are similar to `query`, best first. Raises InvalidInput."""
        return await self._similar("semantic_search_memories", namespace, query, [Kind.MEMORY], MemorySearchOutput)

    async def search_all(self, namespace: str, query: SemanticSearchInput) -> MixedSearchOutput:
        """Items of any kind in `namespace` that are similar to `query`, best first. Raises InvalidInput."""
        return await self._similar("search_all", namespace, query, tuple(Kind), MixedSearchOutput)

    async def _similar(
        self, tool: searching.Tool, namespace: str, query: SemanticSearchInput, kinds: Sequence[Kind], output: type[Out]
    ) -> Out:
        parts = self._lifecycle.parts
        return await semantic_search(
            parts.pipeline, parts.reranking, namespace, query, self._settings, tool=tool, kinds=kinds, output=output
        )

    async def why_not(self, namespace: str, asked: WhyNotInput) -> WhyNotOutput:
        """What became of one item in a search of `namespace`. Raises NotFound."""
        parts = self._lifecycle.parts
        return await why_not(parts.executor, parts.pipeline, parts.reranking, namespace, asked, self._settings)

    async def get_relevant_memory(
        self, project_id: str, query: str, max_hits: int = DEFAULT_MAX_HITS, *, answer_over_question: bool = True
    ) -> list[MemoryHit]:
        """What of the namespace `project_id` helps to answer `query`: messages, memories and facts, best first.

        Raises InvalidInput for a query or number out of range.
        """
        given = {"query": query, "max_hits": max_hits, "answer_over_question": answer_over_question}
        return (await self.relevant_memory(project_id, convert(given, RelevantInput))).hits

    async def relevant_memory(self, namespace: str, wanted: RelevantInput) -> RelevantOutput:
        """What of `namespace` helps to answer a question, with what each arm of the search did."""
        parts = self._lifecycle.parts
        return await get_relevant_memory(
            parts.pipeline, parts.reranking, namespace, wanted, self._settings, log_queries=self._log_queries
        )

    async def context(self, namespace: str, asked: ContextInput) -> ContextOutput:
        """What of `namespace` a language model should be given about a question, within a budget of tokens."""
        found = await self.relevant_memory(
            namespace,
            RelevantInput(
                query=asked.query, max_hits=MAX_HITS, now=asked.now, as_of=asked.as_of, known_at=asked.known_at
            ),
        )
        return await context_pack(self._lifecycle.parts.executor, found, asked)

    async def answer(self, namespace: str, question: AnswerInput) -> AnswerOutput:
        """An answer with checked citations out of what `namespace` holds; an extract where no language model can."""
        return await self.answer_from(await self.evidence(namespace, question))

    async def evidence(self, namespace: str, question: AnswerInput) -> RelevantOutput:
        """What an answer to `question` would be made of."""
        wanted = {name: getattr(question, name) for name in RelevantInput.__struct_fields__}
        found, defined = await asyncio.gather(
            self.relevant_memory(namespace, RelevantInput(**wanted)),
            definition_hits(self._lifecycle.parts.executor, namespace, question.query),
        )
        found.hits = [*defined, *found.hits]
        return found

    async def answer_from(self, found: RelevantOutput) -> AnswerOutput:
        """The answer out of `found`, to the question that it was found for."""
        return await answering.answer(found, self._chat)

    def answer_events(self, found: RelevantOutput) -> AsyncGenerator[AnswerEvent, None]:
        """The answer out of `found` as it comes: the hits, pieces of text, and last the whole answer."""
        return answering.answer_events(found, self._chat, streamed=True)
