"""The operations of the sweep."""

from typing import Any

from graph.errors import LeaseHeld, LeaseLost
from librarian.contracts.sweeps import SweepList, SweepQuery, SweepReport, SweepRequest, SweepUndoOutput
from librarian.errors import Conflict, NotFound
from librarian.http.endpoints import Endpoint, json_of
from librarian.http.routes.sweeps import get_sweep, list_sweeps, post_sweep, undo_sweep

SWEEP_OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(
        method="POST",
        path="/v1/sweeps",
        handler=post_sweep,
        scope="sweep",
        body=json_of(SweepRequest),
        answers={200: SweepReport},
        errors=(NotFound, Conflict, LeaseHeld, LeaseLost),
    ),
    Endpoint(
        method="GET", path="/v1/sweeps", handler=list_sweeps, scope="sweep", query=SweepQuery, answers={200: SweepList}
    ),
    Endpoint(
        method="GET",
        path="/v1/sweeps/{sweep_id}",
        handler=get_sweep,
        scope="sweep",
        query=SweepQuery,
        answers={200: SweepReport},
        errors=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/v1/sweeps/{sweep_id}/undo",
        handler=undo_sweep,
        scope="sweep",
        answers={200: SweepUndoOutput},
        errors=(NotFound, LeaseHeld, LeaseLost),
    ),
)
