"""Search."""

from starlette.responses import Response

from librarian.contracts.search import SearchInput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def search(call: Call[SearchInput, None]) -> Response:
    """Find items by meaning and by words.

    1 to 20 queries are fused into one ranking. `arms` says what each arm of the search did.
    """
    return json_response(await call.librarian.search(call.namespace, call.body))
