"""A keeper's report about its server (state.json), and its instructions for starting one (launch.json)."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from graph.local.home import write_secret


class Phase(StrEnum):
    """Phase of a managed server."""

    STOPPED = "stopped"
    STARTING = "starting"
    RECOVERING = "recovering"
    READY = "ready"
    STOPPING = "stopping"
    FAILED = "failed"


RUNNING_PHASES = frozenset({Phase.STARTING, Phase.RECOVERING, Phase.READY})
"""Phases in which a missing keeper has crashed, so that someone must take over."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """A keeper's report. Only the holder of keeper.lock writes it; everyone else reads.

    `pid_started` is the start time of the process (psutil's create_time): a process id alone may have been reused.
    `clean` tells whether the store was last closed by an orderly stop.
    """

    phase: Phase = Phase.STOPPED
    keeper_pid: int | None = None
    pid: int | None = None
    pid_started: float | None = None
    bolt_port: int | None = None
    http_port: int | None = None
    version: str = ""
    java: str = ""
    clean: bool = False
    error: str = ""
    log_tail: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """A keeper's instructions: jar folder and version, JVM, memory in MB, ports (None: the usual or any free one),
    whether the graph is read-only, and the JVM's description of its build.
    """

    jars: str
    version: str
    java: str
    java_major: int
    has_vector_module: bool
    heap_mb: int
    pagecache_mb: int
    bolt_port: int | None
    http_port: int | None
    read_only: bool = False
    java_build: str = ""


def read_state(path: Path) -> ServerState:
    """Return the last state; a home without a readable one has no running server."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        return ServerState(**{**fields, "phase": Phase(fields["phase"])})
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return ServerState()


def write_state(path: Path, state: ServerState) -> None:
    """Replace the state file in one step."""
    write_secret(path, json.dumps(asdict(state), indent=1))


def read_launch(path: Path) -> Launch:
    """Return the instructions that the last user wrote."""
    return Launch(**json.loads(path.read_text(encoding="utf-8")))


def write_launch(path: Path, launch: Launch) -> None:
    """Write the instructions."""
    write_secret(path, json.dumps(asdict(launch), indent=1))
