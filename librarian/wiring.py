"""The composition root: builds one Librarian out of its parts and takes it apart again."""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from graph.capability import check_server
from graph.config import GraphConfig
from graph.driver import open_driver, verify
from graph.errors import GraphError, SchemaMismatch
from graph.executor import Executor
from graph.local.artifacts import Progress, encoder_model
from graph.local.server import Endpoint, ManagedServer, ServerOptions
from graph.spaces import ensure_space, set_languages
from graph.types import NewSpace, SpaceRecord
from librarian import metrics
from librarian.lifecycle import Parts
from librarian.service import Librarian
from librarian.settings import Settings
from migrations.errors import MigrationError
from migrations.runner import Migrator
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderError
from retrieval.encoders.factory import encoder_from_spec
from retrieval.encoders.language_probe import covered_languages
from retrieval.pipeline import SearchPipeline, VectorArm

log = logging.getLogger("librarian.wiring")

BeforeReady = Callable[[Librarian], Awaitable[None]]
ONE_OFF_LINGER_S = 600.0
_RECONNECT_S = 2.0
# Long enough for a killed server of ours to come back, so that a write in flight succeeds instead of failing.
_RETRY_WINDOW_S = 25.0


@asynccontextmanager
async def open_librarian(
    settings: Settings,
    *,
    purpose: str,
    linger_s: float = ONE_OFF_LINGER_S,
    wait: bool = True,
    progress: Progress | None = None,
    before_ready: BeforeReady | None = None,
) -> AsyncIterator[Librarian]:
    """One Librarian for `settings`, closed on leaving.

    With `wait` it is usable when this yields, and what stands in the way is raised. Without (the service) it connects
    in the background, tries again while the database does not answer, and encodes pending items as they come;
    `before_ready` is what it does with the graph before it says that it is ready.
    """
    librarian = Librarian(settings)
    async with AsyncExitStack() as stack:
        assembly = _Assembly(settings, librarian, stack, purpose, linger_s, progress)
        if wait:
            librarian.lifecycle.connected(await assembly.build())
        else:
            background = asyncio.create_task(_serve(assembly, librarian, before_ready))
            background.add_done_callback(partial(_report_failure, librarian))
            stack.push_async_callback(_cancel, background)
        yield librarian


@asynccontextmanager
async def open_migrator(
    settings: Settings, *, purpose: str, linger_s: float = ONE_OFF_LINGER_S, progress: Progress | None = None
) -> AsyncIterator[Migrator]:
    """The migrator alone, for looking at and mending a graph that no Librarian of this version would open."""
    async with AsyncExitStack() as stack:
        assembly = _Assembly(settings, Librarian(settings), stack, purpose, linger_s, progress)
        yield assembly.migrator(await assembly.connect())


async def _serve(assembly: "_Assembly", librarian: Librarian, before_ready: BeforeReady | None) -> None:
    """Connect, however long it takes, then keep encoding what is pending. Raises what trying again cannot mend."""
    while True:
        try:
            parts = await assembly.build()
            librarian.lifecycle.usable(parts)
            if before_ready is not None:
                await before_ready(librarian)
        except (GraphError, MigrationError, EncoderError) as error:
            if not error.retryable:
                raise
            librarian.lifecycle.waiting("unreachable", str(error))
            await asyncio.sleep(_RECONNECT_S)
        else:
            break
    librarian.lifecycle.connected(parts)
    await librarian.work()


