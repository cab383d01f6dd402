"""Checks of the graph: connection, clock, schema, indexes, embedding spaces, and edges drawn by hand."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from graph.config import GraphConfig
from graph.driver import open_driver, verify
from graph.edges import count_drawn
from graph.executor import Executor
from graph.files import count_unread
from graph.importing import unfinished_imports
from graph.local.server import ManagedServer
from graph.local.state import Phase
from graph.spaces import count_pending, count_refused, count_vectors, index_state, list_spaces
from graph.types import SpaceRecord
from graph.webhooks import paused
from librarian.base.findings import Check, look
from librarian.base.settings.settings import Settings
from librarian.files.reading import TOO_LARGE
from migrations.runner import Migrator

MAX_CLOCK_S = 60.0
"""Tolerated difference: key expiries, timestamps and "yesterday" follow one clock, times of new items the other."""

MULTILINGUAL = "sentence-transformers:intfloat/multilingual-e5-small"
"""The encoder to recommend if the active one does not read most texts."""

_ATTACH_S = 2.0
_SERVE = "serve"


@dataclass(frozen=True, slots=True)
class _Graph:
    """The graph to check; `users` are the purposes of the managed server's leases, None for another server."""

    executor: Executor
    users: frozenset[str] | None


Look = Callable[[_Graph], Awaitable[Check]]


async def database_checks(settings: Settings) -> list[Check]:
    """Return all findings about the graph; if it is not running, every check is skipped."""
    later: dict[str, Look] = {
        "clock": _clock,
        "schema": _schema,
        "embeddings": partial(_embeddings, settings),
        "languages": _languages,
        "edges": _edges,
        "imports": _imports,
        "files": _files,
        "webhooks": _webhooks,
    }
    first = await look("database", partial(_database, settings))
    if first.status != "ok":
        return [first, *(Check(name, "skipped", "the database is unreachable") for name in later)]
    config = await running(settings)
    if isinstance(config, str):  # stopped just now
        return [first, *(Check(name, "skipped", config) for name in later)]
    async with open_driver(config) as driver:
        graph = _Graph(Executor(driver, database=config.database), _users(settings))
        return [first, *[await look(name, partial(check, graph)) for name, check in later.items()]]


async def running(settings: Settings) -> GraphConfig | str:
    """Return how to reach the database, or why it is unreachable."""
    neo4j = settings.neo4j
    if neo4j.uri is not None:
        return GraphConfig(neo4j.uri, neo4j.username, neo4j.password, neo4j.database, retry_window_s=_ATTACH_S)
    server = ManagedServer(settings.home, settings.cache)
    status = server.status()
    if status.phase is Phase.FAILED:
        return f"the managed server failed: {status.error} see `librarian server logs`"
    if status.phase is not Phase.READY:
        return f"the managed server is {status.phase}; `librarian server start` starts it"
    endpoint = await server.wait_ready(_ATTACH_S)
    return GraphConfig(endpoint.uri, endpoint.username, endpoint.password, retry_window_s=_ATTACH_S)


async def _database(settings: Settings) -> Check:
    config = await running(settings)
    if isinstance(config, str):
        return Check("database", "failed" if "failed" in config else "skipped", config)
    async with open_driver(config) as driver:
        await verify(driver)
    return Check("database", "ok", config.uri)


def _users(settings: Settings) -> frozenset[str] | None:
    if settings.neo4j.uri is not None:
        return None
    return frozenset(lease.purpose for lease in ManagedServer(settings.home, settings.cache).status().leases)


async def _clock(graph: _Graph) -> Check:
    before = datetime.now(UTC)
    row = await graph.executor.fetch_one("server_clock")
    after = datetime.now(UTC)
    theirs = row["now"].to_native() if row else after
    off_s = max((before - theirs).total_seconds(), (theirs - after).total_seconds(), 0.0)
    if off_s > MAX_CLOCK_S:
        detail = f"the database's clock is {off_s:,.0f} s off this machine's"
        return Check("clock", "warning", detail, "Set both by NTP: expiries and times of items depend on them.")
    return Check("clock", "ok", f"{off_s:.0f} s off the database's")


async def _schema(graph: _Graph) -> Check:
    """Check migrations, constraints and indexes; an index that is not ONLINE counts as missing."""
    faults = await Migrator(graph.executor, owner="doctor", app_version=version("librarian")).validate()
    if faults:
        return Check("schema", "failed", "; ".join(faults), "`librarian migrate status` shows more.")
    return Check("schema", "ok", "as this version declares it")


