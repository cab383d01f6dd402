"""`librarian relevant`."""

from librarian.cli.display import table
from librarian.cli.items import caption, shortened
from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.relevant import RelevantInput, RelevantOutput

app = new_app()


@app.command()
@takes(RelevantInput)
def relevant(query: RelevantInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Get the messages, memories and facts that help to answer a question."""
    ask(
        lambda librarian, where: librarian.relevant_memory(where, query),
        namespace,
        _show,
        purpose="relevant",
        contract=RelevantInput,
        as_json=as_json,
    )


def _show(found: RelevantOutput) -> None:
    rows = [
        (f"{hit.score:.3f}", caption(hit.uid, hit.kind, {"author_name": hit.author_name}, hit.sent_at), text)
        for hit in found.hits
        if (text := shortened(hit.content))
    ]
    if rows:
        table(("score", "item", "text"), rows, ruled=True)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    for remark in [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"] + found.notes:
        say(remark)
