"""Causal questions."""

from starlette.responses import Response

from librarian.contracts.causal import CausalInput, ContradictionQuery, CycleQuery, NeighbourhoodQuery, PathQuery
from librarian.http.endpoints import Call
from librarian.http.responses import json_response


async def causes_of(call: Call[None, CausalInput]) -> Response:
    """Find what led to an item, down to its root causes."""
    return json_response(await call.librarian.causes_of(call.namespace, call.query))


async def effects_of(call: Call[None, CausalInput]) -> Response:
    """Find what an item leads to: its blast radius."""
    return json_response(await call.librarian.effects_of(call.namespace, call.query))


async def blockers_of(call: Call[None, CausalInput]) -> Response:
    """Find what blocks an item, and what blocks that."""
    return json_response(await call.librarian.blockers_of(call.namespace, call.query))


async def enablers_of(call: Call[None, CausalInput]) -> Response:
    """Find what enables an item, and what enables that."""
    return json_response(await call.librarian.enablers_of(call.namespace, call.query))


async def neighbourhood(call: Call[None, NeighbourhoodQuery]) -> Response:
    """Get what is around an item, whichever way edges point."""
    return json_response(await call.librarian.neighbourhood(call.namespace, call.query))


async def path_between(call: Call[None, PathQuery]) -> Response:
    """Find the shortest path between two items."""
    return json_response(await call.librarian.path_between(call.namespace, call.query))


async def list_contradictions(call: Call[None, ContradictionQuery]) -> Response:
    """List facts that name different objects for one time, and items that both cause and block another."""
    return json_response(await call.librarian.contradictions(call.namespace, call.query))


async def list_cycles(call: Call[None, CycleQuery]) -> Response:
    """List items that lead back to themselves."""
    return json_response(await call.librarian.cycles(call.namespace, call.query))
