"""`librarian why-not`."""

from librarian.cli.display import table
from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.why_not import ArmStandingOut, WhyNotInput, WhyNotOutput

app = new_app()


@app.command()
@takes(WhyNotInput)
def why_not(query: WhyNotInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Say why a search does not show an item."""
    ask(
        lambda librarian, where: librarian.why_not(where, query),
        namespace,
        _show,
        purpose="why-not",
        contract=WhyNotInput,
        as_json=as_json,
    )


def _show(found: WhyNotOutput) -> None:
    say(found.explanation)
    if found.arms:
        table(("query", "arm", "rank", "cosine", "why not"), [_row(arm) for arm in found.arms])


def _row(arm: ArmStandingOut) -> tuple[object, ...]:
    return (arm.query + 1, arm.arm, arm.rank, arm.score, arm.reason)
