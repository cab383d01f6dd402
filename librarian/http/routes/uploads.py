"""Uploads: rows, exports of other programs, items at a version, files."""

import asyncio

from starlette.responses import Response

from librarian.files.contracts import PutFileQuery
from librarian.http.endpoints import Call
from librarian.http.requests import Rows, if_match
from librarian.http.responses import item_response, json_response, report_response
from librarian.items.contracts import ImportQuery, IngestQuery, ItemIn
from librarian.items.importers.registry import rows_of
from librarian.operations import visible_to


async def ingest(call: Call[Rows, IngestQuery]) -> Response:
    """Store rows as they arrive."""
    report = await call.librarian.items.ingest(
        call.body, namespace=call.namespace, even_if_forgotten=call.query.even_if_forgotten, on_progress=call.progressed
    )
    return report_response(report)


async def post_import(call: Call[bytes, ImportQuery]) -> Response:
    """Import an export of another program.

    The body is the file itself, or a zip archive of a folder. Importing an export again changes nothing, a later one
    adds the changes; the report names each record that could not be read.
    """
    rows = await asyncio.to_thread(rows_of, call.path("format"), call.body, call.query.filename)
    report = await call.librarian.items.ingest(
        rows.lines(),
        namespace=call.namespace,
        even_if_forgotten=call.query.even_if_forgotten,
        on_progress=call.progressed,
    )
    rows.complete(report)
    return report_response(report)


async def put_item(call: Call[ItemIn, None]) -> Response:
    """Create or replace one item; the answer is the item, with the outcome in a header."""
    version = if_match(call.request)
    put = await call.librarian.items.put_item(call.namespace, call.path("uid"), call.body, if_version=version)
    return item_response(
        visible_to(call.key, put.item), status=201 if put.outcome == "added" else 200, outcome=put.outcome
    )


async def put_file(call: Call[bytes, PutFileQuery]) -> Response:
    """Store one file."""
    put = await call.librarian.files.put_file(call.namespace, call.path("path"), call.body, call.query.root)
    return json_response(put, status=201 if put.outcome == "added" else 200)
