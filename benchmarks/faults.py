"""Random faults against a busy service, checked against an external ledger of the expected contents.

    python -m benchmarks.faults --rounds 200 --minutes 60 --seed 7

Each round starts one operation (ingest, put, patch, delete, delete of a namespace, sweep, index, import, export,
backup) and injects one fault a moment later: the service or the database is killed or stopped, the database hangs as
behind a cut network, the client hangs up, or the disk is full (where root may mount a small one). Then everything is
started again, and the graph is compared with the ledger. Acknowledged data that is missing is lost; a transaction with
only some of its rows is half applied; data that nobody wrote is foreign. Each count must be 0. A backup that reports
success is read and compared as well. Faults that restart the database take most of the time and are less frequent. The
seed makes a run repeatable.
"""

import argparse
import asyncio
import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.common import progress, report, sentence
from benchmarks.serving import free_port, until_ready
from graph.local.server import ManagedServer
from librarian.base.keys import KeyFile, ensure_admin_key
from librarian.base.settings.settings import Settings

_BIN = Path(sys.executable).parent / "librarian"
_READY_S = 240.0
_BATCH = 25
_DISK = "400m"
_HANG_S = 3.0
_MAIN, _SIDE, _SWEPT, _COPY = "main", "side", "swept", "copy"
_DONE = range(200, 300)

State = str | None
"""Text of an item or file; None if there is none."""


@dataclass
class Ledger:
    """Possible states of each thing: one if known, several if an answer is missing.

    Things are named (namespace, uid). `together` holds the rows that one unanswered transaction would have written.
    """

    may_be: dict[tuple[str, str], set[State]] = field(default_factory=dict)
    together: list[dict[tuple[str, str], State]] = field(default_factory=list)

    def begins(self, wanted: dict[tuple[str, str], State]) -> None:
        """Record the requested states."""
        for name, state in wanted.items():
            self.may_be.setdefault(name, {None}).add(state)

    def ends(self, wanted: dict[tuple[str, str], State], status: int | None, *, atomic: bool) -> None:
        """Record the answer; without one, both the old and the new state are possible."""
        if status in _DONE:
            self.may_be.update((name, {state}) for name, state in wanted.items())
        elif atomic and len(wanted) > 1:
            self.together.append(wanted)

    def uids(self, namespace: str) -> list[str]:
        """Return the uids that the namespace may hold or have held."""
        return sorted(uid for at, uid in self.may_be if at == namespace)

    def compare(self, found: dict[tuple[str, str], str]) -> dict[str, list[str]]:
        """Return the differences from the ledger, and adopt the found state."""
        lost = [f"{name}: {found.get(name)!r}" for name, states in self.may_be.items() if found.get(name) not in states]
        half = [str(min(wanted)) for wanted in self.together if 0 < self._written(wanted, found) < len(wanted)]
        foreign = [str(name) for name in found.keys() - self.may_be.keys()]
        self.may_be = {name: {found.get(name)} for name in self.may_be}
        self.together = []
        return {"lost": lost, "half applied": half, "foreign": foreign}

    def missing(self, kept: dict[tuple[str, str], str]) -> list[str]:
        """Return the uids whose known state is not in a copy of all memories."""
        known = {name: states for name, states in self.may_be.items() if not name[1].startswith("file:")}
        wrong = [f"{name}: {kept.get(name)!r}" for name, states in known.items() if kept.get(name) not in states]
        return wrong + [f"{name}: foreign" for name in kept.keys() - known.keys()]

    @staticmethod
    def _written(wanted: dict[tuple[str, str], State], found: dict[tuple[str, str], str]) -> int:
        return sum(found.get(name) == state for name, state in wanted.items())


