"""`Librarian` for Python programs: the facade that opens and closes itself."""

import asyncio
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from agents.label import LabelModel
from librarian import service
from librarian.logs import configure_embedded
from librarian.professor.search import Professor
from librarian.settings import Settings
from librarian.supervisor import cancel
from librarian.wiring import open_librarian

_PURPOSE = "python"


class Librarian(service.Librarian):
    """One agent memory in this process: `async with Librarian() as librarian: …`.

    `settings` default to those of the environment. Entering starts the managed server where it is down, or connects to
    the one that is named, and raises what stands in the way; until then methods raise NotReady. New items are encoded
    in the background while it is open; await `embed_pending()` for what waits. It logs to the standard library's
    loggers `librarian.*` and prints nothing. It may be opened again after it was closed.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(Settings.from_env() if settings is None else settings)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        configure_embedded(self.settings.log)
        async with AsyncExitStack() as opening:
            await opening.enter_async_context(open_librarian(self.settings, purpose=_PURPOSE, make=self._begun))
            opening.push_async_callback(cancel, asyncio.create_task(self.work()))
            self._stack = opening.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)
        super().__init__(self.settings)

    def _begun(
        self, settings: Settings, chat_model: LabelModel | None, professor: Professor | None
    ) -> service.Librarian:
        """The facade itself, as new."""
        super().__init__(settings, chat_model, professor)
        return self
