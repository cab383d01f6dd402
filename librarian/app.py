"""`Librarian`: one agent memory, composed of one object per room; opens, connects and closes it."""

import asyncio
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any, Self, get_type_hints

from graph.local.artifacts import Progress
from graph.local.errors import LocalServerError
from librarian.agent.professor import Professor
from librarian.agent.room import AgentRoom
from librarian.base.errors import SettingsError
from librarian.base.logs import configure_embedded
from librarian.base.problems import caught
from librarian.base.settings.settings import Settings
from librarian.causal.room import CausalRoom
from librarian.embeddings.room import EmbeddingsRoom
from librarian.files.room import FilesRoom
from librarian.items.capture.delivery import Delivery
from librarian.items.room import ItemsRoom
from librarian.items.succession import Declared
from librarian.operations import LOCAL, OPERATIONS, Call, Rooms
from librarian.runtime.assembly import ONE_OFF_LINGER_S, Assembly
from librarian.runtime.contracts import Readiness
from librarian.runtime.language_model import chat_model
from librarian.runtime.lifecycle import Lifecycle, Parts
from librarian.runtime.managed import Leased
from librarian.runtime.supervisor import Supervisor, cancel
from librarian.search.answer import Chat
from librarian.search.room import SearchRoom
from librarian.sweep.llm import Llm
from librarian.sweep.retention import Retention, rules_of
from librarian.sweep.room import ReviewsRoom, SweepsRoom
from librarian.transfer.feed.room import FeedRoom
from librarian.transfer.feed.webhooks import WebhooksRoom
from librarian.transfer.retention import overdue
from librarian.transfer.room import TransferRoom
from librarian_agents.search import loop
from retrieval.encoders.errors import EncoderError
from retrieval.encoders.language_probe import covered_languages, encode_probes

if TYPE_CHECKING:
    from librarian.client.signatures import FacadeVerbs
else:
    FacadeVerbs = object

log = logging.getLogger("librarian.app")

_FIRST_REQUESTS_S = 1.0

BeforeReady = Callable[["Librarian"], Awaitable[None]]


class Librarian(Rooms, FacadeVerbs):
    """One agent memory in this process: `async with Librarian() as librarian: …`.

    `settings` default to those of the environment. Entering starts the managed server if it is down, or connects to
    the configured one, and raises any obstacle; until then methods raise NotReady. New items are encoded in the
    background while it is open; await `embed_pending()` to finish the pending ones. It logs to the standard library's
    loggers `librarian.*` and prints nothing. It may be reopened after it was closed. All methods are safe for
    concurrent tasks; once a defect has ended the background work, they raise that defect.

    Each room's methods are methods of the Librarian too: `librarian.causes_of(…)` is `librarian.causal.causes_of(…)`.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings = Settings.from_env() if settings is None else settings
        self.lifecycle = lifecycle = Lifecycle()
        llm, config = settings.llm, settings.agent.professor
        self._model = model = chat_model(llm)
        self._professor = professor = None if config is None else Professor(config)
        self._stack = AsyncExitStack()
        retention = Retention(rules_of(settings.retention), timedelta(days=settings.purge_after_days))

        self.embeddings = EmbeddingsRoom(lifecycle)
        wake = self._wake
        self.search = SearchRoom(lifecycle, settings, Chat(model, llm.context_chars, llm.timeout_s) if model else None)
        declared = Declared(settings.single_valued, settings.multi_valued)
        read = settings.propose_facts != "off"
        self.items = ItemsRoom(lifecycle, settings.max_text_chars, wake, declared, read_for_facts=read)
        self.capture = Delivery(settings.home, self.items.ingest)
        self.files = FilesRoom(lifecycle, settings.files, wake)
        self.causal = CausalRoom(lifecycle)
        adviser = Llm(model, llm.sweep_calls) if model else None
        self.sweeps = SweepsRoom(lifecycle, adviser, self.embeddings.wake, declared, retention, settings.propose_facts)
        self.reviews = ReviewsRoom(lifecycle, wake, declared)
        self.agent = AgentRoom(lifecycle, settings, self.search, professor, model)
        self.transfer = TransferRoom(lifecycle, settings.backup, wake)
        self.feed = FeedRoom(lifecycle)
        self.webhooks = WebhooksRoom(lifecycle, settings.webhooks)

    def _wake(self) -> None:
        """Wake the workers for changed texts."""
        self.embeddings.wake()
        self.sweeps.wake()

    @property
    def parts(self) -> Parts:
        """The parts of this Librarian. Raises NotReady with the reason, or a defect of the background work."""
        return self.lifecycle.parts

    async def ready(self) -> None:
        """Wait until the graph is available, however long that takes. Raises a defect that makes it impossible."""
        await self.lifecycle.ready()

    async def readiness(self) -> Readiness:
        """Return whether requests can be served now, with each check's result; never raises."""
        readiness = await self.lifecycle.readiness()
        if self.settings.backup.every_s:
            readiness.checks["backup"] = await asyncio.to_thread(overdue, self.settings.backup) or "ok"
        if paused := self.webhooks.paused:
            readiness.checks["webhooks"] = f"{paused} paused; `librarian doctor` names them"
        return readiness

    async def aclose(self) -> None:
        """Close the connections to the language model and the Professor after the parts are closed."""
        for client in (self._model, self._professor):
            if client is not None:
                await client.aclose()
        self.lifecycle.closed()

    async def __aenter__(self) -> Self:
        configure_embedded(self.settings.log)
        async with AsyncExitStack() as opening:
            await opening.enter_async_context(_opened(self, purpose="python"))
            for work in (self.embeddings.work(), self.sweeps.work()):
                opening.push_async_callback(cancel, asyncio.create_task(work))
            self._stack = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)


