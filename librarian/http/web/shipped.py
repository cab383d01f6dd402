"""Scripts and styles of the pages, from files shipped with the package."""

import hashlib
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from librarian.base.errors import NotFound

_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "picture.js": "text/javascript; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "cytoscape.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_HEADERS = {
    # The address depends on the content, so that a new version has a new address.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


async def static_file(request: Request) -> Response:
    """Get a script or style sheet of the pages; they are open to everyone."""
    name: str = request.path_params["file"]
    if name not in _TYPES:
        raise NotFound("the pages have no such file")
    return Response(_content(name), headers={**_HEADERS, "Content-Type": _TYPES[name]})


STATIC_ROUTE = Route("/static/{file}", static_file, methods=["GET"])


@cache
def address_of(name: str) -> str:
    """Return the address of the file in a page."""
    return f"/static/{name}?{hashlib.sha256(_content(name)).hexdigest()[:12]}"


@cache
def _content(name: str) -> bytes:
    folder = "cytoscape" if name.startswith("cytoscape") else "web"
    return (files("librarian.http") / "static" / folder / name).read_bytes()
