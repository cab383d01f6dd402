"""Sends one request to the service of this home over its Unix socket, without the weight of a full client."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

from librarian.client import protocol
from librarian.client.errors import ApiError
from librarian.client.verbs import Reply, Request

T = TypeVar("T")

_HOST = "localhost"
_TIMEOUT_S = 60.0


def is_own_socket(path: Path) -> bool:
    """Return whether a socket of this user exists at `path`, even if nobody listens there any longer."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and path.is_socket()


def outcome_at(path: Path, api_key: str, request: Request[T]) -> T | ApiError:
    """Return the answer of the service at the socket `path`, or the error ServiceUnreachable.

    Blocks the event loop, if there is one; Ctrl-C ends the wait.
    """
    target = f"{request.path}?{urlencode(request.params)}" if request.params else request.path
    try:
        with contextlib.closing(_Connection(path)) as connection, _interruptible():
            connection.request(request.method, target, request.body, protocol.headers_of(request, api_key))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            reply = Reply(response.status, headers, response.read())
    except (OSError, HTTPException) as error:
        return protocol.unreachable(str(path), error)
    return protocol.outcome_of(request, reply)


class _Connection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__(_HOST, timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(_TIMEOUT_S)
        self.sock.connect(str(self._path))


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the wait at once; an event loop's handler would only schedule it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
