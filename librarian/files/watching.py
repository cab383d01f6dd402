"""Changes below a folder, as they happen."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from librarian.files.ignoring import is_rule_file

EVERYTHING = ""
"""In place of a path: the exclusions may have changed, so everything must be checked."""

# A save often causes several events; they are joined after a quiet interval, or at the latest after a maximum delay.
_QUIET_MS = 100
_MOST_MS = 400
_Queue = asyncio.Queue[Sequence[str] | None]


@asynccontextmanager
async def changes(root: Path) -> AsyncIterator[AsyncIterator[Sequence[str]]]:
    """Yield sets of changed paths, relative to `root`, from the moment of entering.

    Each change is to one of these paths or below one.
    """
    heard: _Queue = asyncio.Queue()
    listening = asyncio.create_task(_listen(root, heard))
    listening.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        await asyncio.sleep(0)  # lets the task start watching
        yield _following(heard, listening)
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _listen(root: Path, heard: _Queue) -> None:
    import watchfiles

    watched = watchfiles.awatch(
        root, watch_filter=None, debounce=_MOST_MS, step=_QUIET_MS, ignore_permission_denied=True
    )
    async for events in watched:
        if paths := _paths(root, [path for kind, path in events if not _is_noise(kind, path)]):
            heard.put_nowait(paths)


async def _following(heard: _Queue, listening: "asyncio.Task[None]") -> AsyncIterator[Sequence[str]]:
    while (paths := await heard.get()) is not None:
        yield paths
    await listening


def _is_noise(kind: Any, path: str) -> bool:
    """Return whether only a folder's own properties changed: changes inside it have their own events."""
    import watchfiles

    return kind is watchfiles.Change.modified and Path(path).is_dir()


def _paths(root: Path, changed: Iterable[str]) -> list[str]:
    """Return the paths without those below another; only EVERYTHING if an ignore rule changed."""
    relative = sorted({Path(path).relative_to(root).as_posix() for path in changed})
    if any(is_rule_file(path.rpartition("/")[2]) for path in relative):
        return [EVERYTHING]
    kept: list[str] = []
    for path in relative:
        if path != "." and not (kept and path.startswith(f"{kept[-1]}/")):
            kept.append(path)
    return kept
