"""`librarian history`."""

from librarian.cli.display import table
from librarian.cli.items import shortened
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption, UidArgument
from librarian.cli.runtime import new_app, say
from librarian.contracts.changes import RevisionList

app = new_app()


@app.command()
def history(uid: UidArgument, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Show what an item said before each change, the newest first."""
    ask(
        lambda librarian, where: librarian.revisions(where, uid),
        namespace,
        _show,
        purpose="history",
        reach=reached_without_encoder,
        as_json=as_json,
    )


def _show(found: RevisionList) -> None:
    if not found.revisions:
        say("It was never changed.")
        return
    rows = [(one.version, one.revised_at, one.actor, one.reason, shortened(one.text)) for one in found.revisions]
    table(("version", "until", "changed by", "why", "text"), rows, ruled=True)
