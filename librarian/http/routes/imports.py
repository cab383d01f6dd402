"""Exports of other programs, uploaded."""

import asyncio

from starlette.responses import Response

from librarian.contracts.imports import ImportQuery
from librarian.http.endpoints import Call
from librarian.http.responses import report_response
from librarian.importers.registry import rows_of


async def post_import(call: Call[bytes, ImportQuery]) -> Response:
    """Import an export of another program.

    The body is the file itself, or a zip archive of a folder. Importing the same export again changes nothing, a later
    one adds and updates what changed; the report names each record that could not be read.
    """
    rows = await asyncio.to_thread(rows_of, call.path("format"), call.body, call.query.filename)
    report = await call.librarian.ingest(rows.lines(), namespace=call.namespace, on_progress=call.progressed)
    rows.complete(report)
    return report_response(report)
