"""What `librarian.service.Librarian` answers about causes and effects."""

from abc import ABC, abstractmethod

from librarian.contracts.causal import (
    CausalInput,
    CausalOutput,
    ContradictionList,
    ContradictionQuery,
    CycleList,
    CycleQuery,
    NeighbourhoodQuery,
    PathOutput,
    PathQuery,
)
from librarian.lifecycle import Parts
from librarian.usecases import causal


class CausalVerbs(ABC):
    """What `librarian.service.Librarian` answers about causes and effects; rejected edges never count."""

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    async def causes_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """What led to an item, down to its root causes. Raises NotFound."""
        return await causal.causes_of(self.parts.executor, namespace, asked)

    async def effects_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """What an item leads to: its blast radius. Raises NotFound."""
        return await causal.effects_of(self.parts.executor, namespace, asked)

    async def blockers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """What blocks an item, and what blocks that. Raises NotFound."""
        return await causal.blockers_of(self.parts.executor, namespace, asked)

    async def enablers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """What enables an item, and what enables that. Raises NotFound."""
        return await causal.enablers_of(self.parts.executor, namespace, asked)

    async def neighbourhood(self, namespace: str, asked: NeighbourhoodQuery) -> CausalOutput:
        """What is around an item, whichever way edges point. Raises NotFound."""
        return await causal.neighbourhood(self.parts.executor, namespace, asked)

    async def path_between(self, namespace: str, asked: PathQuery) -> PathOutput:
        """The shortest path between two items. Raises NotFound, InvalidInput for one from an item to itself."""
        return await causal.path_between(self.parts.executor, namespace, asked)

    async def contradictions(self, namespace: str, asked: ContradictionQuery) -> ContradictionList:
        """Facts that name different objects for one time, and items that both cause and block another."""
        return await causal.contradictions(self.parts.executor, namespace, asked)

    async def cycles(self, namespace: str, asked: CycleQuery) -> CycleList:
        """Items that lead back to themselves."""
        return await causal.cycles(self.parts.executor, namespace, asked)