class Stage:
    """The service on its home; can be killed and restarted."""

    def __init__(self, settings: Settings, disk: Path | None) -> None:
        self.disk = disk
        self.server = ManagedServer(settings.home, settings.cache)
        # Never a user's own database: this one is killed.
        self._env = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
        self._env |= {"LIBRARIAN_HOME": str(settings.home), "LIBRARIAN_LOG_LEVEL": "error"}
        self._env |= {"LIBRARIAN_ENCODER": "none", "LIBRARIAN_HEAP_MB": "512", "LIBRARIAN_PAGECACHE_MB": "128"}
        self._env |= {"LIBRARIAN_RATE_LIMIT": "off"}
        self.backups = settings.home.parent / "backups"
        self._log = (settings.home.parent / "serve.log").open("ab")
        self.url = f"http://127.0.0.1:{free_port()}"
        settings.home.mkdir(mode=0o700, exist_ok=True)
        key = ensure_admin_key(KeyFile(settings.home / "keys.json"), settings.home)
        self.headers = {"Authorization": f"Bearer {key}"}
        self._process: asyncio.subprocess.Process | None = None

    async def up(self) -> None:
        """Start whatever is not running, and wait until requests are answered."""
        if self._process is None or self._process.returncode is not None:
            port = self.url.rpartition(":")[2]
            self._process = await asyncio.create_subprocess_exec(
                _BIN, "serve", "--port", port, env=self._env, stdout=self._log, stderr=self._log
            )
        if str(self.server.status().phase) in ("stopped", "stopping", "failed"):
            await self._command("server", "start")
        await until_ready(self.url, _READY_S)

    async def down(self) -> None:
        """Stop the service, then the database."""
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()
        await self.server.stop()
        self._log.close()

    async def end_service(self, number: signal.Signals) -> None:
        """Send the signal to the service and wait until it exits."""
        assert self._process is not None
        self._process.send_signal(number)
        await self._process.wait()

    def signal_database(self, number: signal.Signals) -> None:
        """Send the signal to the database, if it is running."""
        with contextlib.suppress(ProcessLookupError):
            if pid := self.server.status().pid:
                os.kill(pid, number)

    async def restart_database(self) -> None:
        """Stop and start the database, as an operator does."""
        await self._command("server", "stop")
        await self._command("server", "start")

    async def backup(self, folder: Path) -> bool:
        """Write a backup, as an operator does; return whether the command reports success."""
        return await self._command("backup", str(folder)) == 0

    async def _command(self, *args: str) -> int:
        process = await asyncio.create_subprocess_exec(_BIN, *args, env=self._env, stdout=self._log, stderr=self._log)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()


