"""The Model Context Protocol over streamable HTTP, with the keys, limits and deadlines of all endpoints, and with
access tokens if an issuer is configured.

It is stateless: any replica may answer any request, and the key is checked each time. Answers are JSON, which costs
less than an event stream and allows headers known only when the work is done; tools that report progress are answered
by a stream. The server sends nothing unprompted, so GET is a 405. The SDK is heavy and loads with the first request.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from librarian.base.settings.settings import HttpSettings, OAuthSettings
from librarian.http.auth import authenticated, namespace_of
from librarian.http.bookmarks import catch_up
from librarian.http.limits import Limits
from librarian.http.oauth import tokens_of
from librarian.http.origins import refuse_other_sites
from librarian.mcp.server import Caller, mcp_server
from librarian.mcp.tools import TOOLS, OfferedTool, chosen_tools

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

MCP_PATH = "/mcp"
TOOLS_PARAMETER = "tools"
"""Query parameter that names the toolsets a client wants."""
_CALLER = "mcp_caller"
_TOOLS = {tool.name: tool for tool in TOOLS}


class _Params(msgspec.Struct, frozen=True):
    name: str = ""


class _Message(msgspec.Struct, frozen=True):
    """The members of a client's message that decide the form of its answer."""

    method: str = ""
    params: _Params = _Params()


class _Apps(NamedTuple):
    """The SDK's application, for both forms of answers."""

    plain: ASGIApp
    streaming: ASGIApp


class McpTransport:
    """The ASGI application at MCP_PATH; works inside `running`."""

    def __init__(self, http: HttpSettings, oauth: OAuthSettings) -> None:
        self._http = http
        self._tokens = tokens_of(oauth)
        self._manager: asyncio.Task[None] | None = None
        self._apps: asyncio.Future[_Apps] | None = None
        self._stopping = asyncio.Event()

    def routes(self) -> list[Route]:
        """Return its routes, including the metadata on accepted access tokens."""
        described = [] if self._tokens is None else self._tokens.metadata_routes()
        return [Route(MCP_PATH, self, methods=["POST"]), *described]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Stop the SDK's managers when the block ends."""
        try:
            yield
        finally:
            self._stopping.set()
            if self._manager is not None:
                await asyncio.wait([self._manager])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of a client whose key or access token opens a namespace."""
        request = Request(scope, receive)
        refuse_other_sites(request, self._http)
        key = await self._tokens.authenticated(request) if self._tokens else authenticated(request, "any")
        namespace = namespace_of(request, key)
        state = request.state
        toolsets = request.query_params.get(TOOLS_PARAMETER)
        tools = None if toolsets is None else chosen_tools(toolsets)
        scope["state"][_CALLER] = Caller(state.librarian, key, namespace, tools)
        limits: Limits = state.limits
        async with limits.capacity.slot():
            await catch_up(request, state.librarian)
            if self._apps is None:
                self._apps = asyncio.get_running_loop().create_future()
                self._manager = asyncio.create_task(self._manage(self._apps))
            apps = await asyncio.shield(self._apps)
            body = await request.body()
            tool = _called(body)
            if self._tokens and tool is not None:
                self._tokens.require(key, tool.scope)
            app = apps.streaming if tool is not None and tool.reports else apps.plain
            await app(scope, _again(body, receive), send)

    async def _manage(self, started: "asyncio.Future[_Apps]") -> None:
        """Hold the SDK's managers open, as the task that opened them must close them."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        server, most = mcp_server(_caller), self._http.max_body_bytes
        plain, streaming = (
            StreamableHTTPSessionManager(server, stateless=True, json_response=json, max_request_body_size=most)
            for json in (True, False)
        )
        async with plain.run(), streaming.run():
            started.set_result(_Apps(plain.handle_request, streaming.handle_request))
            await self._stopping.wait()


def _called(body: bytes) -> OfferedTool | None:
    """Return the tool that `body` calls, if any; the SDK answers unreadable bodies."""
    try:
        message = msgspec.json.decode(body, type=_Message)
    except (msgspec.DecodeError, RecursionError):
        return None
    return _TOOLS.get(message.params.name) if message.method == "tools/call" else None


def _again(body: bytes, receive: Receive) -> Receive:
    """Replays the body that was read, then receives further messages."""
    unread = True

    async def receive_again() -> Message:
        nonlocal unread
        if not unread:
            return await receive()
        unread = False
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


def _caller(ctx: "ServerRequestContext[Any, Any]") -> Caller:
    request: Any = ctx.request
    caller: Caller = request.scope["state"][_CALLER]
    return caller
