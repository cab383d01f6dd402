"""The sweeps of the facade."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import aclosing

from agents.label import LabelModel
from librarian.audit import audit
from librarian.contracts.sweeps import (
    SweepList,
    SweepProgress,
    SweepQuery,
    SweepReport,
    SweepRequest,
    SweepUndoOutput,
)
from librarian.lifecycle import Parts
from librarian.settings import Settings
from librarian.usecases.sweep_llm import Llm
from librarian.usecases.sweep_plan import Ground
from librarian.usecases.sweep_reports import collected, get_sweep, list_sweeps
from librarian.usecases.sweep_run import SweepEvents, sweep
from librarian.usecases.sweep_undo import UndoEvents, undo

OnSweepProgress = Callable[[SweepProgress], None]


class Sweeps(ABC):
    """What `librarian.service.Librarian` cleans and connects."""

    settings: Settings
    label_model: LabelModel | None

    @property
    @abstractmethod
    def parts(self) -> Parts:
        """What this Librarian works with. Raises NotReady."""

    @abstractmethod
    def wake(self) -> None:
        """Let the worker encode texts that have changed."""

    async def sweep(
        self, namespace: str, request: SweepRequest, on_progress: OnSweepProgress | None = None
    ) -> SweepReport:
        """Sweep `namespace`, or say what a sweep would change; the report holds the first 1,000 changes.

        Raises InvalidInput, NotFound, Conflict, LeaseHeld while another sweep works there.
        """
        return await collected(self.sweep_events(namespace, request), on_progress)

    async def sweep_events(self, namespace: str, request: SweepRequest) -> SweepEvents:
        """The same part by part, each with all of its changes, which are committed then. With a language model, what it
        will be asked comes first; last comes the report, without changes. Raises ChatModelError too.
        """
        parts, model = self.parts, self.label_model
        llm = None if model is None else Llm(model, self.settings.llm.sweep_calls)
        async with aclosing(sweep(Ground(parts.executor, namespace, parts.space, llm), request)) as events:
            async for event in events:
                if isinstance(event, SweepReport) and not event.dry_run:
                    audit("sweep", namespace, sweep_id=event.sweep_id, changes=event.summary.memories_templated)
                    self.wake()
                yield event

    async def list_sweeps(self, namespace: str, query: SweepQuery) -> SweepList:
        """One page of the sweeps of `namespace`, the newest first. Raises InvalidInput for another query's cursor."""
        return await list_sweeps(self.parts.executor, namespace, query)

    async def get_sweep(self, namespace: str, sweep_id: str, query: SweepQuery) -> SweepReport:
        """One sweep with a page of its changes. Raises NotFound, InvalidInput for another query's cursor."""
        return await get_sweep(self.parts.executor, namespace, sweep_id, query)

    async def undo_sweep(
        self, namespace: str, sweep_id: str, on_progress: OnSweepProgress | None = None
    ) -> SweepUndoOutput:
        """Take back what the sweep changed, except what was changed since. Raises NotFound, LeaseHeld."""
        out = SweepUndoOutput(sweep_id=sweep_id, status="undoing")
        async with aclosing(self.undo_events(namespace, sweep_id)) as events:
            async for event in events:
                if isinstance(event, SweepUndoOutput):
                    out = event
                elif on_progress:
                    on_progress(event)
        return out

    async def undo_events(self, namespace: str, sweep_id: str) -> UndoEvents:
        """The same page by page; last comes the outcome."""
        async with aclosing(undo(self.parts.executor, namespace, sweep_id)) as events:
            async for event in events:
                if isinstance(event, SweepUndoOutput):
                    audit("sweep.undo", namespace, sweep_id=sweep_id, restored=event.memories_restored)
                    self.wake()
                yield event
