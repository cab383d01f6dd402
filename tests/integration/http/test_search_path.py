"""The files that a search passes, which docs/architecture.md lists: found by running one."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from graph.executor import Executor
from scripts.architecture_picture import search_path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "architecture.md"


class Way:
    """Notes which of our files wait for a statement while it is sent: those of the task that sends it, and of the
    tasks and callbacks that began that one, out to the socket.
    """

    def __init__(self) -> None:
        self.begun: dict[asyncio.Task, list[str]] = {}
        self.files: list[str] = []

    def here(self, frame) -> list[str]:
        """Our files from the one that runs out to the socket."""
        files = []
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] not in ("tests", ".venv"):
                files.append(str(path.relative_to(ROOT)))
            frame = frame.f_back
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
        return files + self.begun.get(task, [])

    def task(self, loop, work, **options):
        """Make a task, and remember who began it."""
        made = asyncio.Task(work, loop=loop, **options)
        self.begun[made] = self.here(sys._getframe(1))
        return made

    def note(self, name) -> None:
        """Keep the way to the statement that searches."""
        if name == "search_hybrid":
            self.files = list(dict.fromkeys(reversed(self.here(sys._getframe(1)))))


@pytest.fixture
async def way(monkeypatch):
    way, loop = Way(), asyncio.get_running_loop()
    loop.set_task_factory(way.task)
    prepare = Executor.prepare

    def noted(executor, name, *values):
        way.note(name)
        return prepare(executor, name, *values)

    monkeypatch.setattr(Executor, "prepare", noted)
    yield way
    loop.set_task_factory(None)


async def test_a_search_passes_the_files_of_the_architecture_page(serving, ingest, headers, way):
    """And of the picture there, in this order."""
    await ingest({"kind": "memory", "uid": "m", "text": "The cache is warmed before the switch."})
    async with serving() as client:
        answer = await client.post("/v1/search", json={"queries": ["which cache is warmed"]}, headers=headers)
    assert [hit["uid"] for hit in answer.json()["results"]] == ["m"]
    assert way.files == re.findall(r"^\| \d+ \| `([\w/.]+\.py)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert way.files == list(search_path().boxes)[: len(way.files)]
