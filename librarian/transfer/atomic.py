"""Atomic files."""

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from librarian.base.errors import CannotWrite

PART = ".part"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""errno values for a full disk or an exhausted quota."""

_STALE_S = 24 * 3600.0


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Open a private file that replaces `target` when the block ends, synced to disk; an exception leaves `target`
    unchanged. Raises CannotWrite.
    """
    if target.exists() and not target.is_file():
        raise CannotWrite(f"{target} exists and is not a file", remedy="Name a file; - is standard output.")
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(6)}{PART}")
    with writable(target):
        descriptor = os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with writable(target):
            with os.fdopen(descriptor, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(target)
            sync_folder(target.parent)
    finally:
        scratch.unlink(missing_ok=True)


@contextlib.contextmanager
def writable(target: Path) -> Iterator[None]:
    """Raise CannotWrite naming the file in place of an OSError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "Make room, or name another folder." if error.errno in FULL else "Name a folder that can be written."
        raise CannotWrite(f"{target} cannot be written: {reason}. Nothing of it was kept.", remedy=remedy) from error


def sync_folder(folder: Path) -> None:
    """Sync `folder`, so that a rename in it survives a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_stale_parts(folder: Path) -> None:
    """Remove temporary files in `folder` that are a day old, left by killed processes."""
    for part in folder.glob(f".*{PART}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - part.stat().st_mtime > _STALE_S:
                part.unlink()
