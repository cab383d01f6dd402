"""The listening socket and uvicorn around the application."""

import contextlib
import errno
import signal
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from librarian.errors import SettingsError
from librarian.setting_values import is_loopback
from librarian.settings import HttpSettings

_BACKLOG = 2048
_DRAIN_S = 30


def listen(http: HttpSettings) -> socket.socket:
    """Bind the service's address. Raises SettingsError naming the setting to change."""
    if not is_loopback(http.host) and not http.allow_insecure_bind:
        raise SettingsError(
            f"The service speaks plain HTTP, so it does not listen on {http.host}.",
            field="LIBRARIAN_HOST",
            remedy="Put a TLS proxy in front of 127.0.0.1, or set LIBRARIAN_ALLOW_INSECURE_BIND=1.",
        )
    listening = socket.socket(socket.AF_INET6 if ":" in http.host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it. Without, head and body of an answer wait for each other: 40 ms a request (measured).
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind((http.host, http.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise _explained(http, error) from None
    return listening


class Server(uvicorn.Server):
    """uvicorn that ends orderly on SIGTERM and SIGINT: requests finish, the service is closed, the exit code is 0."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=_DRAIN_S)
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take both signals; unlike the original, do not raise them again when all is done."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _explained(http: HttpSettings, error: OSError) -> SettingsError:
    if error.errno == errno.EADDRINUSE:
        return SettingsError(
            f"Port {http.port} on {http.host} is taken by another program.",
            field="LIBRARIAN_PORT",
            remedy="Choose another one with LIBRARIAN_PORT or --port.",
        )
    return SettingsError(
        f"Cannot listen on {http.host} port {http.port}: {error.strerror}.",
        field="LIBRARIAN_HOST",
        remedy="Check LIBRARIAN_HOST and LIBRARIAN_PORT.",
    )