def _delegated(call: Call) -> Callable[..., Any]:
    """Return the method of a room as a method of the Librarian, with its signature and docstring."""
    described = call(_ROOMS)

    @functools.wraps(described.__call__ if isinstance(described, type) else described)
    def verb(self: Librarian, *args: Any, **options: Any) -> Any:
        return call(self)(*args, **options)

    return verb


_ROOMS: Any = SimpleNamespace(**get_type_hints(Rooms, globals()))
for _name, _call in {**{operation.name: operation.call for operation in OPERATIONS}, **LOCAL}.items():
    setattr(Librarian, _name, _delegated(_call))


@asynccontextmanager
async def _opened(
    librarian: Librarian,
    *,
    purpose: str,
    linger_s: float = ONE_OFF_LINGER_S,
    wait: bool = True,
    progress: Progress | None = None,
    before_ready: BeforeReady | None = None,
    leasing: asyncio.Task[Leased] | None = None,
) -> AsyncIterator[None]:
    """Give `librarian` its parts for the block."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(librarian.aclose)
        parts = await stack.enter_async_context(AsyncExitStack())
        assembly = Assembly(librarian.settings, librarian.lifecycle, parts, purpose, linger_s, progress, leasing)
        if wait:
            librarian.lifecycle.connected(await assembly.build())
        else:
            supervisor = Supervisor(
                assembly,
                work=librarian.embeddings.work,
                schedule=librarian.transfer.back_up_on_schedule,
                before_ready=None if before_ready is None else functools.partial(before_ready, librarian),
            )
            background = asyncio.create_task(supervisor.run())
            background.add_done_callback(functools.partial(_report_failure, librarian.lifecycle))
            stack.push_async_callback(cancel, background)
            for work in (librarian.capture.work, librarian.sweeps.work, librarian.webhooks.send_changes):
                stack.push_async_callback(cancel, asyncio.create_task(_once_ready(librarian, work)))
        yield


async def _once_ready(librarian: Librarian, work: Callable[[], Awaitable[None]]) -> None:
    """Work to do once the graph is available for the first time, such as storing what hooks captured.

    It starts a little later: until then the server, which plans every statement anew, has time for the first requests.
    """
    if await caught(librarian.ready()) is None:
        await asyncio.sleep(_FIRST_REQUESTS_S)
        await work()


@asynccontextmanager
async def open_librarian(
    settings: Settings,
    *,
    purpose: str,
    linger_s: float = ONE_OFF_LINGER_S,
    wait: bool = True,
    progress: Progress | None = None,
    before_ready: BeforeReady | None = None,
    leasing: asyncio.Task[Leased] | None = None,
) -> AsyncIterator[Librarian]:
    """One Librarian for `settings`, closed on leaving.

    With `wait` it is usable when this yields, and any obstacle is raised. Without (the service) it connects in the
    background, retries until that succeeds, follows a database that moves, and encodes pending items as they arrive;
    `before_ready` runs on the graph before it reports ready. `leasing` is the result of `managed.head_start`.
    """
    librarian = Librarian(settings)
    async with _opened(
        librarian,
        purpose=purpose,
        linger_s=linger_s,
        wait=wait,
        progress=progress,
        before_ready=before_ready,
        leasing=leasing,
    ):
        yield librarian


@asynccontextmanager
async def open_agent(settings: Settings, *, progress: Progress | None = None) -> AsyncIterator[Librarian]:
    """The search agent alone, over the Professor's documents; available at once, without a graph.

    An encoder is loaded in the background if LIBRARIAN_ENCODER names one; until then only words count. Raises
    SettingsError if no Professor is configured.
    """
    if settings.agent.professor is None:
        raise SettingsError(
            "the search agent alone needs a Professor to ask",
            field="PROFESSOR_SEARCH_URL",
            remedy="Set PROFESSOR_SEARCH_URL to the address of its search.",
        )
    async with AsyncExitStack() as stack:
        librarian = Librarian(settings)
        stack.push_async_callback(librarian.aclose)
        librarian.lifecycle.without_graph("this service runs the search agent only (--agent-only)")
        stack.push_async_callback(cancel, asyncio.create_task(_load_agent()))
        if not settings.has_default("LIBRARIAN_ENCODER"):
            parts = await stack.enter_async_context(AsyncExitStack())
            assembly = Assembly(settings, librarian.lifecycle, parts, "agent", 0, progress)
            stack.push_async_callback(cancel, asyncio.create_task(_load_encoder(assembly)))
        yield librarian


async def _load_agent() -> None:
    """Import the agent's steps ahead of the first request, which could not spare most of a second."""
    await asyncio.to_thread(loop.graph)


async def _load_encoder(assembly: Assembly) -> None:
    """Load the encoder and determine its languages; a failure is only logged, as the agent works without it."""
    try:
        encoder = await assembly.load_encoder()
        if encoder is not None:
            languages = covered_languages(await encode_probes(encoder))
            assembly.lifecycle.encoder_loaded(encoder, languages)
    except (EncoderError, LocalServerError) as error:
        log.warning("the search agent goes on without an encoder: %s", error)


def _report_failure(lifecycle: Lifecycle, task: asyncio.Task[None]) -> None:
    """Report to /readyz the defect that ended the background work."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the service cannot become ready", exc_info=error)
        lifecycle.failed(error)
