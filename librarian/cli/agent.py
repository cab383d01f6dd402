"""`librarian agent`."""

import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from agents.errors import InvalidTrace
from agents.search_agent import replay as replayed
from agents.transcript import Trace
from librarian.cli.runtime import new_app, print_json, run_async, say

app = new_app("Replay what the search agent did.")


@app.callback()
def agent() -> None:
    """Replay what the search agent did."""


@app.command()
def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE.json", help="A trace, or an answer that holds one.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take the recorded steps again, with what search and model said then, and compare the results.

    The exit code is 1 where they differ.
    """

    async def work() -> int:
        recorded = _trace(trace.read_bytes())
        then = recorded.named("done")[0]
        now = (await replayed(recorded, time)).trace.named("done")[0]
        differences = [name for name in then if name != "step" and now.get(name) != then[name]]
        if as_json:
            print_json({"same": not differences, "differences": differences, "result": now})
        else:
            _show(now, differences)
        return 1 if differences else 0

    run_async(work)


def _trace(content: bytes) -> Trace:
    try:
        data: Any = msgspec.json.decode(content)
    except msgspec.DecodeError:
        raise InvalidTrace("The file is not JSON.") from None
    return Trace.from_dict(data["trace"] if isinstance(data, dict) and "trace" in data else data)


def _show(result: Any, differences: list[str]) -> None:
    typer.echo(f"{result['status']}: {result['reasoning_summary']}")
    for one in result["selected_evidence"]:
        typer.echo(f"  {one['temp_index']}: {one['why']}")
    say(f"Different from the recorded result: {', '.join(differences)}." if differences else "As recorded.")
