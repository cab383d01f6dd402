"""Relevant memory."""

from starlette.responses import Response

from librarian.contracts.relevant import RelevantInput
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def relevant_memory(call: Call[RelevantInput, None]) -> Response:
    """Get the messages, memories and facts that help to answer a question.

    Best first, one hit a message; what tells goes before what asks.
    """
    return json_response(await call.librarian.relevant_memory(call.namespace, call.body))
