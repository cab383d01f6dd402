"""Dumps of a home's store, made and read by Neo4j's own tool while the server is down.

Beside a dump `NAME.dump` lies `NAME.dump.json`, with the versions that made it and its hash: a dump without it, or that
does not match it, is refused before anything is touched.
"""

import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from graph.local.errors import DumpFailed, DumpRefused, HomeRefused
from graph.local.home import UPGRADE_PREFIX, Home, version_key, write_secret
from graph.local.jvm import run_admin
from graph.local.state import Launch, read_state

logger = logging.getLogger("librarian.graph")

SUFFIX = ".dump"
FACTS_SUFFIX = ".json"

_FORMAT = "librarian-dump"
_VERSION = 1
_DATABASE = "neo4j"
_DUMP_NAME = f"{_DATABASE}.dump"
_SCRATCH = "dumping"
_PARTS = ("databases", "transactions")
_STALE_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class DumpFacts:
    """Facts about a dump: the version of Librarian, and that of the server that last opened the store."""

    librarian: str
    server: str
    made_at: str
    bytes: int
    sha256: str
    format: str = _FORMAT
    version: int = _VERSION


class Offline:
    """A home whose server is kept down; `descriptor` holds the lock for as long as a tool works there."""

    def __init__(self, home: Home, launch: Launch, descriptor: int) -> None:
        self._home = home
        self._launch = launch
        self._descriptor = descriptor

    async def dump(self, target: Path) -> DumpFacts:
        """Write the store to `target`, which appears only when complete. Raises DumpFailed."""
        with self._scratch(target.parent) as scratch:
            await self._admin(self._home.path, "dump", _DATABASE, f"--to-path={scratch}")
            made = scratch / _DUMP_NAME
            made.chmod(0o600)
            facts = DumpFacts(
                librarian=version("librarian"),
                server=self._store_version(),
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                bytes=made.stat().st_size,
                sha256=_digest(made),
            )
            write_secret(facts_file(target), json.dumps(asdict(facts), indent=1))
            made.replace(target)
        return facts

    async def load(self, source: Path) -> None:
        """Replace the home's store by that of the dump `source`, all or nothing. Raises DumpFailed."""
        with self._scratch(self._home.path) as scratch:
            folder = scratch / "from"
            folder.mkdir()
            _point_to(source, folder / _DUMP_NAME)
            fresh = scratch / "home"
            (fresh / "conf").mkdir(parents=True)
            await self._admin(fresh, "load", _DATABASE, f"--from-path={folder}", "--overwrite-destination=true")
            self._exchange(fresh / "data")

    async def _admin(self, home: Path, *arguments: str) -> None:
        code, output = await run_admin(home, self._home.conf, self._launch, ("database", *arguments), self._descriptor)
        if code:
            raise DumpFailed(f"Neo4j's tool could not {arguments[0]} the store.", log_tail=output)

    def _exchange(self, data: Path) -> None:
        """Make `data` the home's, keeping the users and everything else that is not the graph."""
        own, before = self._home.data, self._home.data_before
        for kept in _beside_the_graph(own):
            _link(own / kept, data / kept)
        os.sync()
        if own.exists():
            own.rename(before)
        data.rename(own)
        shutil.rmtree(before, ignore_errors=True)

    @contextmanager
    def _scratch(self, folder: Path) -> Iterator[Path]:
        for stale in folder.glob(f".{_SCRATCH}-*"):  # left by a killed process
            if time.time() - stale.stat().st_mtime > _STALE_S:
                shutil.rmtree(stale, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f".{_SCRATCH}-", dir=folder) as scratch:
            yield Path(scratch)

    def _store_version(self) -> str:
        try:
            return self._home.server_version.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return self._launch.version


async def dump_before_upgrade(home: Home, launch: Launch, lock: int) -> None:
    """Dump the store before a newer server opens it, which cannot be undone; once per upgrade. Requires the server to
    be down, and the lock that the descriptor `lock` holds. Raises HomeRefused if the store was not closed cleanly, and
    DumpFailed.
    """
    if not home.server_version.exists() or not (home.data / "databases" / _DATABASE).is_dir():
        return
    before = home.server_version.read_text(encoding="utf-8").strip()
    if version_key(before) >= version_key(launch.version):
        return
    target = home.backups / f"{UPGRADE_PREFIX}{launch.version}-from-{before}{SUFFIX}"
    # The version is written at every start: an older dump lacks what happened since.
    if target.exists() and target.stat().st_mtime > home.server_version.stat().st_mtime:
        return
    if not read_state(home.state).clean:
        raise HomeRefused(
            f"{home.path} was last used by Neo4j {before}, which did not shut down cleanly: it cannot be backed up "
            f"before {launch.version} opens it. Start and stop it once with the previous Librarian."
        )
    logger.warning("dumping the store of Neo4j %s to %s before %s opens it", before, target, launch.version)
    home.backups.mkdir(mode=0o700, exist_ok=True)
    await Offline(home, launch, lock).dump(target)


def _beside_the_graph(data: Path) -> list[Path]:
    """Return the parts of a home's data that are not the graph: the database of users, and files of the server."""
    if not data.is_dir():
        return []
    inside = [path for part in _PARTS for path in (data / part).glob("*") if path.name != _DATABASE]
    beside = [path for path in data.iterdir() if path.name not in _PARTS]
    return [path.relative_to(data) for path in (*inside, *beside)]


def _point_to(source: Path, link: Path) -> None:
    link.symlink_to(source.resolve())


def _link(source: Path, target: Path) -> None:
    """Hard-link the files: nothing is copied, and either name may be deleted."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=os.link)
    else:
        os.link(source, target)


def facts_file(dump: Path) -> Path:
    """Return the path of a dump's facts."""
    return dump.with_name(dump.name + FACTS_SUFFIX)


def examine_dump(source: Path, *, server: str) -> DumpFacts:
    """Return the facts of a dump. Raises DumpRefused unless it is complete and can be read by a server of version
    `server` and by this Librarian.
    """
    try:
        facts = DumpFacts(**json.loads(facts_file(source).read_text(encoding="utf-8")))
        valid = facts.format == _FORMAT and facts.version == _VERSION
        size = source.stat().st_size
    except FileNotFoundError as error:
        raise DumpRefused(f"{error.filename} is missing: a dump and its {FACTS_SUFFIX} file go together.") from None
    except (ValueError, TypeError):
        valid, size = False, 0
    if not valid:
        raise DumpRefused(f"{facts_file(source)} does not describe a dump of Librarian.")
    if size != facts.bytes or _digest(source) != facts.sha256:
        raise DumpRefused(f"{source} is truncated or damaged.")
    if version_key(facts.server) > version_key(server):
        raise DumpRefused(
            f"{source} was made with Neo4j {facts.server}, this is {server}: restore it with the newer Librarian."
        )
    if _release(facts.librarian) > _release(version("librarian")):
        raise DumpRefused(
            f"{source} was made with Librarian {facts.librarian}: restore it with that version or a newer one."
        )
    return facts


def _release(librarian: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", librarian)[:3]]


def _digest(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
