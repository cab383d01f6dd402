"""Sessions of a coding agent whose hooks are killed at random points: turns lost, turns doubled, cost of a hook.

    python -m benchmarks.capture --sessions 1000 --seed 7

Each session writes its transcript as Claude Code does, sometimes after the hook of the same turn, and calls the hooks.
At a random point it is killed together with the running hook (SIGKILL, a random moment after its start); half of the
sessions then continue. Deliveries to the graph are also interrupted at random points. In the end the graph must hold
every line of every transcript exactly once. The overhead is the time from start to end of a hook, called as programs
call it, compared with a bare interpreter.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import Timing, disposable, progress, report, sentence, timing
from librarian.app import Librarian
from librarian.items.capture import keep, turn
from librarian.items.capture.delivery import FOLDER, Delivery
from librarian.items.contracts import ItemQuery
from librarian.runtime.supervisor import cancel

_PROGRAM, _NAMESPACE = "claude-code", "captured"
_GOES_ON = 0.5
_LATE = 0.3
_MOST_TURNS = 4
_LONGEST_S = 0.02
_OVERHEAD_RUNS = 100
_PAGE = 500
_READABLE_RUNS = 100
_LOOK_S = 0.02
_NEWEST = ItemQuery(kinds=["message"], limit=1)

Said = tuple[str, str, str]
"""Session, role, text."""


@dataclass
class SimulatedSession:
    """One session. `said` is the text of its agent and its user, `written` the part that reached the transcript."""

    home: Path
    id: str
    chance: random.Random
    said: list[Said] = field(default_factory=list)
    written: list[Said] = field(default_factory=list)

    def run(self) -> None:
        """Play the session; one of its hooks is killed, and half of the time that ends it."""
        turns = self.chance.randint(1, _MOST_TURNS)
        killed_at, goes_on = self.chance.randrange(2 * turns + 2), self.chance.random() < _GOES_ON
        for number, (event, values) in enumerate(self._events(turns)):
            self.hook(event, values, kill=number == killed_at)
            if number == killed_at and not goes_on:
                return

    @property
    def transcript(self) -> Path:
        """Path of the program's transcript."""
        return self.home / "transcripts" / f"{self.id}.jsonl"

    def write(self, role: str, text: str, tool: str | None = None) -> None:
        """Write one line of the transcript."""
        self.written.append((self.id, role, text))
        number = len(self.written)
        parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if tool is not None:
            parts.append({"type": "tool_use", "id": f"t{number}", "name": tool, "input": {}})
        message = {"id": f"{self.id}-{number}", "role": role, "content": text if role == "user" else parts}
        entry = {"type": role, "uuid": f"{number}", "sessionId": self.id, "timestamp": turn.now(), "message": message}
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _events(self, turns: int) -> Iterator[tuple[str, dict[str, str]]]:
        yield "SessionStart", {"source": "startup"}
        for _ in range(turns):
            prompt, answer = self._text("user"), self._text("assistant")
            yield from self._told("user", prompt, "UserPromptSubmit", "prompt")
            for _ in range(self.chance.randint(0, 2)):
                self.said.append((self.id, "assistant", remark := self._text("assistant")))
                self.write("assistant", remark, "Bash")
            yield from self._told("assistant", answer, "Stop", "last_assistant_message")
        yield "SessionEnd", {"reason": "other"}

    def _told(self, role: str, text: str, event: str, name: str) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the event of a text, which reaches the transcript before or after it."""
        self.said.append((self.id, role, text))
        late = self.chance.random() < _LATE
        if not late:
            self.write(role, text)
        yield event, {name: text}
        if late:
            self.write(role, text)

    def _text(self, role: str) -> str:
        """Return a text, sometimes one that occurs repeatedly."""
        often = ["ok", "continue"] if role == "user" else ["Done.", "Let me look."]
        return self.chance.choice(often) if self.chance.random() < _LATE else sentence(self.chance)

    def hook(self, event: str, values: dict[str, str], *, kill: bool) -> None:
        """Run a hook in its own process, and perhaps kill it."""
        payload: dict[str, object] = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": "/srv/shop",
            "hook_event_name": event,
            **values,
        }
        process = os.fork()
        if process == 0:
            with contextlib.suppress(BaseException):
                turn.kept(str(self.home / FOLDER), _PROGRAM, _NAMESPACE, payload)
            os._exit(0)
        if kill:
            time.sleep(self.chance.random() * _LONGEST_S)
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def play(home: Path, sessions: int, seed: int) -> list[SimulatedSession]:
    """Play sessions, one after the other."""
    played = [SimulatedSession(home, f"s{number}", random.Random(f"{seed}/{number}")) for number in range(sessions)]
    for session in played:
        session.run()
    return played


def compared(sessions: Sequence[SimulatedSession], kept: Sequence[Said]) -> dict[str, int]:
    """Return how many turns of transcripts were lost, and how many turns were kept more than once."""
    written = Counter(said for session in sessions for said in session.written)
    said, found = Counter(said for session in sessions for said in session.said), Counter(kept)
    return {"turns": written.total(), "lost": (written - found).total(), "doubled": (found - said).total()}


async def _deliver_with_breaks(delivery: Delivery, chance: random.Random) -> None:
    """Deliver everything, after interruptions at random points."""
    for _ in range(20):
        task = asyncio.create_task(delivery.deliver(idle_s=0))
        await asyncio.wait([task], timeout=chance.random() * 2)
        task.cancel()
        await asyncio.wait([task])
    await delivery.deliver(idle_s=0)
    await delivery.deliver(idle_s=0)


async def _kept(librarian: Librarian) -> AsyncIterator[Said]:
    query = ItemQuery(kinds=["message"], limit=_PAGE)
    while True:
        page = await librarian.list_items(_NAMESPACE, query)
        for item in page.items:
            yield item.properties["session_id"], item.properties["role"], item.text
        if page.next_cursor is None:
            return
        query = ItemQuery(kinds=["message"], limit=_PAGE, cursor=page.next_cursor)


def overheads(home: Path) -> Iterator[Timing]:
    """Time hooks as programs call them, and a bare interpreter."""
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    hook = [sys.executable, "-I", "-S", str(Path(keep.__file__)), _PROGRAM, str(home / FOLDER), _NAMESPACE]
    session = SimulatedSession(home, "timed", random.Random(1))
    for name, command in (("bare interpreter", bare), ("hook", hook)):
        walls, processor = [], []
        for number in range(_OVERHEAD_RUNS):
            prompt = f"{sentence(session.chance)} {number}"
            session.write("user", prompt)
            event = {"session_id": "timed", "transcript_path": str(session.transcript), "cwd": "/srv/shop"}
            asked = json.dumps(event | {"hook_event_name": "UserPromptSubmit", "prompt": prompt}).encode()
            before, started = os.times(), time.perf_counter()
            subprocess.run(command, input=asked, check=True)
            walls.append((time.perf_counter() - started) * 1000)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            processor.append(spent * 1000)
        yield timing(f"{name}, wall", walls)
        yield timing(f"{name}, processor", processor)


async def until_readable(librarian: Librarian, home: Path) -> Timing:
    """Time from the start of a hook until a page of the namespace shows its turn, while a service delivers."""
    working = asyncio.create_task(Delivery(home, librarian.ingest).work())
    session, waits = SimulatedSession(home, "read", random.Random(2)), []
    for number in range(_READABLE_RUNS):
        prompt = f"{sentence(session.chance)} {number}"
        started = time.perf_counter()
        await asyncio.to_thread(session.hook, "UserPromptSubmit", {"prompt": prompt}, kill=False)
        while prompt not in [item.text for item in (await librarian.list_items(_NAMESPACE, _NEWEST)).items]:
            await asyncio.sleep(_LOOK_S)
        waits.append((time.perf_counter() - started) * 1000)
    await cancel(working)
    return timing(f"hook to readable (longest {max(waits):.0f} ms)", waits)


async def benchmark(sessions: int, seed: int) -> None:
    """Play, deliver, compare; then time."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        progress("sessions")
        played = play(home, sessions, seed)
        async with disposable() as (librarian, _):
            progress("deliveries")
            await _deliver_with_breaks(Delivery(home, librarian.ingest), random.Random(seed))
            result = compared(played, [row async for row in _kept(librarian)])
            progress("readable")
            readable = await until_readable(librarian, home)
        progress("overhead")
        report("capture", [*overheads(home), readable], sessions=sessions, seed=seed, **result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    asked_for = parser.parse_args()
    asyncio.run(benchmark(asked_for.sessions, asked_for.seed))
