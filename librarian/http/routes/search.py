"""Search."""

from starlette.requests import Request
from starlette.responses import Response

from librarian.contracts.search import SearchInput
from librarian.http.auth import namespace_of
from librarian.http.requests import json_body
from librarian.http.responses import json_response


async def post_search(request: Request) -> Response:
    """Find items of the caller's namespace."""
    namespace = namespace_of(request, "read")
    query = await json_body(request, SearchInput)
    return json_response(await request.state.librarian.search(namespace, query))
