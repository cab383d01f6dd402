"""Builds the parts of one Librarian in order, and rebuilds them when the database has moved."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version

from graph.capability import check_server
from graph.config import GraphConfig
from graph.driver import open_driver, reach, verify
from graph.errors import SchemaMismatch
from graph.executor import Executor
from graph.local.artifacts import Progress, encoder_model
from graph.local.server import ManagedServer
from graph.local.state import Phase
from graph.spaces import ensure_space
from graph.types import NewSpace, SpaceRecord
from librarian.base import metrics
from librarian.base.settings.settings import Settings
from librarian.base.tracing import TracedStopwatch
from librarian.runtime.calibration import prepared
from librarian.runtime.lifecycle import Lifecycle, Parts
from librarian.runtime.managed import Leased, lease_server
from librarian.runtime.query_observer import QueryObserver
from librarian.runtime.reranking import Reranking, open_reranking
from migrations.runner import Migrator
from retrieval.encoders.base import Encoder
from retrieval.encoders.factory import encoder_from_spec
from retrieval.pipeline import SearchPipeline, VectorArm

# Long enough for a killed managed server to restart, so that a write in flight succeeds.
_RETRY_WINDOW_S = 25.0
# A one-off search must know whether there is a reranker; a closed port refuses at once.
_RERANKER_PATIENCE_S = 1.0
ONE_OFF_LINGER_S = 600.0
"""How long a managed server stays up for the next command."""


@dataclass(slots=True)
class Assembly:
    """Builds the parts in order; the stack closes what was opened, newest first. It is to be closed after all work
    with the parts has ended.

    `leasing` is a lease of the managed server that is under way already.
    """

    settings: Settings
    lifecycle: Lifecycle
    stack: AsyncExitStack
    purpose: str
    linger_s: float
    progress: Progress | None
    leasing: asyncio.Task[Leased] | None = None
    server: ManagedServer | None = None
    config: GraphConfig | None = None
    executor: Executor | None = None
    encoder: Encoder | None = None
    reranking: Reranking | None = None

    async def build(self) -> Parts:
        """Return all parts, ready for use. May be called again after a failure or a loss of the database.

        The encoder loads while the server starts.
        """
        if not self.settings.neo4j.uri:
            await self._lease()
        loading = asyncio.create_task(self.load_encoder())
        try:
            executor = await self.connect()
            await self._migrate(self.migrator(executor))
            self.lifecycle.unavailable("starting", "loading the encoder")
            await loading
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
        return await self.parts(executor)

    async def parts(self, executor: Executor) -> Parts:
        """Return the parts over a migrated graph, for the active embedding space."""
        space, arm = await self._vector_arm(executor)
        pipeline = SearchPipeline(executor, arm, stopwatch=TracedStopwatch)
        return Parts(executor, pipeline, self.encoder, space, await self._reranking())

    async def connect(self) -> Executor:
        """Return a connection to a server that answers and can run our statements; the stack closes it.

        The executor never changes: when the server's address or password does, it gets a new driver.
        """
        config = await self._graph_config()
        if self.executor is not None and config == self.config:
            await reach(self.executor.driver)
            self.executor.forget_bookmarks()
            return self.executor
        async with AsyncExitStack() as on_failure:
            driver = await on_failure.enter_async_context(open_driver(config))
            await verify(driver)
            if self.server is None:  # the managed server is of a known version
                await check_server(Executor(driver, database=config.database))
            on_failure.pop_all()
        if self.executor is None:
            observer = QueryObserver(self.settings.log.slow_query_ms)
            self.executor = Executor(
                driver, database=config.database, timeout_s=config.query_timeout_s, observer=observer
            )
            self.stack.push_async_callback(self.executor.aclose)
        else:
            await self.executor.reconnect(driver)
        self.config = config
        metrics.connections_max.set(config.max_connections)
        return self.executor

    async def has_moved(self) -> bool:
        """Return whether the managed server's address or password differs from the connection's."""
        if self.server is None or self.server.status().phase is not Phase.READY:
            return False
        return await self._graph_config() != self.config

    def migrator(self, executor: Executor) -> Migrator:
        """Return the migrator of this process."""
        return Migrator(executor, owner=f"{socket.gethostname()}:{os.getpid()}", app_version=version("librarian"))

    async def _graph_config(self) -> GraphConfig:
        neo4j = self.settings.neo4j
        if neo4j.uri:
            return GraphConfig(
                neo4j.uri, neo4j.username, neo4j.password, neo4j.database, retry_window_s=_RETRY_WINDOW_S
            )
        server = await self._lease()
        endpoint = await server.wait_ready()
        return GraphConfig(endpoint.uri, endpoint.username, endpoint.password, retry_window_s=_RETRY_WINDOW_S)

    async def _lease(self) -> ManagedServer:
        """Lease the managed server, once. The lease is released last; it outlives a stop of the server, so that any
        restart serves us too.
        """
        if self.server is not None:
            return self.server
        leasing, self.leasing = self.leasing, None
        leased = await (leasing or lease_server(self.settings, self.purpose, self.linger_s, self.progress))
        await self.stack.enter_async_context(leased.lease)
        self.server = leased.server
        self.lifecycle.watch(leased.server)
        return leased.server

    async def _migrate(self, migrator: Migrator) -> None:
        """Apply pending migrations to a managed server; only check any other, whose operator decides."""
        if self.server is None:
            plan = await migrator.plan()
            plan.require_runnable()
            if plan.runnable:
                raise SchemaMismatch("the graph lacks migrations of this version; run `librarian migrate apply`")
            return
        self.lifecycle.unavailable("migrating", "applying migrations")
        await migrator.apply()

    async def _vector_arm(self, executor: Executor) -> tuple[SpaceRecord | None, VectorArm]:
        """Return the configured encoder's space and arm, which is off until that space is the active one."""
        encoder = await self.load_encoder()
        if encoder is None:
            return None, VectorArm(None)
        own = encoder.space
        space = await ensure_space(
            executor, NewSpace(own.id, own.model, own.dimension, own.text_form, own.normalised, own.revision)
        )
        space = await prepared(executor, space, encoder)
        self.lifecycle.encoder_loaded(encoder, space.languages or frozenset())
        if not space.active:
            reason = f"skipped: {own.model} is not the active embedding space; run `librarian embeddings switch`"
            return space, VectorArm(None, off_reason=reason)
        return space, VectorArm(encoder, space.calibrations)

    async def _reranking(self) -> Reranking:
        """Return the reranker, on or off; it is probed in the background after the first build."""
        if self.reranking is None:
            opening = open_reranking(self.settings.reranker, patience_s=_RERANKER_PATIENCE_S)
            self.reranking = await self.stack.enter_async_context(opening)
        return self.reranking

    async def load_encoder(self) -> Encoder | None:
        """Return the configured encoder, loaded once, or None. The first call downloads its model."""
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
            metrics.watch_encoder_queue(self.encoder.waiting)
        return self.encoder


@asynccontextmanager
async def open_migrator(
    settings: Settings, *, purpose: str, linger_s: float = ONE_OFF_LINGER_S, progress: Progress | None = None
) -> AsyncIterator[Migrator]:
    """Open the migrator alone, to inspect and repair a graph that no Librarian of this version would open."""
    async with AsyncExitStack() as stack:
        assembly = Assembly(settings, Lifecycle(), stack, purpose, linger_s, progress)
        yield assembly.migrator(await assembly.connect())


@asynccontextmanager
async def open_encoder(settings: Settings, *, progress: Progress | None = None) -> AsyncIterator[Encoder | None]:
    """Open the configured encoder alone, without a graph; None if none is configured."""
    async with AsyncExitStack() as stack:
        yield await Assembly(settings, Lifecycle(), stack, "encoder", 0, progress).load_encoder()
