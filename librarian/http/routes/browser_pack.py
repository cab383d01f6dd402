"""The pack for Neo4j Browser: a style, saved queries and a guide.

It is open to everyone and to pages of every origin: the files are the same for all and contain nothing from the graph.
Running their queries takes the database's password.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from librarian.analyst.browser_pack.pack import GUIDE_FILE, PACK_FILES, PACK_PATH, QUERIES_FILE, STYLE_FILE, pack_file
from librarian.analyst.contracts import PackQuery
from librarian.base.errors import NotFound
from librarian.http.endpoints import Call, Endpoint

_TYPES = {
    STYLE_FILE: "text/plain; charset=utf-8",
    GUIDE_FILE: "text/html; charset=utf-8",
    QUERIES_FILE: "application/zip",
}
# The Browser is a page of the database's origin.
_CORS = {"Access-Control-Allow-Origin": "*"}
_HEADERS = {
    **_CORS,
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def browser_pack_file(call: Call[None, PackQuery]) -> Response:
    """Get a file of the pack for Neo4j Browser."""
    name = call.path("file")
    if name not in PACK_FILES:
        raise NotFound("the pack has no such file")
    base_url = str(call.request.base_url).rstrip("/")
    namespace = call.query.namespace or call.librarian.settings.namespace
    content = pack_file(name, base_url=base_url, namespace=namespace)
    return Response(content, headers={**_HEADERS, "Content-Type": _TYPES[name]})


async def allow_browser_pack(request: Request) -> Response:
    """Answer a page's preflight: it may only get the files of the pack.

    The Browser adds headers of its own for caching and tracing, which differ between its versions; none has an effect
    here, so all are allowed.
    """
    allowed = {
        **_CORS,
        "Access-Control-Allow-Methods": "GET",
        "Access-Control-Max-Age": "600",
        "Vary": "Access-Control-Request-Headers",
    }
    if wanted := request.headers.get("access-control-request-headers"):
        allowed["Access-Control-Allow-Headers"] = wanted
    return Response(status_code=204, headers=allowed)


BROWSER_PACK: Endpoint[None, PackQuery] = Endpoint(
    method="GET",
    path=f"{PACK_PATH}/{{file}}",
    handler=browser_pack_file,
    scope=None,
    query=PackQuery,
    answers={200: None},
    errors=(NotFound,),
)

BROWSER_PACK_PREFLIGHT = Route(BROWSER_PACK.path, allow_browser_pack, methods=["OPTIONS"])
