"""A second server for analysts: a read-only copy of the graph, or of one namespace.

Neo4j Community has no roles: anyone who may log in may change everything. So analysts get a separate server with its
own home, password and ports, which is filled, stopped, and restarted read-only.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from graph.analyst import stamp_copy
from graph.local.conf import Ports
from graph.local.errors import HomeRefused
from graph.local.filelock import attempt
from graph.local.home import Home, write_secret
from graph.local.jvm import free_port, require_free
from graph.local.server import ManagedServer, ServerOptions, ServerStatus
from librarian.app import Librarian, open_librarian
from librarian.base.errors import Conflict
from librarian.base.settings.settings import EncoderSettings, Neo4jSettings, ServerSettings, Settings
from librarian.transfer.atomic import writable
from librarian.transfer.room import Counted

USUAL_PORTS = Ports(bolt=17688, http=17475)
"""The ports next to the main server's."""

# A copy has few readers; the main server needs the memory more.
_HEAP_MB, _PAGECACHE_MB = 512, 256


class CopyNote(Struct, frozen=True, kw_only=True):
    """The contents of a copy: its `namespaces` (all of them if `whole`), number of items, and time.

    Unless `exact`, something changed while it was read, and the copy holds its state before or after the change.
    """

    namespaces: list[str]
    whole: bool
    items: int
    taken_at: datetime
    exact: bool

    @property
    def scope(self) -> str:
        """The scope of the copy, for people."""
        return "the whole graph" if self.whole else f"namespace {self.namespaces[0]}"


@dataclass(frozen=True, slots=True)
class AnalystStatus:
    """The server and its copy; None without a finished one."""

    server: ServerStatus
    copy: CopyNote | None


class AnalystServer:
    """The analysts' server of one home; cheap to create, nothing runs until `start`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = Home(settings.home.expanduser().absolute() / "analyst")

    @property
    def server(self) -> ManagedServer:
        """The underlying server, for inspection."""
        return self._managed(ServerOptions())

    def status(self) -> AnalystStatus:
        """Return the state of the server and its copy; starts and changes nothing."""
        return AnalystStatus(self.server.status(), self._note())

    async def stop(self) -> bool:
        """Stop it; the copy stays on disk until the next start. False if it was not running."""
        if not self._home.path.exists():
            return False
        with self._alone():
            return await self.server.stop()

    async def start(
        self,
        source: Librarian,
        namespace: str | None,
        *,
        bolt_port: int | None = None,
        http_port: int | None = None,
        on_progress: Counted | None = None,
    ) -> AnalystStatus:
        """Copy `namespace` (None: all) out of `source` and serve the copy instead of the previous one.

        The previous copy is served until the new one is read. Ports stay the same unless others are requested; so does
        the password if the scope is the same. `on_progress` gets (done, total), first of reading, then of writing.
        Raises NotFound for an empty namespace, Conflict while another process does the same, CannotWrite on a full
        disk, and LocalServerError, such as for a port in use.
        """
        with self._alone(), tempfile.TemporaryFile(dir=self._settings.home) as spool:
            before = self.status()
            self._refuse_unknown_files()
            _refuse_taken(before.server, bolt_port, http_port)
            with writable(self._settings.home):
                note = await _read(source, namespace, spool, on_progress)
            await self._clear(keep_password=before.copy is not None and before.copy.scope == note.scope)
            await self._fill(spool, note, on_progress)
            options = ServerOptions(
                bolt_port=bolt_port or free_port(before.server.bolt_port or USUAL_PORTS.bolt),
                http_port=http_port or free_port(before.server.http_port or USUAL_PORTS.http),
                read_only=True,
            )
            serving = self._managed(options)
            await serving.pin()
            await serving.wait_ready()
        return self.status()

    async def _clear(self, *, keep_password: bool) -> None:
        """Stop the previous server and remove its home, whatever its version."""
        await self.server.stop()
        password = self._home.password() if keep_password and self._home.password_file.exists() else None
        if self._home.path.exists():
            shutil.rmtree(self._home.path)
        self._home.path.mkdir(mode=0o700)
        if password is not None:
            write_secret(self._home.password_file, password)

    async def _fill(self, spool: BinaryIO, note: CopyNote, on_progress: Counted | None) -> None:
        """Store the copy in the new home through a server that is stopped afterwards."""
        settings = replace(
            self._settings,
            home=self._home.path,
            neo4j=Neo4jSettings(),
            server=self._lean(),
            encoder=EncoderSettings("none"),
            reranker=replace(self._settings.reranker, enabled=False),
        )
        spool.seek(0)
        try:
            async with open_librarian(settings, purpose="analyst copy", linger_s=0) as target:
                await target.import_from(spool, on_progress=on_progress)
                await stamp_copy(
                    target.parts.executor,
                    f"copy of {note.scope}, {note.taken_at:%Y-%m-%d %H:%M} UTC",
                    taken_at=note.taken_at,
                    namespaces=note.namespaces,
                    items=note.items,
                )
        finally:
            await self.server.stop()
        write_secret(self._note_file, msgspec.json.encode(note).decode())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from starting or stopping it during the block. Raises Conflict."""
        self._settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with attempt(self._settings.home / "analyst.lock") as alone:
            if not alone:
                raise Conflict("another process is starting or stopping the analysts' server")
            yield

    def _refuse_unknown_files(self) -> None:
        """Raise HomeRefused for a home with files that are not an analysts' server's."""
        made = (self._home.password_file, self._home.conf, self._note_file)
        if self._home.path.exists() and any(self._home.path.iterdir()) and not any(path.exists() for path in made):
            raise HomeRefused(f"{self._home.path} holds files that are not part of an analysts' copy. Move them away.")

    def _managed(self, options: ServerOptions) -> ManagedServer:
        lean = self._lean()
        sized = replace(
            options, heap_mb=lean.heap_mb, pagecache_mb=lean.pagecache_mb, java=lean.java, maven_url=lean.maven_url
        )
        return ManagedServer(self._home.path, self._settings.cache, sized)

    def _lean(self) -> ServerSettings:
        main = self._settings.server
        return replace(main, heap_mb=main.heap_mb or _HEAP_MB, pagecache_mb=main.pagecache_mb or _PAGECACHE_MB)

    @property
    def _note_file(self) -> Path:
        return self._home.path / "copy.json"

    def _note(self) -> CopyNote | None:
        try:
            return msgspec.json.decode(self._note_file.read_bytes(), type=CopyNote)
        except (FileNotFoundError, msgspec.DecodeError):
            return None


async def _read(source: Librarian, namespace: str | None, spool: BinaryIO, on_progress: Counted | None) -> CopyNote:
    """Read everything except the vectors, which the Browser does not use."""
    named = None if namespace is None else [namespace]
    report = await source.export_into(spool, named, tombstones=False, on_progress=on_progress)
    return CopyNote(
        namespaces=report.namespaces,
        whole=named is None,
        items=report.rows.get("item", 0),
        taken_at=report.moment,
        exact=report.exact,
    )


def _refuse_taken(running: ServerStatus, bolt_port: int | None, http_port: int | None) -> None:
    """Raise LocalServerError unless the requested ports are free or those of the running copy."""
    own = (running.bolt_port, running.http_port)
    for name, port in (("bolt", bolt_port), ("http", http_port)):
        if port is not None and port not in own:
            require_free(port, name)
