"""Proposals to review, one edge with both of its ends, and decisions."""

import asyncio

from msgspec import Struct
from starlette.responses import RedirectResponse, Response

from librarian.base.fields import MemoryType
from librarian.base.strictjson import convert
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form, struct_of
from librarian.http.web.render import HEADERS, link, page
from librarian.items.contracts import EdgeOut
from librarian.sweep.contracts import ReviewInput, ReviewQuery, ReviewSort, ReviewState

STATES: tuple[ReviewState, ...] = ("open", "unreviewed", "accepted", "rejected")
SORTS: tuple[ReviewSort, ...] = ("edge", "flag", "merge")
TYPES: tuple[MemoryType, ...] = ("Pattern", "Decision", "Problem", "Insight", "Exception", "Reference", "Unknown")
_PAGE = 25


class ReviewsPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """Which reviews to show."""

    state: ReviewState = "open"
    sort: ReviewSort | None = None
    cursor: str | None = None


async def show_reviews(call: Call[Form, ReviewsPage]) -> Response:
    """List what sweeps propose, or what was decided."""
    found = await call.librarian.list_reviews(call.namespace, _query(call.query, _PAGE))
    return page(call.request, "reviews.html", query=call.query, found=found, states=STATES, sorts=SORTS, types=TYPES)


async def decide_review(call: Call[Form, ReviewsPage]) -> Response:
    """Accept or reject a flag or merge, and go back to the list."""
    decision = dict(call.body)
    review_id = decision.pop("review_id", "")
    done = await call.librarian.review(call.namespace, review_id, struct_of(decision, ReviewInput))
    where = link(call.namespace, "/reviews", state=call.query.state, sort=call.query.sort, said=done.review.state)
    return RedirectResponse(where, 303, HEADERS)


async def show_edge(call: Call[Form, None]) -> Response:
    """Show an edge with its quotes and both ends."""
    edge = await call.librarian.get_edge(call.namespace, call.path("edge_id"))
    source, target, waiting = await asyncio.gather(
        call.librarian.get_item(call.namespace, edge.source),
        call.librarian.get_item(call.namespace, edge.target),
        call.librarian.list_reviews(call.namespace, _query(ReviewsPage(sort="edge"), 2)),
    )
    following = next((review.review_id for review in waiting.reviews if review.review_id != edge.edge_id), "")
    return page(
        call.request,
        "edge.html",
        edge=edge,
        source=source,
        target=target,
        decided=_is_decided(edge),
        following=following,
    )


async def decide_edge(call: Call[Form, None]) -> Response:
    """Accept or reject an edge, and show it as it stands then."""
    edge_id = call.path("edge_id")
    done = await call.librarian.review(call.namespace, edge_id, struct_of(call.body, ReviewInput))
    said = "contradicts" if done.notes else done.review.state
    return RedirectResponse(link(call.namespace, f"/edges/{edge_id}", said=said), 303, HEADERS)


def _is_decided(edge: EdgeOut) -> bool:
    """Return whether a human has drawn, accepted or rejected it."""
    if edge.state == "accepted":
        return edge.method == "human" or edge.reviewed_by is not None
    return edge.state == "rejected"


def _query(shown: ReviewsPage, limit: int) -> ReviewQuery:
    given = {"sorts": shown.sort and [shown.sort], "states": [shown.state], "cursor": shown.cursor}
    return convert({**{name: value for name, value in given.items() if value}, "limit": limit}, ReviewQuery)
