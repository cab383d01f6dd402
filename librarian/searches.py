"""The searches of the facade."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from graph.types import Kind
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.semantic import (
    FactSearchOutput,
    MemorySearchOutput,
    MessageSearchOutput,
    MixedSearchOutput,
    SemanticSearchInput,
    SemanticSearchOutput,
)
from librarian.lifecycle import Parts
from librarian.settings import Settings
from librarian.usecases import search as searching
from librarian.usecases.semantic_search import semantic_search

Out = TypeVar("Out", bound=SemanticSearchOutput)


class Searches(ABC):
    """What `librarian.service.Librarian` finds: a broken arm is reported in `arms`, not raised."""

    settings: Settings

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    async def search(self, namespace: str, query: SearchInput) -> SearchOutput:
        """Hits of `namespace`, best first. Raises InvalidInput."""
        parts = self.parts
        return await searching.search(parts.pipeline, parts.reranking, namespace, query, self.settings.search)

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
        parts, settings = self.parts, self.settings.search
        return await semantic_search(
            parts.pipeline, parts.reranking, namespace, query, settings, tool=tool, kinds=kinds, output=output
        )
