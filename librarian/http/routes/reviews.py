"""Reviews of what sweeps propose."""

from starlette.responses import Response

from librarian.contracts.reviews import ReviewInput, ReviewQuery
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def list_reviews(call: Call[None, ReviewQuery]) -> Response:
    """List what sweeps propose and nobody has decided, or what was decided, page by page.

    Edges come first, then memories whose type nobody can tell (`flag`) and memories that say the same (`merge`).
    """
    return json_response(await call.librarian.list_reviews(call.namespace, call.query))


async def post_review(call: Call[ReviewInput, None]) -> Response:
    """Accept or reject what is proposed.

    An accepted edge gets its real type, a rejected one is kept as a rejected proposal; an accepted flag gives the
    memory its type; an accepted merge lets the fuller memory take over what hangs on the other one. No sweep changes a
    decision. The same decision again changes nothing, another one is a 409.
    """
    return json_response(await call.librarian.review(call.namespace, call.path("review_id"), call.body))
