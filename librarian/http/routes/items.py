"""Items: take rows in, list them, give one back, change and delete it."""

from typing import Any

from starlette.responses import Response

from librarian.contracts.changes import Correction, DeleteInput
from librarian.contracts.items import ItemIn, ItemOut
from librarian.contracts.listing import ItemQuery
from librarian.http.endpoints import Call
from librarian.http.requests import Rows, if_match
from librarian.http.responses import json_response, report_response


async def post_items(call: Call[Rows, None]) -> Response:
    """Store rows.

    Messages, facts, memories and edges, as a JSON array, one object, or NDJSON. 200 when all were taken, 207 when some
    were, 422 when none was; the report names each row's fault, and the valid rows lose nothing by it.
    """
    report = await call.librarian.ingest(call.body, namespace=call.namespace, on_progress=call.progressed)
    return report_response(report)


async def list_items(call: Call[None, ItemQuery]) -> Response:
    """List items, page by page.

    All filters of a search. Every item comes once as long as nothing changes meanwhile.
    """
    return json_response(await call.librarian.list_items(call.namespace, call.query))


async def get_item(call: Call[None, None]) -> Response:
    """Get one item, with its evidence.

    An item of another namespace is not found.
    """
    return _item(await call.librarian.get_item(call.namespace, call.path("uid")))


async def put_item(call: Call[ItemIn, None]) -> Response:
    """Create or replace one item.

    The same row again changes nothing. A replaced fact or memory keeps a revision.
    """
    version = if_match(call.request)
    put = await call.librarian.put_item(call.namespace, call.path("uid"), call.body, if_version=version)
    return _item(put.item, status=201 if put.outcome == "added" else 200, outcome=put.outcome)


async def patch_item(call: Call[dict[str, Any], None]) -> Response:
    """Change some fields of one item.

    A JSON merge patch (RFC 7396) over the fields of its row: null removes a field. Kind and uid stay. A fact or memory
    keeps a revision.
    """
    version = if_match(call.request)
    return _item(await call.librarian.patch_item(call.namespace, call.path("uid"), call.body, if_version=version))


async def delete_item(call: Call[None, None]) -> Response:
    """Delete one item with all that hangs on it: edges, evidence links, revisions, embeddings."""
    version = if_match(call.request)
    return json_response(await call.librarian.delete_item(call.namespace, call.path("uid"), if_version=version))


async def delete_items(call: Call[DeleteInput, None]) -> Response:
    """Delete items by uid or filter, in two steps.

    Without `confirm_token` the answer is a preview with a token. With the token the previewed items are deleted, unless
    the selection has changed since (409).
    """
    return json_response(await call.librarian.delete_items(call.namespace, call.body))


async def correct_item(call: Call[Correction, None]) -> Response:
    """Say what is true instead.

    A fact is superseded by a new one and stays in the history; a memory's text is replaced and kept as a revision.
    """
    return json_response(await call.librarian.correct(call.namespace, call.path("uid"), call.body))


async def list_revisions(call: Call[None, None]) -> Response:
    """What a fact or memory said before, newest first."""
    return json_response(await call.librarian.revisions(call.namespace, call.path("uid")))


def _item(item: ItemOut, *, status: int = 200, outcome: str | None = None) -> Response:
    said = {} if outcome is None else {"Librarian-Outcome": outcome}
    return json_response(item, status=status, headers={"ETag": f'"{item.version}"', **said})
