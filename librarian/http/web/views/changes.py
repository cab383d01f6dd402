"""Keeping and changing: remember, edit, correct, link, unlink and forget, each with an undo."""

import hashlib
from contextlib import suppress
from typing import Any, cast, get_args

import msgspec
from starlette.responses import RedirectResponse, Response

from librarian.base import strictjson
from librarian.base.errors import Forbidden, InvalidInput, NotFound
from librarian.base.fields import EdgeType, MemoryType
from librarian.http.endpoints import Call
from librarian.http.web.forms import Form, Upload, struct_of
from librarian.http.web.render import HEADERS, link, page
from librarian.items.contracts import (
    Correction,
    DeleteInput,
    EdgeOut,
    EdgeQuery,
    ItemIn,
    LinkInput,
    RememberInput,
)

TYPES: tuple[MemoryType, ...] = get_args(MemoryType)
EDGE_TYPES: tuple[EdgeType, ...] = get_args(EdgeType)
_ITEM = cast("type[ItemIn]", ItemIn)  # a union of classes decodes like one
_MOST_EDGES = 500


async def keep_item(call: Call[Form, None]) -> Response:
    """Remember the typed text, and show it."""
    put = await call.librarian.remember(call.namespace, struct_of(call.body, RememberInput))
    return _go(call, f"/items/{put.item.uid}", "kept" if put.outcome == "added" else "known")


async def show_change(call: Call[Form, None]) -> Response:
    """Show the forms for changing an item."""
    item = await call.librarian.get_item(call.namespace, call.path("uid"))
    return page(call.request, "change.html", item=item, types=TYPES, edge_types=EDGE_TYPES)


async def edit_item(call: Call[Form, None]) -> Response:
    """Replace text and type of an item, unless somebody else has changed it since the form was shown."""
    uid, fields = call.path("uid"), dict(call.body)
    patch: dict[str, Any] = {name: fields[name] for name in ("text", "type") if name in fields}
    await call.librarian.patch_item(call.namespace, uid, patch, if_version=_number(fields, "version"))
    return _go(call, f"/items/{uid}", "changed")


async def pin_item(call: Call[Form, None]) -> Response:
    """Keep an item that may restate something forgotten, and return to the others."""
    await call.librarian.patch_item(call.namespace, call.path("uid"), {"pinned": True})
    return _go(call, "/reviews", "pinned")


async def restore_item(call: Call[Form, None]) -> Response:
    """Restore the text and type of an item from one of its revisions."""
    uid, wanted = call.path("uid"), _number(call.body, "version")
    history = await call.librarian.revisions(call.namespace, uid)
    before = next((revision for revision in history.revisions if revision.version == wanted), None)
    if before is None:
        raise NotFound("the item has no such revision", field="version")
    patch = {"text": before.text, **({"type": before.properties.get("type")} if "type" in before.properties else {})}
    await call.librarian.patch_item(call.namespace, uid, patch)
    return _go(call, f"/items/{uid}", "changed")


async def correct_item(call: Call[Form, None]) -> Response:
    """Correct an item, and show the valid one."""
    done = await call.librarian.correct(call.namespace, call.path("uid"), struct_of(call.body, Correction))
    return _go(call, f"/items/{done.item.uid}", "kept" if done.superseded else "changed")


async def link_item(call: Call[Form, None]) -> Response:
    """Draw an edge from an item to another, and show the edge, where it can be removed again."""
    asked = {**call.body, "source": call.path("uid")}
    done = await call.librarian.link(call.namespace, struct_of(asked, LinkInput))
    return _go(call, f"/edges/{done.edge.edge_id}", "linked")


async def unlink_items(call: Call[Form, None]) -> Response:
    """Remove an edge, and offer to draw it again."""
    check_reads(call)
    removed = await call.librarian.delete_edge(call.namespace, call.path("edge_id"))
    return page(call.request, "unlinked.html", edge=removed, again=msgspec.to_builtins(link_of(removed)))


async def forget_item(call: Call[Form, None]) -> Response:
    """Preview a deletion, or carry it out with the preview's token; forgotten items can be kept again."""
    check_reads(call)
    uid, token = call.path("uid"), call.body.get("confirm_token")
    item = await call.librarian.get_item(call.namespace, uid)
    again = await _again(call, uid) if token and item.kind != "file_chunk" else {}
    done = await call.librarian.delete_items(call.namespace, DeleteInput(uids=[uid], confirm_token=token))
    return page(call.request, "forget.html", item=item, done=done, again=again)


async def keep_again(call: Call[Upload, None]) -> Response:
    """Restore an item that this session has forgotten, with its accepted edges to existing items. Items forgotten by
    others, or a different row, take the scope admin.
    """
    uid, fields = call.path("uid"), call.body.fields
    call.request.state.sessions.check_token(_said_of(call, uid, fields.get("row", "")), fields.get("undo", ""))
    row = strictjson.decode(fields.get("row", "").encode(), _ITEM)
    edges = strictjson.decode(fields.get("edges", "[]").encode(), list[LinkInput])
    put = await call.librarian.items.keep_again(call.namespace, uid, row)
    for edge in edges:
        with suppress(NotFound):
            await call.librarian.link(call.namespace, edge)
    return _go(call, f"/items/{put.item.uid}", "kept")


async def _again(call: Call[Form, None], uid: str) -> dict[str, str]:
    """Return the data to restore a forgotten item from."""
    row = await call.librarian.items.get_row(call.namespace, uid)
    query = EdgeQuery(uid=uid, states=["accepted"], limit=_MOST_EDGES)
    edges = [link_of(edge) for edge in (await call.librarian.list_edges(call.namespace, query)).edges]
    said = msgspec.json.encode(row).decode()
    signed = call.request.state.sessions.token(_said_of(call, uid, said))
    return {"row": said, "edges": msgspec.json.encode(edges).decode(), "undo": signed}


def _said_of(call: Call[Any, None], uid: str, row: str) -> str:
    """Return the digest that a session signs when it forgets an item, bound to that item's contents."""
    payload = [call.request.state.session.id, call.namespace, uid, row]
    return hashlib.sha256(msgspec.json.encode(payload)).hexdigest()


def check_reads(call: Call[Any, Any]) -> None:
    """Raise Forbidden for a key that may write but not read, as the page shows the item to change."""
    if call.key is None or not call.key.has_scope("read"):
        raise Forbidden("This page shows an item, which your key may not read.")


def link_of(edge: EdgeOut) -> LinkInput:
    """Return the fields to draw an edge again."""
    return LinkInput(**{name: getattr(edge, name) for name in LinkInput.__struct_fields__})


def _number(fields: Form, name: str) -> int:
    try:
        return int(fields[name])
    except (KeyError, ValueError):
        raise InvalidInput("a whole number is needed", field=name) from None


def _go(call: Call[Any, None], path: str, said: str) -> Response:
    return RedirectResponse(link(call.namespace, path, said=said), 303, HEADERS)
