"""How far an ingest of a file has come, kept in the home so that `librarian ingest --resume` can go on after it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from librarian.keys import write_private

_FOLDER = "ingest"
_FOLDER_MODE = 0o700
_NAME_CHARS = 24


class Progress(Struct, frozen=True, kw_only=True):
    """What was ingested how, and the last line whose row, like all before it, is settled."""

    path: str
    size: int
    mtime_ns: int
    namespace: str
    map: str | None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The progress file of one source (path, namespace and map)."""

    place: Path
    source: Progress

    @classmethod
    def of(cls, home: Path, source: Path, *, namespace: str, mapping: str | None) -> "Bookmark":
        """The bookmark of `source` as it is now."""
        path, found = source.resolve(), source.stat()
        identity = "\0".join((str(path), namespace, mapping or ""))
        name = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:_NAME_CHARS]
        progress = Progress(
            path=str(path), size=found.st_size, mtime_ns=found.st_mtime_ns, namespace=namespace, map=mapping
        )
        return cls(home / _FOLDER / f"{name}.json", progress)

    def last_line(self) -> tuple[int, str]:
        """The line to go on after, and, where that is 0, why the file is read from its start."""
        try:
            kept = msgspec.json.decode(self.place.read_bytes(), type=Progress)
        except FileNotFoundError:
            return 0, "no unfinished ingest of this file is known"
        except msgspec.DecodeError:
            return 0, "the record of the last ingest is damaged"
        if (kept.size, kept.mtime_ns) != (self.source.size, self.source.mtime_ns):
            return 0, "the file has changed since"
        return kept.line, ""

    def keep(self, line: int) -> None:
        """Remember that everything up to `line` is settled."""
        self.place.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        write_private(self.place, msgspec.json.encode(msgspec.structs.replace(self.source, line=line)))

    def remove(self) -> None:
        """Forget it: the ingest is complete."""
        self.place.unlink(missing_ok=True)
