"""The HTTP application: routes, middleware, and the service that they share through the lifespan."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from librarian.app import Librarian
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import HttpSettings, OAuthSettings
from librarian.http.api import ENDPOINTS
from librarian.http.bookmarks import ReadYourWrites
from librarian.http.deadline import RequestDeadline
from librarian.http.endpoints import routes_of
from librarian.http.idempotency import forget_expired
from librarian.http.limits import KeptDues, Limits
from librarian.http.mcp import McpTransport
from librarian.http.middleware import BodyLimit, EarlyResponse, Problems, ReadableAddress, RequestContext, as_json
from librarian.http.responses import routing_problem
from librarian.http.routes.browser_pack import BROWSER_PACK_PREFLIGHT
from librarian.http.web.session import Sessions
from librarian.http.web.site import WEB_ROUTES, respond, respond_unrouted

Connect = Callable[[], AbstractAsyncContextManager[Librarian]]

NO_OAUTH = OAuthSettings()
ROUTES = [*routes_of(ENDPOINTS), BROWSER_PACK_PREFLIGHT]


def build_app(
    http: HttpSettings,
    keys: KeyFile,
    connect: Connect,
    sessions: Sessions | None = None,
    oauth: OAuthSettings = NO_OAUTH,
    dues: KeptDues | None = None,
) -> Starlette:
    """Create the application; `connect` opens the service at startup and closes it at shutdown.

    The web page needs `sessions`; `oauth` checks access tokens for MCP; `dues` holds the callers' rates, shared by the
    workers of one service.
    """
    limits = Limits(http, dues)
    mcp = McpTransport(http, oauth)
    routes = [*ROUTES, *mcp.routes(), *(WEB_ROUTES if sessions else ())]

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with connect() as librarian, mcp.running():
            forgetting = asyncio.create_task(forget_expired(librarian, http.changes_hours))
            yield {"librarian": librarian, "keys": keys, "limits": limits, "http": http, "sessions": sessions}
            forgetting.cancel()

    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(RequestContext, patterns={route.endpoint: route.path for route in routes}),
            Middleware(EarlyResponse),
            Middleware(ReadYourWrites),
            Middleware(Problems, respond=respond if sessions else as_json),
            Middleware(RequestDeadline, max_s=http.request_timeout_s),
            Middleware(ReadableAddress),
            Middleware(BodyLimit, max_bytes=http.max_body_bytes),
        ],
        exception_handlers={HTTPException: respond_unrouted if sessions else routing_problem},
        lifespan=lifespan,
    )
    app.state.limits, app.state.http = limits, http  # for the server, which closes the limits when it stops
    return app