class Work:
    """Operations of a client; each records in the ledger its intent and the answer."""

    def __init__(self, stage: Stage, ledger: Ledger, source: random.Random) -> None:
        self._stage = stage
        self._ledger = ledger
        self._source = source
        self._number = 0
        self.statuses: Counter[str] = Counter()
        self.kept_wrong: list[str] = []

    async def ingest(self, namespace: str = _MAIN) -> None:
        """Store a batch of new memories: one transaction."""
        rows = {self._new_uid(): self._text() for _ in range(_BATCH)}
        body = [{"kind": "memory", "uid": uid, "text": text} for uid, text in rows.items()]
        await self._ask("POST", "/v1/items", namespace, {(namespace, uid): text for uid, text in rows.items()}, body)

    async def put(self) -> None:
        """Create or replace one memory."""
        uid, text = self._known(), self._text()
        body = {"kind": "memory", "text": text}
        await self._ask("PUT", f"/v1/items/{uid}", _MAIN, {(_MAIN, uid): text}, body)

    async def patch(self) -> None:
        """Change the text of one memory."""
        uid, text = self._known(), self._text()
        if None not in self._ledger.may_be[_MAIN, uid]:
            await self._ask("PATCH", f"/v1/items/{uid}", _MAIN, {(_MAIN, uid): text}, {"text": text})

    async def delete(self) -> None:
        """Delete one memory."""
        uid = self._known()
        await self._ask("DELETE", f"/v1/items/{uid}", _MAIN, {(_MAIN, uid): None})

    async def delete_namespace(self) -> None:
        """Fill a namespace and delete it."""
        await self.ingest(_SIDE)
        path = f"/v1/namespaces/{_SIDE}:delete"
        status, preview = await self._ask("POST", path, _SIDE, {}, {})
        if status in _DONE:
            gone: dict[tuple[str, str], State] = {(_SIDE, uid): None for uid in self._ledger.uids(_SIDE)}
            await self._ask("POST", path, _SIDE, gone, {"confirm_token": preview["confirm_token"]}, atomic=False)

    async def sweep(self) -> None:
        """Sweep a namespace."""
        if not self._ledger.uids(_SWEPT):
            await self.ingest(_SWEPT)
        await self._ask("POST", "/v1/sweeps", _SWEPT, {}, {})

    async def index(self) -> None:
        """Store a file."""
        path, text = f"notes/{self._source.randrange(10)}.md", self._text()
        await self._ask("PUT", f"/v1/files/{path}", _MAIN, {(_MAIN, f"file:{path}"): text}, text.encode())

    async def import_copy(self) -> None:
        """Import the export of one namespace into another, replacing its contents."""
        status, export = await self._ask("GET", f"/v1/namespaces/{_SIDE}/export", _SIDE, {})
        if status in _DONE:
            rows = [row for row in map(json.loads, export.splitlines()) if row["row"] == "item"]
            copied: dict[tuple[str, str], State] = {(_COPY, uid): None for uid in self._ledger.uids(_COPY)}
            copied |= {(_COPY, row["uid"]): row["properties"]["text"] for row in rows}
            path = f"/v1/namespaces/{_COPY}/import?existing=replace"
            await self._ask("POST", path, _COPY, copied, export, atomic=False)
        else:
            await self.ingest(_SIDE)

    async def export(self) -> None:
        """Export a namespace."""
        await self._ask("GET", f"/v1/namespaces/{_MAIN}/export", _MAIN, {})

    async def backup(self) -> None:
        """Back up the graph, and read the backup."""
        self._number += 1
        folder = self._stage.backups / str(self._number)  # own folder: an abandoned backup may still be running
        done = await self._stage.backup(folder)
        self.statuses["backup" if done else "no backup"] += 1
        files = sorted(folder.glob("*.jsonl.gz"))
        if done and not files:
            self.kept_wrong.append("no file of a backup that is done")
        for file in files:
            self.kept_wrong += self._ledger.missing(memories_of(file))
            file.unlink()

    async def settle(self) -> None:
        """Resume and undo interrupted sweeps, so that the ledger's texts are restored."""
        _, listed = await self._send("GET", "/v1/sweeps", _SWEPT, None)
        for run in listed["sweeps"]:
            if run["status"] == "applying":
                await self._settled("POST", "/v1/sweeps", {"resume": run["sweep_id"]})
            if run["status"] not in ("planned", "undone"):
                await self._settled("POST", f"/v1/sweeps/{run['sweep_id']}/undo", None)

    async def found(self) -> dict[tuple[str, str], str]:
        """Return everything that the service holds."""
        texts: dict[tuple[str, str], str] = {}
        _, listed = await self._send("GET", "/v1/namespaces", _MAIN, None)
        for namespace in [one["namespace"] for one in listed["namespaces"]]:
            cursor = ""
            while True:
                _, page = await self._send("GET", f"/v1/items?limit=200&kinds=memory{cursor}", namespace, None)
                texts |= {(namespace, item["uid"]): item["text"] for item in page["items"]}
                if page["next_cursor"] is None:
                    break
                cursor = f"&cursor={page['next_cursor']}"
        for uid in [uid for uid in self._ledger.uids(_MAIN) if uid.startswith("file:")]:
            path = uid.removeprefix("file:")
            status, span = await self._send("GET", f"/v1/files/{path}", _MAIN, None)
            if status in _DONE:
                texts[_MAIN, uid] = span["text"]
        return texts

    async def _settled(self, method: str, path: str, body: Any) -> None:
        async with asyncio.timeout(_READY_S):
            while (await self._send(method, path, _SWEPT, body))[0] not in _DONE:
                await asyncio.sleep(1.0)  # the lease of a killed process must expire

    async def _ask(
        self,
        method: str,
        path: str,
        namespace: str,
        wanted: dict[tuple[str, str], State],
        body: Any = None,
        *,
        atomic: bool = True,
    ) -> tuple[int | None, Any]:
        self._ledger.begins(wanted)
        status, answer = None, None
        try:
            status, answer = await self._send(method, path, namespace, body)
        except httpx.TransportError:
            pass
        finally:
            self._ledger.ends(wanted, status, atomic=atomic)
            self.statuses[str(status or "no answer")] += 1
        return status, answer

    async def _send(self, method: str, path: str, namespace: str, body: Any) -> tuple[int, Any]:
        headers = {**self._stage.headers, "Librarian-Namespace": namespace}
        sent = {"content": body} if isinstance(body, bytes) else {} if body is None else {"json": body}
        if method == "PATCH":
            headers["Content-Type"] = "application/merge-patch+json"
        async with httpx.AsyncClient(base_url=self._stage.url, timeout=60, trust_env=False) as client:
            answer = await client.request(method, path, headers=headers, **sent)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.status_code, answer.json() if is_json else answer.content

    def _known(self) -> str:
        known = [uid for uid in self._ledger.uids(_MAIN) if not uid.startswith("file:")]
        return self._source.choice(known or [self._new_uid()])

    def _new_uid(self) -> str:
        self._number += 1
        return f"u{self._number}"

    def _text(self) -> str:
        return f"{sentence(self._source)} {self._source.getrandbits(48):x}"


