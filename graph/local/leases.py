"""Leases: who uses the server.

A lease is a file that its user keeps locked, so it ends with the user, kill -9 included.
"""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from graph.local.filelock import is_held, try_acquire

_SUFFIX = ".lease"


@dataclass(frozen=True, slots=True)
class LeaseInfo:
    """Holder of a lease, its purpose, and for how many seconds after its end the server stays up."""

    pid: int
    purpose: str
    linger_s: float


@dataclass(frozen=True, slots=True)
class Census:
    """The leases at one moment: those held, and those whose users have gone since they were last collected."""

    held: tuple[LeaseInfo, ...]
    ended: tuple[LeaseInfo, ...]


def take(folder: Path, info: LeaseInfo) -> int:
    """Create a lease; closing the returned descriptor ends it."""
    name = f"{info.pid}-{secrets.token_hex(4)}"
    scratch = folder / f"{name}.new"
    scratch.touch(mode=0o600)
    descriptor = try_acquire(scratch)
    if descriptor is None:  # a fresh random name: nobody else can hold it
        raise AssertionError(scratch)
    os.write(descriptor, json.dumps(asdict(info)).encode())
    # It gets its real name only when locked, otherwise a keeper could take it for an ended one.
    scratch.rename(folder / f"{name}{_SUFFIX}")
    return descriptor


def count(folder: Path) -> tuple[LeaseInfo, ...]:
    """Return the leases held now; changes nothing."""
    return tuple(info for path, info in _files(folder) if is_held(path))


def collect(folder: Path) -> Census:
    """Return the current leases; ended ones are removed, so each is reported once. For the keeper only."""
    held: list[LeaseInfo] = []
    ended: list[LeaseInfo] = []
    for path, info in _files(folder):
        if is_held(path):
            held.append(info)
        else:
            path.unlink(missing_ok=True)
            ended.append(info)
    return Census(tuple(held), tuple(ended))


def _files(folder: Path) -> list[tuple[Path, LeaseInfo]]:
    return [(path, _read(path)) for path in folder.glob(f"*{_SUFFIX}")]


def _read(path: Path) -> LeaseInfo:
    try:
        return LeaseInfo(**json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):  # collected meanwhile, or torn by a full disk
        return LeaseInfo(0, "unknown", 0.0)
