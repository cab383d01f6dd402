"""Why not."""

from starlette.responses import Response

from librarian.contracts.why_not import WhyNotInput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def why_not(call: Call[WhyNotInput, None]) -> Response:
    """Say why a search does not show an item.

    Send the search as it was made, with the item's uid: a filter, the limit, a duplicate, a missing vector or better
    hits may keep it out. The answer holds the item's rank in each arm.
    """
    return json_response(await call.librarian.why_not(call.namespace, call.body))
