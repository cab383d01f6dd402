"""Readers of requests for routes."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, TypeVar

from starlette.requests import Request

from librarian.app import Librarian
from librarian.base import strictjson
from librarian.base.errors import InvalidInput, NotReady, PayloadTooLarge, UnsupportedMediaType
from librarian.base.lines import numbered_lines

T = TypeVar("T")
Rows = AsyncIterator[tuple[int, bytes]]

JSON = "application/json"
NDJSON = ("application/x-ndjson", "application/ndjson", "application/jsonl")
# Accepted content types of an upload; its bytes decide on the format.
FILES = ("application/octet-stream", "application/zip", JSON)
PATCHES = ("application/merge-patch+json", JSON)
_ETAG = re.compile(r'"[0-9]{1,15}"')
# The answer must be sent before the deadline ends the request.
_MARGIN_S = 0.25


async def ready_librarian(request: Request) -> Librarian:
    """Return the service once it is ready, waiting up to the request's deadline. Raises NotReady, or a defect that
    prevents readiness.
    """
    librarian: Librarian = request.state.librarian
    try:
        async with asyncio.timeout_at(request.state.clock.ends_at - _MARGIN_S):
            await librarian.lifecycle.ready(patient=False)
    except TimeoutError:
        readiness = await librarian.readiness()
        raise NotReady(f"The graph is not ready yet: {readiness.phase}.", phase=readiness.phase) from None
    return librarian


async def json_body(request: Request, type_: type[T]) -> T:
    """Return the body as a value of `type_`. Raises InvalidInput, PayloadTooLarge or UnsupportedMediaType."""
    _expect(request, (JSON,))
    return strictjson.decode(await request.body(), type_, most_chars=_most_chars(request))


async def merge_patch(request: Request) -> dict[str, Any]:
    """Return the body as a JSON merge patch (RFC 7396). Raises InvalidInput, PayloadTooLarge or
    UnsupportedMediaType.
    """
    _expect(request, PATCHES)
    return strictjson.decode(await request.body(), dict[str, Any], most_chars=_most_chars(request))


async def file_body(request: Request) -> bytes:
    """Return the raw body, whatever its content type."""
    return await request.body()


async def rows(request: Request) -> Rows:
    """Return rows with their numbers from 1: elements of a JSON array, one object, or lines of an NDJSON stream.

    A stream is read lazily. Raises InvalidInput, PayloadTooLarge or UnsupportedMediaType.
    """
    if _expect(request, (JSON, *NDJSON)) in NDJSON:
        return numbered_lines(request.stream())
    elements = list(strictjson.elements(await request.body()))
    most = request.state.http.max_batch_rows
    if len(elements) > most:
        raise PayloadTooLarge(
            f"The array holds {len(elements)} rows; {most} are the most (LIBRARIAN_MAX_BATCH_ROWS).",
            field="$",
            remedy=f"Send them as {NDJSON[0]}, one row per line, which has no such limit.",
        )
    return _numbered(elements)


def if_match(request: Request) -> int | None:
    """Return the version to change from If-Match; None if any will do. Raises InvalidInput."""
    sent = request.headers.get("if-match", "*").strip()
    if sent == "*":
        return None
    if not _ETAG.fullmatch(sent):
        raise InvalidInput('it must be the ETag of one item, such as "3"', field="If-Match")
    return int(sent.strip('"'))


def _most_chars(request: Request) -> int:
    librarian: Librarian = request.state.librarian
    return librarian.settings.max_text_chars


async def _numbered(elements: Iterable[bytes]) -> Rows:
    for number, element in enumerate(elements, start=1):
        yield number, element


def _expect(request: Request, accepted: Sequence[str]) -> str:
    sent = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if sent not in accepted:
        raise UnsupportedMediaType(
            f"The content type {sent[:100]!r} is not accepted here.", remedy=f"Send one of: {', '.join(accepted)}."
        )
    return sent
