"""The HTTP application: routes, what happens around them, and the service that they share, from the lifespan."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from librarian.http.api import ENDPOINTS
from librarian.http.endpoints import routes_of
from librarian.http.idempotency import forget_expired
from librarian.http.lifetime import Lifetime
from librarian.http.limits import Limits
from librarian.http.mcp import MCP_PATH, McpTransport
from librarian.http.middleware import BodyLimit, EarlyAnswers, Problems, RequestContext
from librarian.http.responses import routing_problem
from librarian.keys import KeyFile
from librarian.service import Librarian
from librarian.settings import HttpSettings

Connect = Callable[[], AbstractAsyncContextManager[Librarian]]

ROUTES = routes_of(ENDPOINTS)


def build_app(http: HttpSettings, keys: KeyFile, connect: Connect) -> Starlette:
    """Make the application; `connect` opens the service at start-up and closes it at the end."""
    limits = Limits(http)
    mcp = McpTransport(http)
    routes = [*ROUTES, Route(MCP_PATH, mcp)]

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with connect() as librarian, mcp.running():
            forgetting = asyncio.create_task(forget_expired(librarian))
            yield {"librarian": librarian, "keys": keys, "limits": limits, "http": http}
            forgetting.cancel()

    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(RequestContext, patterns={route.endpoint: route.path for route in routes}),
            Middleware(EarlyAnswers),
            Middleware(Problems),
            Middleware(Lifetime, max_s=http.request_timeout_s),
            Middleware(BodyLimit, max_bytes=http.max_body_bytes),
        ],
        exception_handlers={HTTPException: routing_problem},
        lifespan=lifespan,
    )
    app.state.limits = limits  # for the server, which closes them when it stops
    return app
