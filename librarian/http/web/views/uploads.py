"""Uploads: a preview of a file's contents before they are kept, and an undo."""

import asyncio
from typing import cast

import msgspec
from starlette.responses import Response

from librarian.base import strictjson
from librarian.base.errors import InvalidInput, PayloadTooLarge
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form, Upload
from librarian.http.web.render import page
from librarian.http.web.views.changes import check_reads
from librarian.items.contracts import IngestReport, ItemIn
from librarian.items.importers.registry import AUTO, FORMATS, rows_of
from librarian.items.uploads import Step

MOST_ITEMS = 200
_ITEM = cast("type[ItemIn]", ItemIn)  # a union of classes decodes like one
_MOST_UNPACKED_BYTES = 32 * 2**20
_NOTES = (".md", ".markdown", ".txt")


async def show_upload(call: Call[Form, None]) -> Response:
    """Ask for a file."""
    check_reads(call)
    return page(call.request, "upload.html", most=MOST_ITEMS, formats=sorted(FORMATS))


async def preview_upload(call: Call[Upload, None]) -> Response:
    """Preview the contents of the file and the effect of keeping them."""
    check_reads(call)
    rows, report = await _read(call.body)
    upcoming = await call.librarian.items.look_at(call.namespace, rows)
    return page(
        call.request,
        "upload_preview.html",
        filename=call.body.filename,
        upcoming=upcoming,
        changes=any(entry.outcome != "unchanged" for entry in upcoming),
        report=report,
        rows=msgspec.json.encode(rows).decode(),
    )


async def keep_upload(call: Call[Upload, None]) -> Response:
    """Keep the previewed items, and offer an undo."""
    check_reads(call)
    rows = strictjson.decode(call.body.fields.get("rows", "").encode(), list[ItemIn])
    report, steps = await call.librarian.items.keep_rows(call.namespace, rows)
    back = msgspec.json.encode(steps).decode() if steps else ""
    return page(call.request, "uploaded.html", report=report, steps=steps, back=back)


async def undo_upload(call: Call[Upload, None]) -> Response:
    """Undo keeping the items, except those changed since."""
    steps = strictjson.decode(call.body.fields.get("steps", "").encode(), list[Step])
    stay = await call.librarian.items.take_back(call.namespace, steps)
    return page(call.request, "uploaded.html", report=None, steps=steps, back="", stay=stay)


async def _read(upload: Upload) -> tuple[list[ItemIn], IngestReport]:
    """Return the items of a file, and a report on its unreadable records."""
    if not upload.content:
        raise InvalidInput("choose a file that is not empty", field="file")
    format_name = "markdown" if upload.filename.lower().endswith(_NOTES) else AUTO
    found = await asyncio.to_thread(
        rows_of, format_name, upload.content, upload.filename, max_total_bytes=_MOST_UNPACKED_BYTES
    )
    rows: list[ItemIn] = []
    async for _, line in found.lines():
        rows.append(strictjson.decode(line, _ITEM))
        if len(rows) > MOST_ITEMS:
            raise PayloadTooLarge(
                f"The file holds more than {MOST_ITEMS} items.", remedy="`librarian ingest FILE` takes larger ones."
            )
    report = IngestReport()
    found.complete(report)
    return rows, report
