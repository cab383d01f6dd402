"""Sweeps of one graph: running, listing and undoing them; and reviews of their proposals."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress

import structlog
from msgspec.structs import asdict, replace

from librarian.base.audit import actor, audit
from librarian.base.problems import caught
from librarian.base.settings.values import ProposeFacts
from librarian.items.room import SAMPLE_NAMESPACE
from librarian.items.succession import Declared
from librarian.runtime.lifecycle import Lifecycle
from librarian.sweep import reasons, reviews, sample
from librarian.sweep.contracts import (
    ReasonList,
    ReviewInput,
    ReviewList,
    ReviewManyInput,
    ReviewManyOutput,
    ReviewOutput,
    ReviewQuery,
    SweepList,
    SweepProgress,
    SweepQuery,
    SweepReport,
    SweepRequest,
    SweepScope,
    SweepUndoOutput,
)
from librarian.sweep.llm import Llm
from librarian.sweep.plan import SweepContext
from librarian.sweep.reading import Reader
from librarian.sweep.reports import get_sweep, list_sweeps, shortened
from librarian.sweep.retention import NO_RETENTION, Retention
from librarian.sweep.reviews import Label, labels
from librarian.sweep.run import SweepEvents, collected, sweep
from librarian.sweep.undo import UndoEvents, undo

OnSweepProgress = Callable[[SweepProgress], None]

_SAMPLE_TEAM = "sample"
"""Team that sweeps the sample and decides about it, in its history."""
_READER = "ingest"
"""Name of the reader of incoming messages."""
_READER_POLL_S = 2.0
_READER_REST_S = 5.0

log = structlog.get_logger("librarian.sweep")


class SweepsRoom:
    """Cleans and connects the memories of a namespace, lets items expire, and undoes sweeps.

    `wake` is called when texts have changed; `llm` is used by sweeps that request a language model; `declared` lists
    the single-valued predicates, `retention` sets expiry, `propose_facts` sets the handling of facts in incoming
    messages.
    """

    def __init__(
        self,
        lifecycle: Lifecycle,
        llm: Llm | None,
        wake: Callable[[], None],
        declared: Declared,
        retention: Retention = NO_RETENTION,
        propose_facts: ProposeFacts = "off",
    ) -> None:
        self._propose_facts = propose_facts
        self._new_messages = asyncio.Event()
        self._declared = declared
        self._lifecycle = lifecycle
        self._llm = llm
        self._wake = wake
        self._retention = retention

    async def work(self) -> None:
        """Read incoming messages for facts until cancelled. Errors are logged and retried."""
        actor.set(_READER)
        self._new_messages = asyncio.Event()  # of the running loop
        while self._propose_facts != "off":
            self._new_messages.clear()
            error = await caught(self.propose_pending())
            if error is not None:
                log.warning("messages wait to be read for facts", reason=str(error))
                await asyncio.sleep(_READER_REST_S)
                continue
            with suppress(TimeoutError):  # another process may have added messages
                async with asyncio.timeout(_READER_POLL_S):
                    await self._new_messages.wait()

    def wake(self) -> None:
        """Let the worker read incoming messages."""
        self._new_messages.set()

    async def propose_pending(self) -> None:
        """Read every unread message that arrived while LIBRARIAN_PROPOSE_FACTS was on."""
        if self._propose_facts == "off":
            return
        reader = Reader(self._lifecycle.parts.executor, self._declared, self._propose_facts)
        if await reader.read_pending():
            self._wake()

    async def sweep(
        self, namespace: str, request: SweepRequest, on_progress: OnSweepProgress | None = None
    ) -> SweepReport:
        """Sweep `namespace`, or say what a sweep would change; the report holds the first 1,000 changes.

        Raises InvalidInput, NotFound, Conflict, LeaseHeld while another sweep works there.
        """
        return await collected(self.sweep_events(namespace, request), on_progress)

    async def preview(
        self, namespace: str, scope: SweepScope, *, on_step: Callable[[str], None] | None = None
    ) -> SweepReport:
        """Return what a sweep would change, with its first changes; `on_step` hears how far it has come."""

        def report(progress: SweepProgress) -> None:
            if on_step is not None:
                on_step(f"{progress.stage}: {progress.done} of {progress.total}")

        request = SweepRequest(**asdict(scope), dry_run=True)
        return shortened(await self.sweep(namespace, request, report))

    async def sweep_events(self, namespace: str, request: SweepRequest) -> SweepEvents:
        """Sweep as `sweep` does and yield each part once it is committed, with all of its changes. With a language
        model, what it will be asked comes first; last comes the report, without changes. Raises ChatModelError too.
        """
        parts = self._lifecycle.parts
        if request.retention is None and not (request.plan or request.resume):
            request = replace(request, retention=list(self._retention.rules))
        context = SweepContext(parts.executor, namespace, parts.space, self._llm, self._retention, self._declared)
        async with aclosing(sweep(context, request)) as events:
            async for event in events:
                if isinstance(event, SweepReport) and not event.dry_run:
                    audit("sweep", namespace, sweep_id=event.sweep_id, changes=event.summary.memories_templated)
                    self._wake()
                yield event

    async def sweep_sample(self) -> bool:
        """Sweep namespace `sample` and decide about a part of what that proposes. Returns whether it swept: once only,
        and on from where it was interrupted. Raises LeaseHeld while another sweep works there.
        """
        last = next(iter((await self.list_sweeps(SAMPLE_NAMESPACE, SweepQuery(limit=1))).sweeps), None)
        if last is not None and last.actor != _SAMPLE_TEAM:
            return False
        due = last is None or last.status == "applying"
        acting = actor.set(_SAMPLE_TEAM)
        try:
            if due:
                await self.sweep(SAMPLE_NAMESPACE, SweepRequest(resume=None if last is None else last.sweep_id))
            await sample.decide(self._lifecycle.parts.executor, SAMPLE_NAMESPACE)
        finally:
            actor.reset(acting)
        self._wake()
        return due

    async def list_sweeps(self, namespace: str, query: SweepQuery) -> SweepList:
        """Return one page of the sweeps of `namespace`, the newest first. Raises InvalidInput for another query's
        cursor.
        """
        return await list_sweeps(self._lifecycle.parts.executor, namespace, query)

    async def get_sweep(self, namespace: str, sweep_id: str, query: SweepQuery) -> SweepReport:
        """Return one sweep with a page of its changes. Raises NotFound, InvalidInput for another query's cursor."""
        return await get_sweep(self._lifecycle.parts.executor, namespace, sweep_id, query)

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
        """Undo as `undo_sweep` does and yield each page; last comes the outcome."""
        async with aclosing(undo(self._lifecycle.parts.executor, namespace, sweep_id)) as events:
            async for event in events:
                if isinstance(event, SweepUndoOutput):
                    audit("sweep.undo", namespace, sweep_id=sweep_id, restored=event.memories_restored)
                    self._wake()
                yield event


