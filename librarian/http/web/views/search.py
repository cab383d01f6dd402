"""The first page: a search with the reasons for its ranking, an answer, or the latest items."""

import asyncio
import unicodedata
from calendar import monthrange
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct
from starlette.responses import Response

from librarian.base.fields import Kind, MemoryType
from librarian.base.strictjson import convert
from librarian.http.endpoints import Call
from librarian.http.web.bars import WORDS, arm_ranks, bars, longest_share
from librarian.http.web.excerpts import excerpt
from librarian.http.web.forms import Form
from librarian.http.web.render import page, plain
from librarian.items.contracts import ItemList, ItemQuery, NamespaceOut
from librarian.search.contracts import AnswerInput, AnswerOutput, SearchInput, SearchOutput

KINDS: tuple[Kind, ...] = ("memory", "fact", "message", "file_chunk")
MOST_HITS = 50
_STEP = 10
_FACETS = ("kind", "type", "author", "domain", "month")
_MOST_SHOWN = 8
_MOST_NAMESPACES = 200
_Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]
_Counting: TypeAlias = asyncio.Future[dict[str, list[tuple[str, int]]]]


class SearchPage(Struct, forbid_unknown_fields=True, kw_only=True):
    """Fields of the search form; both days are inclusive. `ask` requests an answer above the hits."""

    q: str = ""
    ask: bool = False
    kinds: list[Kind] = []
    type: MemoryType | None = None
    author: str | None = None
    domain: str | None = None
    conversation: str | None = None
    after: _Day | None = None
    before: _Day | None = None
    limit: Annotated[int, Meta(ge=1)] = _STEP
    similar: bool = False
    cursor: str | None = None


async def show_search(call: Call[Form, SearchPage]) -> Response:
    """Find items and answer, or show the latest items without a query."""
    # Counts are awaited only to filter by author or to choose a namespace.
    counting = asyncio.ensure_future(call.librarian.items.traits(call.namespace))
    counts, found, answer, listed, others = await asyncio.gather(
        counting, _found(call, counting), _answer(call), _latest(call, counting), _namespaces(call, counting)
    )
    longest = longest_share(hit.explanation for hit in found.results) if found else 0.0
    hits = [
        (hit, bars(hit.explanation, longest), arm_ranks(hit.explanation), excerpt(plain(hit.content), call.query.q))
        for hit in (found.results if found else ())
        if hit.explanation is not None
    ]
    return page(
        call.request,
        "search.html",
        query=call.query,
        kinds=KINDS,
        counts=counts,
        facets=[
            (facet, [(value, items, _narrowed(facet, value)) for value, items in _shown(facet, counts[facet])])
            for facet in _FACETS
            if counts.get(facet)
        ],
        found=found,
        hits=hits,
        answer=answer,
        listed=listed,
        others=others,
        signals=WORDS,
        more_hits=min(call.query.limit + _STEP, MOST_HITS),
        most_hits=MOST_HITS,
    )


def _shown(facet: str, counted: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the values with most items; for months, the latest ones, newest first."""
    return (sorted(counted, reverse=True) if facet == "month" else counted)[:_MOST_SHOWN]


async def _found(call: Call[Form, SearchPage], counting: _Counting) -> SearchOutput | None:
    if not call.query.q:
        return None
    query = {
        "queries": [call.query.q],
        "limit": min(call.query.limit, MOST_HITS),
        "adaptive_threshold": call.query.similar,
        "filters": await _filters(call.query, counting),
        "explain": True,
    }
    return await call.librarian.search(call.namespace, convert(query, SearchInput))


async def _answer(call: Call[Form, SearchPage]) -> AnswerOutput | None:
    if not (call.query.q and call.query.ask):
        return None
    return await call.librarian.answer(call.namespace, convert({"query": call.query.q}, AnswerInput))


async def _latest(call: Call[Form, SearchPage], counting: _Counting) -> ItemList | None:
    """Return the latest items; of a conversation the last turns, in order."""
    if call.query.q:
        return None
    query = {**await _filters(call.query, counting), "limit": min(call.query.limit, MOST_HITS), "order": "latest"}
    if call.query.cursor is not None:
        query["cursor"] = call.query.cursor
    listed = await call.librarian.list_items(call.namespace, convert(query, ItemQuery))
    if call.query.conversation:
        listed.items.reverse()
    return listed


async def _namespaces(call: Call[Form, SearchPage], counting: _Counting) -> list[NamespaceOut]:
    """Return the namespaces to choose from, if the key opens several or this one is empty."""
    if call.key is None or (call.key.only_namespace() and await counting):
        return []
    return (await call.librarian.namespaces(call.key.allows)).namespaces[:_MOST_NAMESPACES]


async def _filters(form: SearchPage, counting: _Counting) -> dict[str, Any]:
    authors = [author for author, _ in (await counting).get("author", ())] if form.author else []
    given = {
        "kinds": form.kinds,
        "types": form.type and [form.type],
        "authors": form.author and like(form.author, authors),
        "domain": form.domain,
        "conversation_id": form.conversation,
        "occurred_from": form.after and f"{form.after}T00:00:00Z",
        "occurred_to": form.before and f"{form.before}T23:59:59.999999Z",
    }
    return {name: value for name, value in given.items() if value}


def _narrowed(facet: str, value: str) -> dict[str, str]:
    """Return the fields of the form that keep the items of a facet's value."""
    if facet == "month":
        year, month = map(int, value.split("-"))
        return {"after": f"{value}-01", "before": f"{value}-{monthrange(year, month)[1]:02}"}
    return {"kinds" if facet == "kind" else facet: value}


def like(typed: str, authors: Sequence[str]) -> list[str]:
    """Return the authors that match the typed name: exact matches, else those whose name contains it.

    Case, width and accents are ignored. A name without a match stays as typed.
    """
    wanted = _plain(typed)
    called = [author for author in authors if _plain(author) == wanted]
    holding = [author for author in authors if wanted and wanted in _plain(author)]
    return called or holding or [typed]


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).strip()
