"""The Model Context Protocol over streamable HTTP, by the same keys, limits and deadlines as everything else.

Every request stands alone: no session is kept, so that any replica may answer any request and a key is asked for each
time. The SDK is heavy, so that it loads with the first request.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from librarian.http.auth import authenticated, namespace_of
from librarian.http.bookmarks import catch_up
from librarian.http.limits import Limits
from librarian.mcp_server import Caller, mcp_server
from librarian.settings import HttpSettings

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

MCP_PATH = "/mcp"
_CALLER = "mcp_caller"


class McpTransport:
    """The ASGI application at MCP_PATH; works inside `running`."""

    def __init__(self, http: HttpSettings) -> None:
        self._http = http
        self._manager: asyncio.Task[None] | None = None
        self._app: asyncio.Future[ASGIApp] | None = None
        self._stopping = asyncio.Event()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ends what the first request began."""
        try:
            yield
        finally:
            self._stopping.set()
            if self._manager is not None:
                await asyncio.wait([self._manager])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of a client whose key opens a namespace."""
        request = Request(scope)
        key = authenticated(request, "any")
        namespace = namespace_of(request, key)
        state = request.state
        scope["state"][_CALLER] = Caller(state.librarian, key, namespace)
        limits: Limits = state.limits
        async with limits.capacity.slot():
            await catch_up(request, state.librarian)
            app = await self._started()
            await app(scope, receive, send)

    async def _started(self) -> ASGIApp:
        if self._app is None:
            self._app = asyncio.get_running_loop().create_future()
            self._manager = asyncio.create_task(self._manage(self._app))
        return await asyncio.shield(self._app)

    async def _manage(self, started: "asyncio.Future[ASGIApp]") -> None:
        """Holds the SDK's manager open: it must be closed by the task that opened it."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            mcp_server(_caller), stateless=True, max_request_body_size=self._http.max_body_bytes
        )
        running: AbstractAsyncContextManager[None] = manager.run()
        async with running:
            started.set_result(manager.handle_request)
            await self._stopping.wait()


def _caller(ctx: "ServerRequestContext[Any, Any]") -> Caller:
    request: Any = ctx.request
    caller: Caller = request.scope["state"][_CALLER]
    return caller
