"""A folder, a zip archive or one file behind one interface: relative paths, and the bytes of each."""

import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.base.lines import MAX_LINE_BYTES

MAX_JSON_BYTES = 2 * 2**30
MAX_MEMBERS = 200_000
MAX_TOTAL_BYTES = 16 * 2**30
_HEAD_BYTES = 64 * 1024
_BOM = b"\xef\xbb\xbf"
_ENCRYPTED = 0x1
_UTF8_NAME = 0x800
_READ_ERRORS = (  # raised by reading a file or a damaged archive
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Files by path (POSIX, relative, sorted, without hidden ones).

    `single`: the user named one file, which is read whatever its name. All reading methods raise InvalidInput for an
    unreadable file.
    """

    name: str
    paths: tuple[str, ...]
    opener: Callable[[str], IO[bytes]]
    single: bool = False

    def files(self, *endings: str) -> list[str]:
        """Return the file that the user named, whatever its name; else those with one of `endings`."""
        return [path for path in self.paths if self.single or path.endswith(endings)]

    def head(self, path: str) -> bytes:
        """Return the first 64 KiB; empty if the file is unreadable."""
        try:
            with self.opener(path) as file:
                return file.read(_HEAD_BYTES).removeprefix(_BOM)
        except _READ_ERRORS:
            return b""

    def text(self, path: str, *, max_bytes: int = MAX_JSON_BYTES) -> str:
        """Return the whole file as UTF-8 text, without a byte order mark."""
        try:
            with self.opener(path) as file:
                content = file.read(max_bytes + 1)
        except _READ_ERRORS as error:
            raise InvalidInput(f"cannot be read: {_reason(error)}") from None
        if len(content) > max_bytes:
            raise InvalidInput(f"larger than {max_bytes} bytes")
        return decoded(content.removeprefix(_BOM))

    def lines(self, path: str) -> Iterator[tuple[int, bytes]]:
        """Yield lines numbered from 1, reading lazily."""
        try:
            with self.opener(path) as file:
                number = 0
                while line := file.readline(MAX_LINE_BYTES + 1):
                    number += 1
                    if len(line) > MAX_LINE_BYTES:
                        raise InvalidInput(f"line {number} is longer than {MAX_LINE_BYTES} bytes")
                    yield number, line.removeprefix(_BOM) if number == 1 else line
        except _READ_ERRORS as error:
            raise InvalidInput(f"cannot be read: {_reason(error)}") from None

    def shallowest(self, names: Callable[[str], bool]) -> str | None:
        """Return the topmost path whose last part `names` accepts."""
        found = (path for path in self.paths if names(PurePosixPath(path).name))
        return min(found, key=lambda path: (path.count("/"), path), default=None)


def decoded(content: bytes) -> str:
    """Return bytes as UTF-8. Raises InvalidInput naming the first bad byte."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start}") from None


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open the folder, zip archive or file at `path`. Raises OSError, and InvalidInput for a bad archive."""
    if path.is_dir():
        yield folder(path)
    elif zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield archive(file, path.name)
    else:
        path.open("rb").close()  # fails early for a missing or forbidden file
        yield single(path.name, lambda: path.open("rb"))


def single(name: str, opener: Callable[[], IO[bytes]]) -> Source:
    """Return one file."""
    return Source(name, (name,), lambda _: opener(), single=True)


def from_bytes(
    content: bytes, name: str, *, max_total_bytes: int = MAX_TOTAL_BYTES, max_members: int = MAX_MEMBERS
) -> Source:
    """Return an archive or file from memory."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        return archive(io.BytesIO(content), name, max_total_bytes=max_total_bytes, max_members=max_members)
    return single(PurePosixPath(name.replace("\\", "/")).name or "file", lambda: io.BytesIO(content))


def folder(root: Path) -> Source:
    """Return all files below `root`; links to folders are not followed."""
    found = []
    for parent, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _hidden(name)]
        below = Path(parent).relative_to(root)
        found += [(below / name).as_posix() for name in names if not _hidden(name) and Path(parent, name).is_file()]
    return Source(root.resolve().name, tuple(sorted(found)), lambda path: (root / path).open("rb"))


def archive(
    file: IO[bytes], name: str, *, max_total_bytes: int = MAX_TOTAL_BYTES, max_members: int = MAX_MEMBERS
) -> Source:
    """Return the files of a zip archive, without writing any of them to disk.

    An archive that holds one folder of its own name is read as that folder. Raises PayloadTooLarge for more than
    `max_members` members or `max_total_bytes` unpacked (never reading more than the archive's directory announces),
    InvalidInput for damage, encryption and names that lead out of the archive.
    """
    try:
        contents = zipfile.ZipFile(file)
    except _READ_ERRORS as error:
        raise InvalidInput(f"{name} is not a readable zip archive: {_reason(error)}") from None
    members = contents.infolist()
    if len(members) > max_members:
        raise PayloadTooLarge(f"{name} holds {len(members)} files; at most {max_members} are read")
    if sum(member.file_size for member in members) > max_total_bytes:
        raise PayloadTooLarge(f"{name} is larger than {max_total_bytes} bytes when unpacked")
    files = _files(members, name)
    return Source(name, tuple(sorted(files)), lambda path: contents.open(files[path]))


def _files(members: list[zipfile.ZipInfo], archive_name: str) -> dict[str, zipfile.ZipInfo]:
    files: dict[str, zipfile.ZipInfo] = {}
    for member in members:
        path = _safe_path(member)
        if member.is_dir() or any(map(_hidden, path.parts)):
            continue
        if path.as_posix() in files:
            raise InvalidInput(f"{archive_name} holds {path.as_posix()!r} twice")
        files[path.as_posix()] = member
    wrapper = f"{PurePosixPath(archive_name).stem}/"
    if files and all(path.startswith(wrapper) for path in files):
        return {path.removeprefix(wrapper): member for path, member in files.items()}
    return files


def _safe_path(member: zipfile.ZipInfo) -> PurePosixPath:
    name = member.filename
    if not member.flag_bits & _UTF8_NAME:
        name = _utf8_without_saying_so(name)
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[:1]:
        raise InvalidInput(f"the archive's member {name!r} leads out of the archive")
    if member.flag_bits & _ENCRYPTED:
        raise InvalidInput(f"the archive's member {name!r} is encrypted", remedy="Unpack it and give the folder.")
    return path


def _utf8_without_saying_so(name: str) -> str:
    """Return the name as macOS intended: its archives hold UTF-8 names without the flag for it."""
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _reason(error: Exception) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else "damaged"
