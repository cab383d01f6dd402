"""The questions of the search page, without a graph."""

import asyncio
from types import SimpleNamespace

import pytest

from librarian.http.web.views import search
from librarian.http.web.views.search import SearchPage, show_search


@pytest.fixture
def asked(monkeypatch):
    """Shows the page over a librarian whose counts come only when a search or listing has begun; gives its values."""
    monkeypatch.setattr(search, "page", lambda _request, _template, **values: values)

    async def run(query: SearchPage, *, patient: bool = True) -> dict[str, object]:
        begun, sent = asyncio.Event(), []

        async def traits(_namespace):
            if patient:
                await asyncio.wait_for(begun.wait(), 5)
            return {"author": [("In\u00eas Duarte", 3)], "kind": [("message", 3)]}

        async def answer(_namespace, what):
            sent.append(what)
            begun.set()
            if hasattr(what, "queries"):
                return SimpleNamespace(results=[])
            return SimpleNamespace(items=[], next_cursor=None)

        items = SimpleNamespace(traits=traits)
        librarian = SimpleNamespace(items=items, search=answer, list_items=answer)
        call = SimpleNamespace(librarian=librarian, namespace="n", key=None, query=query, request=None)
        return {**await show_search(call), "sent": sent}

    return run


@pytest.mark.parametrize("query", [SearchPage(), SearchPage(q="deploy"), SearchPage(q="deploy", domain="billing")])
async def test_counts_and_hits_are_asked_for_at_the_same_time(asked, query):
    """Neither waits for the other."""
    shown = await asked(query)
    assert shown["counts"]["kind"] == [("message", 3)]
    assert len(shown["sent"]) == 1


async def test_an_author_is_looked_up_among_those_there_are(asked):
    """By any part of the name."""
    shown = await asked(SearchPage(q="deploy", author="ines"), patient=False)
    assert shown["sent"][0].filters.authors == ["In\u00eas Duarte"]
