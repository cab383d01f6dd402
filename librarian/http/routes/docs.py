"""The documentation: the OpenAPI document, and a page that renders it, from files shipped with the package."""

from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

import msgspec
from starlette.responses import Response

from librarian.base.errors import NotFound
from librarian.http.endpoints import Call, Endpoint
from librarian.http.openapi import document

_TYPES = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "init.js": "text/javascript; charset=utf-8",
}
# The page runs its own scripts and talks to its own origin alone; its icons are data: URLs in the style sheet.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def documentation_of(operations: Sequence[Endpoint[Any, Any]]) -> tuple[Endpoint[Any, Any], ...]:
    """Return the endpoints of the documentation of `operations`; they are open and not documented themselves."""

    @cache
    def encoded() -> bytes:
        return msgspec.json.encode(document(operations))

    async def openapi(_call: Call[None, None]) -> Response:
        """Get the OpenAPI document."""
        return Response(encoded(), headers=_HEADERS, media_type="application/json")

    opened = partial(Endpoint, method="GET", scope=None, answers={200: None})
    return (
        opened(path="/openapi.json", handler=openapi),
        opened(path="/docs", handler=show_docs),
        opened(path="/docs/{file}", handler=docs_file),
    )


async def show_docs(_call: Call[None, None]) -> Response:
    """Show the documentation page."""
    return Response(_shipped("index.html"), headers=_HEADERS, media_type="text/html")


async def docs_file(call: Call[None, None]) -> Response:
    """Get a script or style sheet of the documentation page."""
    name = call.path("file")
    if name not in _TYPES:
        raise NotFound("the documentation has no such file")
    headers = {**_HEADERS, "Content-Type": _TYPES[name], "Cache-Control": "max-age=3600"}
    return Response(_shipped(name), headers=headers)


@cache
def _shipped(name: str) -> bytes:
    folder = files("librarian.http") / "static"
    inside = folder / "swagger-ui" if name.startswith("swagger-ui") else folder
    return (inside / name).read_bytes()