def _report_failure(librarian: Librarian, task: asyncio.Task[None]) -> None:
    """Tell /readyz why the background work ended."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the service cannot become ready: %s", error)
        librarian.lifecycle.failed(error)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


@dataclass(slots=True)
class _Assembly:
    """Builds the parts in order; what was opened is closed by the stack, newest first."""

    settings: Settings
    librarian: Librarian
    stack: AsyncExitStack
    purpose: str
    linger_s: float
    progress: Progress | None
    server: ManagedServer | None = None
    executor: Executor | None = None
    encoder: Encoder | None = None

    async def build(self) -> Parts:
        """All parts, ready for use. May be called again after it raised a retryable error."""
        executor = await self.connect()
        migrator = self.migrator(executor)
        await self._migrate(migrator)
        self.librarian.lifecycle.waiting("starting", "loading the encoder")
        space, arm = await self._vector_arm(executor)
        return Parts(executor, SearchPipeline(executor, arm), self.encoder, space)

    async def connect(self) -> Executor:
        """A connection to a server that answers and can run our statements; closed by the stack."""
        if self.executor is not None:
            return self.executor
        config = await self._graph_config()
        async with AsyncExitStack() as on_failure:
            driver = await on_failure.enter_async_context(open_driver(config))
            await verify(driver)
            executor = Executor(
                driver, database=config.database, timeout_s=config.query_timeout_s, observe=metrics.observe_query
            )
            await check_server(executor)
            self.stack.push_async_callback(on_failure.pop_all().aclose)
        self.executor = executor
        return executor

    def migrator(self, executor: Executor) -> Migrator:
        """The migrator of this process."""
        return Migrator(executor, owner=f"{socket.gethostname()}:{os.getpid()}", app_version=version("librarian"))

    async def _graph_config(self) -> GraphConfig:
        neo4j = self.settings.neo4j
        if neo4j.uri:
            return GraphConfig(
                neo4j.uri, neo4j.username, neo4j.password, neo4j.database, retry_window_s=_RETRY_WINDOW_S
            )
        endpoint = await self._managed()
        return GraphConfig(endpoint.uri, endpoint.username, endpoint.password, retry_window_s=_RETRY_WINDOW_S)

    async def _managed(self) -> Endpoint:
        """The managed server's endpoint; the lease taken on the way is released last of all."""
        if self.server is None:
            options = ServerOptions(
                heap_mb=self.settings.server.heap_mb,
                pagecache_mb=self.settings.server.pagecache_mb,
                java=self.settings.server.java,
                maven_url=self.settings.server.maven_url,
            )
            server = ManagedServer(self.settings.home, self.settings.cache, options)
            await server.prepare(self.progress)
            await self.stack.enter_async_context(await server.lease(self.purpose, linger_s=self.linger_s))
            self.server = server
            self.librarian.lifecycle.watching(server)
        return await self.server.wait_ready()

    async def _migrate(self, migrator: Migrator) -> None:
        """Apply what is pending on a server of our own; another one is only checked, its operator decides."""
        if self.server is None:
            plan = await migrator.plan()
            plan.require_runnable()
            if plan.runnable:
                raise SchemaMismatch("the graph lacks migrations of this version; run `librarian migrate apply`")
            return
        self.librarian.lifecycle.waiting("migrating", "applying migrations")
        await migrator.apply()

    async def _vector_arm(self, executor: Executor) -> tuple[SpaceRecord | None, VectorArm]:
        """The configured encoder's space and arm; searching with it waits until its space is the active one."""
        encoder = await self._load_encoder()
        if encoder is None:
            return None, VectorArm(None)
        own = encoder.space
        space = await ensure_space(
            executor, NewSpace(own.id, own.model, own.dimension, own.text_form, own.normalised, own.revision)
        )
        languages = space.languages
        if languages is None:
            languages = await covered_languages(encoder)
            await set_languages(executor, space.space, languages)
        if not space.active:
            reason = f"skipped: {own.model} is not the active embedding space; run `librarian embeddings switch`"
            return space, VectorArm(None, off_reason=reason)
        return space, VectorArm(encoder, languages)

    async def _load_encoder(self) -> Encoder | None:
        if self.encoder is not None:
            return self.encoder
        chosen = self.settings.encoder
        folder = None
        if chosen.name == "onnx":
            folder = await encoder_model(
                self.settings.cache, maven_url=self.settings.server.maven_url, progress=self.progress
            )
        self.encoder = await encoder_from_spec(
            chosen.name, model_folder=folder, threads=chosen.threads or 0, api_key=chosen.api_key
        )
        if self.encoder is not None:
            self.stack.push_async_callback(self.encoder.aclose)
        return self.encoder
