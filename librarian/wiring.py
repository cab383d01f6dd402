"""The composition root: builds one Librarian out of its parts and takes it apart again."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol

from agents.label import LabelModel
from graph.local.artifacts import Progress
from graph.local.errors import LocalServerError
from librarian.assembly import Assembly
from librarian.errors import SettingsError
from librarian.language_model import chat_model
from librarian.professor.search import Professor
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.supervisor import BeforeReady, Supervisor, cancel
from migrations.runner import Migrator
from retrieval.encoders.base import Encoder
from retrieval.encoders.errors import EncoderError
from retrieval.encoders.language_probe import covered_languages, encode_probes

log = logging.getLogger("librarian.wiring")

ONE_OFF_LINGER_S = 600.0


class Make(Protocol):
    """Makes the facade that is filled and yielded."""

    def __call__(self, settings: Settings, chat_model: LabelModel | None, professor: Professor | None) -> Librarian:
        """A facade without its parts."""


@asynccontextmanager
async def open_librarian(
    settings: Settings,
    *,
    purpose: str,
    linger_s: float = ONE_OFF_LINGER_S,
    wait: bool = True,
    progress: Progress | None = None,
    before_ready: BeforeReady | None = None,
    make: Make = Librarian,
) -> AsyncIterator[Librarian]:
    """One Librarian for `settings`, closed on leaving.

    With `wait` it is usable when this yields, and what stands in the way is raised. Without (the service) it connects
    in the background, tries again for as long as something stands in the way, follows a database that comes back
    elsewhere, and encodes pending items as they come; `before_ready` is what it does with the graph before it says
    that it is ready.
    """
    async with AsyncExitStack() as stack:
        librarian = _made(settings, stack, make)
        assembly = Assembly(settings, librarian, stack, purpose, linger_s, progress)
        if wait:
            librarian.lifecycle.connected(await assembly.build())
        else:
            background = asyncio.create_task(Supervisor(assembly, before_ready).run())
            background.add_done_callback(partial(_report_failure, librarian))
            stack.push_async_callback(cancel, background)
        yield librarian


@asynccontextmanager
async def open_agent(
    settings: Settings, *, progress: Progress | None = None, make: Make = Librarian
) -> AsyncIterator[Librarian]:
    """The search agent alone, over the Professor's documents: usable at once, without a graph.

    An encoder is loaded in the background if LIBRARIAN_ENCODER asks for one; words decide until it is there. Raises
    SettingsError where no Professor is configured.
    """
    if settings.agent.professor is None:
        raise SettingsError(
            "the search agent alone needs a Professor to ask",
            field="PROFESSOR_SEARCH_URL",
            remedy="Set PROFESSOR_SEARCH_URL to the address of its search.",
        )
    async with AsyncExitStack() as stack:
        librarian = _made(settings, stack, make)
        librarian.lifecycle.without_graph("this service runs the search agent only (--agent-only)")
        if not settings.has_default("LIBRARIAN_ENCODER"):
            assembly = Assembly(settings, librarian, stack, "agent", 0, progress)
            stack.push_async_callback(cancel, asyncio.create_task(_load_encoder(assembly)))
        yield librarian


@asynccontextmanager
async def open_migrator(
    settings: Settings, *, purpose: str, linger_s: float = ONE_OFF_LINGER_S, progress: Progress | None = None
) -> AsyncIterator[Migrator]:
    """The migrator alone, for looking at and mending a graph that no Librarian of this version would open."""
    async with AsyncExitStack() as stack:
        assembly = Assembly(settings, Librarian(settings), stack, purpose, linger_s, progress)
        yield assembly.migrator(await assembly.connect())


@asynccontextmanager
async def open_encoder(settings: Settings, *, progress: Progress | None = None) -> AsyncIterator[Encoder | None]:
    """The configured encoder alone, without a graph; None where there is none."""
    async with AsyncExitStack() as stack:
        yield await Assembly(settings, Librarian(settings), stack, "encoder", 0, progress).load_encoder()


def _made(settings: Settings, stack: AsyncExitStack, make: Make) -> Librarian:
    """The facade; what it talks to is closed by the stack."""
    chat, config = chat_model(settings.llm), settings.agent.professor
    professor = None if config is None else Professor(config)
    for opened in (chat, professor):
        if opened is not None:
            stack.push_async_callback(opened.aclose)
    return make(settings, chat, professor)


async def _load_encoder(assembly: Assembly) -> None:
    """Load it and prove its languages; a failure is logged, as the agent works without."""
    try:
        encoder = await assembly.load_encoder()
        if encoder is not None:
            languages = covered_languages(await encode_probes(encoder))
            assembly.librarian.lifecycle.read_by(encoder, languages)
    except (EncoderError, LocalServerError) as error:
        log.warning("the search agent goes on without an encoder: %s", error)


def _report_failure(librarian: Librarian, task: asyncio.Task[None]) -> None:
    """Tell /readyz why the background work ended, which only a defect does."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the service cannot become ready", exc_info=error)
        librarian.lifecycle.failed(error)
