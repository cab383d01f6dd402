"""The HTTP application: routes, what happens around them, and the service that they share, from the lifespan."""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from librarian.http.middleware import BodyLimit, Deadline, Problems, RequestContext
from librarian.http.responses import routing_problem
from librarian.http.routes.health import healthz, readyz, show_metrics
from librarian.http.routes.items import get_item, post_items
from librarian.http.routes.search import post_search
from librarian.keys import KeyFile
from librarian.service import Librarian
from librarian.settings import HttpSettings

Connect = Callable[[], AbstractAsyncContextManager[Librarian]]

ROUTES = (
    Route("/healthz", healthz),
    Route("/readyz", readyz),
    Route("/metrics", show_metrics),
    Route("/v1/items", post_items, methods=["POST"]),
    Route("/v1/items/{uid:path}", get_item),
    Route("/v1/search", post_search, methods=["POST"]),
)


def build_app(http: HttpSettings, keys: KeyFile, connect: Connect) -> Starlette:
    """Make the application; `connect` opens the service at start-up and closes it at the end."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[dict[str, Any]]:
        async with connect() as librarian:
            yield {"librarian": librarian, "keys": keys}

    return Starlette(
        routes=ROUTES,
        middleware=[
            Middleware(RequestContext, patterns={route.endpoint: route.path for route in ROUTES}),
            Middleware(Problems),
            Middleware(BodyLimit, max_bytes=http.max_body_bytes),
            Middleware(Deadline, max_s=http.request_timeout_s),
        ],
        exception_handlers={HTTPException: routing_problem},
        lifespan=lifespan,
    )
