"""The first page: a search with the reasons for its order, or what came in last."""

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from librarian.base.fields import Kind
from librarian.base.strictjson import convert
from librarian.http.endpoints import Call
from librarian.http.web.bars import arm_ranks, bars, longest_share
from librarian.http.web.forms import Form
from librarian.http.web.render import page
from librarian.items.contracts import ItemQuery
from librarian.search.contracts import SearchInput

KINDS: tuple[Kind, ...] = ("memory", "fact", "message", "file_chunk")
_Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]


class SearchPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """What the search form asks for; both days are included."""

    q: str = ""
    kinds: list[Kind] = []
    author: str | None = None
    domain: str | None = None
    after: _Day | None = None
    before: _Day | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    similar: bool = False
    cursor: str | None = None


async def show_search(call: Call[Form, SearchPage]) -> Response:
    """Find items, or show the newest ones where nothing is form."""
    if not call.query.q:
        return await _show_newest(call)
    query = {
        "queries": [call.query.q],
        "limit": call.query.limit,
        "adaptive_threshold": call.query.similar,
        "filters": _filters(call.query),
        "explain": True,
    }
    found = await call.librarian.search(call.namespace, convert(query, SearchInput))
    longest = longest_share(hit.explanation for hit in found.results)
    hits = [
        (hit, bars(hit.explanation, longest), arm_ranks(hit.explanation))
        for hit in found.results
        if hit.explanation is not None
    ]
    return page(call.request, "search.html", query=call.query, kinds=KINDS, found=found, hits=hits)


async def _show_newest(call: Call[Form, SearchPage]) -> Response:
    query = {**_filters(call.query), "limit": call.query.limit}
    if call.query.cursor is not None:
        query["cursor"] = call.query.cursor
    listed = await call.librarian.list_items(call.namespace, convert(query, ItemQuery))
    return page(call.request, "search.html", query=call.query, kinds=KINDS, found=None, listed=listed)


def _filters(form: SearchPage) -> dict[str, Any]:
    given = {
        "kinds": form.kinds,
        "authors": form.author and [form.author],
        "domain": form.domain,
        "occurred_from": form.after and f"{form.after}T00:00:00Z",
        "occurred_to": form.before and f"{form.before}T23:59:59.999999Z",
    }
    return {name: value for name, value in given.items() if value}
