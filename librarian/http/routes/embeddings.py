"""Embedding spaces: they hold vectors of all namespaces, so they are for keys that open all of them."""

from typing import Any

from starlette.responses import Response

from librarian.contracts.spaces import SpaceList, SwitchInput
from librarian.errors import Forbidden
from librarian.http.endpoints import Call
from librarian.http.responses import json_response

EVERY_NAMESPACE = "*"


async def list_embeddings(call: Call[None, None]) -> Response:
    """List the embedding spaces of the graph.

    One is active: its vectors are searched. Vectors of all namespaces lie in one space.
    """
    _opens_everything(call)
    return json_response(SpaceList(spaces=await call.librarian.embeddings.status()))


async def switch_embeddings(call: Call[SwitchInput, None]) -> Response:
    """Make another embedding space the active one, in one step.

    It has to be built before, by `librarian embeddings build`: while items lack vectors in it, 409, unless forced.
    Services whose encoder is another one search by keywords from then on.
    """
    _opens_everything(call)
    spaces = await call.librarian.embeddings.switch_to(call.body.space, force=call.body.force)
    return json_response(SpaceList(spaces=spaces))


async def rollback_embeddings(call: Call[None, None]) -> Response:
    """Make the embedding space active again that was before the last switch."""
    _opens_everything(call)
    return json_response(SpaceList(spaces=await call.librarian.embeddings.rollback()))


def _opens_everything(call: Call[Any, Any]) -> None:
    if call.key is None or not call.key.allows(EVERY_NAMESPACE):
        raise Forbidden("This API key does not open every namespace, and embedding spaces hold vectors of all.")