async def _embeddings(settings: Settings, graph: _Graph) -> Check:
    spaces = await list_spaces(graph.executor)
    if not spaces:
        return Check("embeddings", "ok", "no embedding space yet")
    active = next((space for space in spaces if space.active), None)
    if active is None:
        remedy = "Run `librarian embeddings switch` with the LIBRARIAN_ENCODER to use."
        return Check("embeddings", "failed", "no embedding space is active", remedy)
    state = await index_state(graph.executor, active.space)
    if state == "POPULATING":
        return Check("embeddings", "warning", f"the vector index of {active.model} is being built", "Wait for it.")
    if state != "ONLINE":
        detail = f"the vector index of {active.model} is {state}"
        return Check("embeddings", "failed", detail, "Run `librarian embeddings compact`.")
    return await _vectors(settings, graph, active, [space for space in spaces if not space.active])


async def _vectors(settings: Settings, graph: _Graph, active: SpaceRecord, others: Sequence[SpaceRecord]) -> Check:
    encoder = settings.encoder.name
    wanted = encoder.rpartition("#")[2] if encoder.startswith("http:") else active.model
    if wanted != active.model:
        remedy = f"Run `librarian embeddings switch`, or go back to the encoder of {active.model}."
        return Check("embeddings", "warning", f"{wanted} is not active, {active.model} is", remedy)
    pending = await count_pending(graph.executor)
    if pending and graph.users is not None and _SERVE not in graph.users and encoder != "none":
        detail = f"{pending:,} items wait for a vector and no service runs"
        return Check("embeddings", "warning", detail, "`librarian serve` or the next `librarian ingest` encodes them.")
    counts = {space.model: await count_vectors(graph.executor, space.space) for space in others}
    if kept := ", ".join(f"{count:,} of {model}" for model, count in counts.items() if count):
        remedy = "They are kept for switching back with `librarian embeddings switch`; they only use disk space."
        return Check("embeddings", "warning", f"{active.model} is active; beside it there are vectors: {kept}", remedy)
    held = await count_vectors(graph.executor, active.space)
    return Check("embeddings", "ok", f"{held:,} vectors of {active.model}, which is active; {pending:,} items wait")


async def _languages(graph: _Graph) -> Check:
    """Check whether the active encoder reads the stored texts, as far as it has processed them."""
    active = next((space for space in await list_spaces(graph.executor) if space.active), None)
    if active is None:
        return Check("languages", "ok", "no embedding space yet")
    counts = await count_refused(graph.executor, active.space)
    unread = {language: items for language, items in counts.items() if language}
    if not unread:
        return Check("languages", "ok", f"{active.model} reads the texts of every item")
    listed = ", ".join(f"{items:,} in {language!r}" for language, items in unread.items())
    detail = f"items that {active.model} does not read, which only words find: {listed}"
    if sum(unread.values()) <= await count_vectors(graph.executor, active.space):
        return Check("languages", "ok", detail)
    remedy = (
        "Let a multilingual model read them: `pip install 'librarian[sentence-transformers]'`, "
        f"`librarian embeddings switch --build --encoder {MULTILINGUAL}`, then LIBRARIAN_ENCODER={MULTILINGUAL}."
    )
    return Check("languages", "warning", detail, remedy)


async def _edges(graph: _Graph) -> Check:
    drawn = await count_drawn(graph.executor)
    if not drawn:
        return Check("edges", "ok", "every typed edge has an edge_id")
    detail = "; ".join(
        f"{group.count:,} drawn by hand: {group.fault or 'to adopt'} ({'; '.join(group.examples)})" for group in drawn
    )
    remedies = []
    if any(group.fault is None for group in drawn):
        remedies.append("`librarian doctor --adopt-edges` completes those to adopt.")
    if any(group.fault for group in drawn):
        remedies.append("Librarian ignores the others: delete them, or draw them between items of a namespace.")
    return Check("edges", "warning", detail, " ".join(remedies))


async def _imports(graph: _Graph) -> Check:
    """Check for unfinished imports, including running ones, which look the same as killed ones."""
    if unfinished := await unfinished_imports(graph.executor):
        detail = f"not complete: {', '.join(unfinished)}"
        remedy = "Unless it still runs, resume with `librarian import` and the same file, or delete the namespace."
        return Check("imports", "warning", detail, remedy)
    return Check("imports", "ok", "no namespace holds part of a file")


async def _files(graph: _Graph) -> Check:
    """Check for files that the database had too little memory to store."""
    files, examples = await count_unread(graph.executor, TOO_LARGE)
    if not files:
        return Check("files", "ok", "none was too large for the database's memory")
    detail = f"{files:,} found by name only, too large for the database's memory: {', '.join(examples)}"
    remedy = "Restart the database with more memory (LIBRARIAN_HEAP_MB), then run `librarian index` again."
    return Check("files", "warning", detail, remedy)


async def _webhooks(graph: _Graph) -> Check:
    """Check for paused webhooks."""
    if found := await paused(graph.executor):
        detail = ", ".join(f"{webhook_id} of {namespace}: {error}" for namespace, webhook_id, error in found)
        remedy = "Fix the receiver, then run `librarian webhook test` for each; or `librarian webhook remove`."
        return Check("webhooks", "warning", f"paused: {detail}", remedy)
    return Check("webhooks", "ok", "none is paused")
