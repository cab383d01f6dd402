"""The listening socket and uvicorn around the application."""

import asyncio
import contextlib
import errno
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import HttpSettings
from librarian.base.settings.values import is_loopback
from librarian.http.limits import Limits
from librarian.http.tls import Certificate

_BACKLOG = 2048
_DRAIN_S = 30
_POLL_S = 0.05
_MAX_HEAD_BYTES = 64 * 1024
_SOCKET_MODE = 0o600
HEAD_TIMEOUT_S = 15.0
"""How long a client may take to send the headers of a request, from its connection on."""
_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def listen(http: HttpSettings) -> socket.socket:
    """Bind the service's address. Raises SettingsError naming the setting to change."""
    if not is_loopback(http.host) and not http.allow_insecure_bind and http.tls_cert is None:
        raise SettingsError(
            f"The service speaks plain HTTP, so it does not listen on {http.host}.",
            field="LIBRARIAN_HOST",
            remedy="Set LIBRARIAN_TLS_CERT and LIBRARIAN_TLS_KEY; or put a TLS proxy in front of it, and if that is "
            "not on this machine, set LIBRARIAN_ALLOW_INSECURE_BIND=1.",
        )
    listening = socket.socket(socket.AF_INET6 if ":" in http.host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it. Without it, headers and body of an answer delay each other: 40 ms per request (measured).
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listening.bind((http.host, http.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise _explained(http, error) from None
    return listening


class _Protocol(HttpToolsProtocol):
    """HTTP/1.1 with limits on the size and time of a request's headers, which the parser alone would collect without
    end. The time of a body counts against the request's deadline.
    """

    _head_bytes = 0
    _in_head = False
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes, self._in_head = 0, True
        self._await_head()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_came()
        super().on_headers_complete()

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self._hang_up)

    def _head_came(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _hang_up(self) -> None:
        if self._in_head:
            self.transport.write(_TIMED_OUT)
        self.transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > _MAX_HEAD_BYTES:
                self.send_400_response("The headers of the request are too large.")
                self._in_head = False


class Server(uvicorn.Server):
    """uvicorn with a graceful shutdown on the first SIGTERM or SIGINT, and an immediate one on the second.

    Graceful: no new connections, no new work on existing ones, running requests finish within the drain limit, the
    service is closed, the exit code is 0.
    """

    def __init__(self, app: Starlette) -> None:
        http: HttpSettings = app.state.http
        certificate = certificate_of(http)
        super().__init__(
            uvicorn.Config(
                app,
                http=_Protocol,
                log_config=None,
                access_log=False,
                lifespan="on",
                timeout_graceful_shutdown=_DRAIN_S,
                forwarded_allow_ips=list(http.trusted_proxies),
                ssl_context_factory=None if certificate is None else certificate.offered,
            )
        )
        self._certificate = certificate
        self._limits: Limits = app.state.limits
        self._commands: tuple[asyncio.Server, Path, int] | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal; adopt a certificate that is renewed meanwhile."""
        if self._certificate is None:
            await super().serve(sockets)
            return
        watching = asyncio.create_task(self._certificate.watch())
        try:
            await super().serve(sockets)
        finally:
            watching.cancel()

    async def listen_at(self, path: Path) -> None:
        """Also serve on a private Unix socket, without TLS, until shutdown, replacing another service's socket at
        `path`. Raises OSError, for instance if the path is too long for a socket.
        """
        scratch = path.with_name(f".{path.name}.{os.getpid()}")
        listening = socket.socket(socket.AF_UNIX)
        try:
            scratch.unlink(missing_ok=True)
            listening.bind(str(scratch))
            scratch.chmod(_SOCKET_MODE)
            inode = scratch.stat().st_ino
            scratch.replace(path)
        except OSError:
            listening.close()
            scratch.unlink(missing_ok=True)
            raise
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(self._protocol, sock=listening, backlog=_BACKLOG)
        self._commands = server, path, inode

    def _protocol(self) -> _Protocol:
        return _Protocol(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    def _leave_commands(self) -> None:
        """Close the socket of `listen_at`, and remove it unless another service has replaced it."""
        if self._commands is None:
            return
        server, path, inode = self._commands
        with contextlib.suppress(OSError):
            if path.stat().st_ino == inode:
                path.unlink()
        server.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the signature of a handler
        """Start the shutdown, or stop waiting for it."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests, then close the remaining connections.

        uvicorn alone would close idle connections first: /readyz could not be answered, and requests just sent would be
        lost.
        """
        ends_at = asyncio.get_running_loop().time() + _DRAIN_S
        self._limits.close()
        self._leave_commands()
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(ends_at):
                while self.server_state.tasks and not self.force_exit:
                    await asyncio.sleep(_POLL_S)
        left_s = ends_at - asyncio.get_running_loop().time()
        self.config.timeout_graceful_shutdown = max(1, round(left_s))
        await super().shutdown()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle both signals; unlike the original, do not raise them again at the end."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def certificate_of(http: HttpSettings) -> Certificate | None:
    """Return the service's certificate; None if it speaks plain HTTP. Raises SettingsError."""
    if http.tls_cert is None or http.tls_key is None:
        return None
    return Certificate(http.tls_cert, http.tls_key)


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
