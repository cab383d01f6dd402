"""Sweeps: list, changes of one, and undo."""

from starlette.responses import Response

from librarian.http.endpoints import Call
from librarian.http.web.forms import Form
from librarian.http.web.render import page
from librarian.sweep.contracts import SweepQuery


async def show_sweeps(call: Call[Form, SweepQuery]) -> Response:
    """List the sweeps of a namespace, newest first."""
    return page(call.request, "sweeps.html", found=await call.librarian.list_sweeps(call.namespace, call.query))


async def show_sweep(call: Call[Form, SweepQuery]) -> Response:
    """Show the changes of one sweep."""
    sweep = await call.librarian.get_sweep(call.namespace, call.path("sweep_id"), call.query)
    ends = (uid for change in sweep.changes for uid in (change.memory_id, change.target_id) if uid is not None)
    names = await call.librarian.items.names(call.namespace, ends)
    return page(call.request, "sweep.html", sweep=sweep, names=names)


async def confirm_undo(call: Call[Form, None]) -> Response:
    """Show what an undo would revert, and ask for confirmation."""
    sweep = await call.librarian.get_sweep(call.namespace, call.path("sweep_id"), SweepQuery(limit=1))
    return page(call.request, "undo.html", sweep=sweep, done=None)


async def undo_sweep(call: Call[Form, None]) -> Response:
    """Undo the sweep, and show what stays."""
    sweep_id = call.path("sweep_id")
    done = await call.librarian.undo_sweep(call.namespace, sweep_id, call.progressed)
    sweep = await call.librarian.get_sweep(call.namespace, sweep_id, SweepQuery(limit=1))
    return page(call.request, "undo.html", sweep=sweep, done=done)