class ReviewsRoom:
    """Lets a human decide on the edges, types, merges and facts that sweeps propose.

    `wake` is called when texts have changed; `declared` lists the single-valued predicates.
    """

    def __init__(self, lifecycle: Lifecycle, wake: Callable[[], None], declared: Declared) -> None:
        self._declared = declared
        self._lifecycle = lifecycle
        self._wake = wake

    async def list_reviews(self, namespace: str, query: ReviewQuery) -> ReviewList:
        """Return one page of what there is to review, or was reviewed. Raises InvalidInput for
        another query's cursor.
        """
        return await reviews.list_reviews(self._lifecycle.parts.executor, namespace, query)

    async def review(self, namespace: str, review_id: str, given: ReviewInput) -> ReviewOutput:
        """Accept or reject what is proposed; the same decision again changes nothing.

        Raises NotFound, InvalidInput, and Conflict where a human has decided otherwise before.
        """
        done = await reviews.review(self._lifecycle.parts.executor, namespace, review_id, given, self._declared)
        if done.decided:
            audit("review", namespace, review_id=review_id, sort=done.review.sort, state=done.review.state)
            self._wake()
        return done

    async def list_review_reasons(self, namespace: str) -> ReasonList:
        """Return the kinds of reasons for which something was proposed, with what became of it and what it teaches."""
        return await reasons.list_review_reasons(self._lifecycle.parts.executor, namespace)

    async def review_many(self, namespace: str, given: ReviewManyInput) -> ReviewManyOutput:
        """Decide alike about all that was proposed for one kind of reason; without `confirm_token` say which those are.

        Raises Conflict when they changed since the preview.
        """
        done = await reasons.review_many(self._lifecycle.parts.executor, namespace, given, self._declared)
        if done.decided:
            audit("review.many", namespace, verdict=given.verdict, decided=done.decided, refused=len(done.refused))
            self._wake()
        return done

    def review_labels(self, namespace: str) -> AsyncIterator[Label]:
        """Yield everything that was accepted or rejected, as labelled texts for training and measuring."""
        return labels(self._lifecycle.parts.executor, namespace)
