"""How one-off commands get a Librarian: in process, with a bar for the first download."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from librarian.cli.display import downloads
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.wiring import open_librarian


@asynccontextmanager
async def opened(settings: Settings, purpose: str) -> AsyncIterator[Librarian]:
    """A ready Librarian; the managed server stays up for ten minutes afterwards, for the next command."""
    with downloads() as progress:
        async with open_librarian(settings, purpose=purpose, progress=progress) as librarian:
            yield librarian
