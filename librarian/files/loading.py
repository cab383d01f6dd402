"""Conversion of a file on disk to its stored form."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from graph.files import FileContent, NewFile
from librarian.files.chunks import chunks_of
from librarian.files.outline import outline_of
from librarian.files.reading import BINARY, OVERSIZED, UNREADABLE, lines_of, text_of
from librarian.files.symbols import symbols_of
from retrieval.file_languages import language_of
from retrieval.files import path_keys
from retrieval.text import caption_of

_CAPTION = 60
_READINGS = 3

UNKNOWN_TIME = -1
"""Older than any file: the next run reads the file again."""


@dataclass(frozen=True, slots=True)
class Loader:
    """Makes the stored form of files; files of more than `max_bytes` are not read."""

    namespace: str
    max_bytes: int

    def new_file(self, path: str, *, root: str, size: int, mtime_ns: int) -> NewFile:
        """Return the stored form of a path."""
        keys = path_keys(path)
        properties = {
            "name": caption_of(path.rpartition("/")[2], _CAPTION),
            "name_key": keys.name_key,
            "stem_key": keys.stem_key,
            "path_key": keys.path_key,
            "search_text": keys.search_text,
        }
        return NewFile(path, root, size, mtime_ns, language_of(path), properties)

    def load(self, root: Path, path: str) -> FileContent | None:
        """Return the contents of a file on disk; None if it no longer exists."""
        try:
            data, mtime_ns = self._read(root / path)
        except FileNotFoundError:
            return None
        except OSError:
            return self._unread(path, UNREADABLE, 0, UNKNOWN_TIME, b"")
        if data is None:
            about = (root / path).stat()
            return self._unread(path, OVERSIZED, about.st_size, about.st_mtime_ns, str(about.st_size).encode())
        return self.content(path, data, mtime_ns)

    def content(self, path: str, data: bytes, mtime_ns: int) -> FileContent:
        """Return the contents of bytes, as a file of this path."""
        text = text_of(data)
        if text is None:
            return self._unread(path, BINARY, len(data), mtime_ns, data)
        lines = lines_of(text)
        language = language_of(path)
        symbols = symbols_of(language, text)
        return FileContent(
            path,
            _digest(data),
            len(data),
            mtime_ns,
            language,
            len(lines),
            chunks_of(self.namespace, path, lines),
            symbols,
            outline_of(path, lines, symbols),
        )

    def _read(self, file: Path) -> tuple[bytes | None, int]:
        """Return bytes and modification time of a file, None for one that is too big.

        A file being written is read again; if it still changes, it gets no time, so that the next run reads it again.
        """
        data = b""
        for _ in range(_READINGS):
            with file.open("rb") as opened:
                before = file.stat()
                if before.st_size > self.max_bytes:
                    return None, before.st_mtime_ns
                data = opened.read(self.max_bytes + 1)
            after = file.stat()
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(
                data
            ) == after.st_size:
                return data, after.st_mtime_ns
        return data[: self.max_bytes], UNKNOWN_TIME

    def _unread(self, path: str, reason: str, size: int, mtime_ns: int, data: bytes) -> FileContent:
        return FileContent(path, _digest(data), size, mtime_ns, language_of(path), unread=reason)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
