"""Namespaces: which there are, and the end of one."""

from starlette.responses import Response

from librarian.contracts.namespaces import DeleteNamespaceInput
from librarian.errors import Unauthenticated
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def list_namespaces(call: Call[None, None]) -> Response:
    """List the namespaces that the key opens, with their counts."""
    if call.key is None:
        raise Unauthenticated
    return json_response(await call.librarian.namespaces(call.key.allows))


async def delete_namespace(call: Call[DeleteNamespaceInput, None]) -> Response:
    """Delete a namespace with all that is in it, in two steps.

    Without `confirm_token` the answer is a preview with a token. With the token everything goes, unless something was
    written since (409).
    """
    return json_response(await call.librarian.delete_namespace(call.namespace, call.body.confirm_token))
