"""`librarian cycles`."""

from librarian.cli.display import table
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.causal import CycleList, CycleOut, CycleQuery

app = new_app()


@app.command()
@takes(CycleQuery)
def cycles(asked: CycleQuery, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List items that lead back to themselves."""
    ask(
        lambda librarian, where: librarian.cycles(where, asked),
        namespace,
        _show,
        purpose="cycles",
        reach=reached_without_encoder,
        contract=CycleQuery,
        as_json=as_json,
    )


def _show(found: CycleList) -> None:
    if found.cycles:
        table(("cycle", "confidence"), [(_drawn(one), f"{one.confidence:.2f}") for one in found.cycles], ruled=True)
    else:
        say("Nothing leads back to itself.")
    if found.more:
        say("There may be more: see --limit.")


def _drawn(cycle: CycleOut) -> str:
    steps = [f"{item.name}\n  {edge.type} →" for item, edge in zip(cycle.items, cycle.edges, strict=True)]
    return "\n".join([*steps, cycle.items[0].name])
