"""The composition root: builds one Librarian out of its parts and takes it apart again."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol

from agents.ports import ChatModel
from graph.local.artifacts import Progress
from librarian.assembly import Assembly
from librarian.language_model import chat_model
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.supervisor import BeforeReady, Supervisor, cancel
from migrations.runner import Migrator

log = logging.getLogger("librarian.wiring")

ONE_OFF_LINGER_S = 600.0


class Make(Protocol):
    """Makes the facade that is filled and yielded."""

    def __call__(self, settings: Settings, chat_model: ChatModel | None) -> Librarian:
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
    chat = chat_model(settings.llm)
    librarian = make(settings, chat)
    async with AsyncExitStack() as stack:
        if chat is not None:
            stack.push_async_callback(chat.aclose)
        assembly = Assembly(settings, librarian, stack, purpose, linger_s, progress)
        if wait:
            librarian.lifecycle.connected(await assembly.build())
        else:
            background = asyncio.create_task(Supervisor(assembly, before_ready).run())
            background.add_done_callback(partial(_report_failure, librarian))
            stack.push_async_callback(cancel, background)
        yield librarian


@asynccontextmanager
async def open_migrator(
    settings: Settings, *, purpose: str, linger_s: float = ONE_OFF_LINGER_S, progress: Progress | None = None
) -> AsyncIterator[Migrator]:
    """The migrator alone, for looking at and mending a graph that no Librarian of this version would open."""
    async with AsyncExitStack() as stack:
        assembly = Assembly(settings, Librarian(settings), stack, purpose, linger_s, progress)
        yield assembly.migrator(await assembly.connect())


def _report_failure(librarian: Librarian, task: asyncio.Task[None]) -> None:
    """Tell /readyz why the background work ended, which only a defect does."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("the service cannot become ready", exc_info=error)
        librarian.lifecycle.failed(error)
