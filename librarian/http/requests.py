"""What routes read from a request."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from starlette.requests import Request

from librarian import strictjson
from librarian.errors import NotReady, UnsupportedMediaType
from librarian.lines import numbered_lines
from librarian.service import Librarian

T = TypeVar("T")
Rows = AsyncIterator[tuple[int, bytes]]

_JSON = "application/json"
_NDJSON = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
# The answer must leave before the deadline itself ends the request.
_MARGIN_S = 0.25


async def ready_librarian(request: Request) -> Librarian:
    """The service, once it is ready; waits as long as the request may last. Raises NotReady, or why it cannot be."""
    librarian: Librarian = request.state.librarian
    try:
        async with asyncio.timeout_at(request.state.deadline - _MARGIN_S):
            await librarian.ready()
    except TimeoutError:
        readiness = await librarian.readiness()
        raise NotReady(f"The graph is not ready yet: {readiness.phase}.", phase=readiness.phase) from None
    return librarian


async def json_body(request: Request, type_: type[T]) -> T:
    """The body as a value of `type_`. Raises InvalidInput or UnsupportedMediaType."""
    _expect(request, frozenset({_JSON}))
    return strictjson.decode(await request.body(), type_)


async def rows(request: Request) -> Rows:
    """Rows with their numbers from 1: elements of a JSON array, one object, or lines of an NDJSON stream.

    A stream is read as the rows are asked for. Raises InvalidInput or UnsupportedMediaType.
    """
    if _expect(request, _NDJSON | {_JSON}) in _NDJSON:
        return numbered_lines(request.stream())
    return _numbered(strictjson.elements(await request.body()))


async def _numbered(elements: Iterable[bytes]) -> Rows:
    for number, element in enumerate(elements, start=1):
        yield number, element


def _expect(request: Request, known: frozenset[str]) -> str:
    sent = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
    if sent not in known:
        raise UnsupportedMediaType(
            f"The content type {sent[:100]!r} is not read here.", remedy=f"Send one of: {', '.join(sorted(known))}."
        )
    return sent