def memories_of(backup: Path) -> dict[tuple[str, str], str]:
    """Return the texts of all memories in a backup, which must be complete."""
    texts: dict[tuple[str, str], str] = {}
    namespace, last = "", ""
    with gzip.open(backup, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            last = row["row"]
            namespace = row["namespace"] if last == "namespace" else namespace
            if last == "item" and row["kind"] == "memory":
                texts[namespace, row["uid"]] = row["properties"]["text"]
    assert last == "end", f"{backup} is not whole"
    return texts


Fault = Callable[[Stage, "asyncio.Task[None]"], Awaitable[None]]


async def _kill_service(stage: Stage, _: "asyncio.Task[None]") -> None:
    await stage.end_service(signal.SIGKILL)


async def _stop_service(stage: Stage, _: "asyncio.Task[None]") -> None:
    await stage.end_service(signal.SIGTERM)


async def _kill_database(stage: Stage, _: "asyncio.Task[None]") -> None:
    stage.signal_database(signal.SIGKILL)


async def _stop_database(stage: Stage, _: "asyncio.Task[None]") -> None:
    await stage.restart_database()


async def _cut_database(stage: Stage, _: "asyncio.Task[None]") -> None:
    stage.signal_database(signal.SIGSTOP)
    await asyncio.sleep(_HANG_S)
    stage.signal_database(signal.SIGCONT)


async def _cut_client(_: Stage, work: "asyncio.Task[None]") -> None:
    work.cancel()


async def _fill_disk(stage: Stage, _: "asyncio.Task[None]") -> None:
    assert stage.disk is not None
    filler = stage.disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(bytes(2**20))
    await asyncio.sleep(_HANG_S)
    filler.unlink()
    await stage.restart_database()


FAULTS: dict[str, Fault] = {
    "kill service": _kill_service,
    "stop service": _stop_service,
    "kill database": _kill_database,
    "stop database": _stop_database,
    "cut database": _cut_database,
    "cut client": _cut_client,
    "full disk": _fill_disk,
}

_OFTEN = 3
WEIGHTS = {name: 1 if name in ("kill database", "stop database", "full disk") else _OFTEN for name in FAULTS}


@dataclass
class Outcome:
    """The findings of a campaign, and the seconds of the rounds by fault."""

    rounds: int = 0
    seconds: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    work: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=lambda: {"lost": [], "half applied": [], "foreign": []})


async def campaign(settings: Settings, disk: Path | None, *, rounds: int, minutes: float, seed: int) -> Outcome:
    """Run rounds until their number or the time is exhausted."""
    source, ledger, outcome = random.Random(seed), Ledger(), Outcome()
    stage = Stage(settings, disk)
    work = Work(stage, ledger, source)
    pieces = [work.ingest, work.put, work.patch, work.delete, work.delete_namespace]
    pieces += [work.sweep, work.index, work.import_copy, work.export, work.backup]
    faults = [name for name in FAULTS if disk is not None or name != "full disk"]
    ends_at = time.monotonic() + 60 * minutes
    try:
        await stage.up()
        await work.ingest()
        while outcome.rounds < rounds and time.monotonic() < ends_at:
            piece = source.choice(pieces)
            (fault,) = source.choices(faults, [WEIGHTS[name] for name in faults])
            started = time.monotonic()
            progress(f"round {outcome.rounds + 1}: {piece.__name__} / {fault}")
            working = asyncio.ensure_future(piece())
            await asyncio.sleep(source.expovariate(4))
            await FAULTS[fault](stage, working)
            with contextlib.suppress(asyncio.CancelledError):
                await working
            await stage.up()
            await work.settle()
            told = ledger.compare(await work.found())
            told["lost"] += work.kept_wrong
            work.kept_wrong = []
            for kind, found in told.items():
                where = f"round {outcome.rounds + 1} ({piece.__name__} / {fault})"
                outcome.wrong[kind] += [f"{where} {one}" for one in found]
                for one in found:
                    print(f"{kind}: {where} {one}", flush=True)
            outcome.rounds += 1
            outcome.faults[fault] += 1
            outcome.work[piece.__name__] += 1
            outcome.seconds[fault] += round(time.monotonic() - started)
    finally:
        outcome.statuses = work.statuses
        await stage.down()
    return outcome


@contextlib.contextmanager
def own_disk(folder: Path) -> Iterator[Path | None]:
    """A small file system at `folder`, if root may mount one."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        yield None
        return
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", folder], check=False, capture_output=True
    )
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", folder], check=True)


async def benchmark(arguments: argparse.Namespace) -> int:
    """Run one campaign; return the exit code."""
    print(f"seed: {arguments.seed}")
    with TemporaryDirectory(prefix="librarian-faults-") as folder:
        place = Path(folder) / "disk"
        place.mkdir()
        with own_disk(place) as disk:
            settings = Settings.from_env({**os.environ, "LIBRARIAN_HOME": str(place / "home")})
            outcome = await campaign(
                settings, disk, rounds=arguments.rounds, minutes=arguments.minutes, seed=arguments.seed
            )
    rows = [{"what": kind, "count": len(found)} for kind, found in outcome.wrong.items()]
    counted = {"faults": dict(outcome.faults), "work": dict(outcome.work), "answers": dict(outcome.statuses)}
    counted["seconds"] = dict(outcome.seconds)
    report("faults", rows, seed=arguments.seed, rounds=outcome.rounds, **counted)
    return int(any(outcome.wrong.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(benchmark(_arguments())))
