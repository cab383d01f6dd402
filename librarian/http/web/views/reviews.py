"""Proposals to review, one edge with both of its ends, and decisions."""

import asyncio

from msgspec import Struct
from starlette.responses import RedirectResponse, Response

from librarian.base.fields import MemoryType
from librarian.base.strictjson import convert
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form, struct_of
from librarian.http.web.render import HEADERS, link, page
from librarian.http.web.views.changes import check_reads
from librarian.items.contracts import EdgeOut, ForgottenQuery, ItemList, ItemQuery
from librarian.sweep.contracts import ReviewInput, ReviewManyInput, ReviewQuery, ReviewSort, ReviewState

STATES: tuple[ReviewState, ...] = ("open", "unreviewed", "accepted", "rejected")
SORTS: tuple[ReviewSort, ...] = ("edge", "supersede", "flag", "merge", "fact")
TYPES: tuple[MemoryType, ...] = ("Pattern", "Decision", "Problem", "Insight", "Exception", "Reference", "Unknown")
_PAGE = 25


class ReviewsPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """The reviews to show."""

    state: ReviewState = "open"
    sort: ReviewSort | None = None
    because: str | None = None
    cursor: str | None = None


async def show_reviews(call: Call[Form, ReviewsPage]) -> Response:
    """List open proposals or decisions, and items that may restate something forgotten."""
    found, kinds, resembling = await asyncio.gather(
        call.librarian.list_reviews(call.namespace, _query(call.query, _PAGE)),
        call.librarian.list_review_reasons(call.namespace),
        _resembling(call),
    )
    return page(
        call.request,
        "reviews.html",
        query=call.query,
        found=found,
        kinds=kinds.reasons,
        resembling=resembling,
        states=STATES,
        sorts=SORTS,
        types=TYPES,
    )


async def _resembling(call: Call[Form, ReviewsPage]) -> ItemList:
    """Return the newest items that may also be worth forgetting, shown beside all open proposals."""
    shown = call.query
    asked = shown.state == "open" and not (shown.sort or shown.because or shown.cursor)
    if not asked or not (await call.librarian.list_forgotten(call.namespace, ForgottenQuery(limit=1))).forgotten:
        return ItemList(items=[], next_cursor=None)
    return await call.librarian.list_items(call.namespace, ItemQuery(resembling=True, limit=_PAGE))


async def decide_review(call: Call[Form, ReviewsPage]) -> Response:
    """Accept or reject a proposal, possibly revising a decision, and return to the list."""
    decision = dict(call.body)
    review_id = decision.pop("review_id", "")
    done = await call.librarian.review(call.namespace, review_id, struct_of(decision, ReviewInput))
    return _listed(call, done.review.state)


async def decide_many(call: Call[Form, ReviewsPage]) -> Response:
    """Preview a decision on several proposals, or carry it out with the preview's token."""
    check_reads(call)
    shown = call.query
    kept = {"because": shown.because, "sorts": shown.sort and [shown.sort], "states": [shown.state]}
    given = struct_of({**{name: value for name, value in kept.items() if value}, **call.body}, ReviewManyInput)
    done = await call.librarian.review_many(call.namespace, given)
    if done.confirm_token is None and not done.refused:
        return _listed(call, "decided")
    return page(call.request, "review_many.html", query=shown, given=given, done=done)


def _listed(call: Call[Form, ReviewsPage], said: str) -> Response:
    shown = call.query
    where = link(call.namespace, "/reviews", state=shown.state, sort=shown.sort, because=shown.because, said=said)
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
    """Accept or reject an edge, and show the result."""
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
    given = {
        "sorts": shown.sort and [shown.sort],
        "states": [shown.state],
        "because": shown.because,
        "cursor": shown.cursor,
    }
    return convert({**{name: value for name, value in given.items() if value}, "limit": limit}, ReviewQuery)
