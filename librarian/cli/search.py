"""`librarian search`."""

from librarian.cli.display import table
from librarian.cli.items import caption, shortened
from librarian.cli.opening import ask
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.contracts.search import Hit, SearchInput, SearchOutput

app = new_app()


@app.command()
@takes(SearchInput)
def search(query: SearchInput, namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """Find items."""
    ask(
        lambda librarian, where: librarian.search(where, query),
        namespace,
        _show,
        purpose="search",
        contract=SearchInput,
        as_json=as_json,
    )


def _show(found: SearchOutput) -> None:
    rows = [(rank, _item(hit), _text(hit)) for rank, hit in enumerate(found.results, start=1)]
    if rows:
        table(("", "item", "text"), rows, ruled=True)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    for remark in [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"] + found.notes:
        say(remark)


def _item(hit: Hit) -> str:
    who = {"author_name": hit.author_name, "subject": hit.subject, "agent": hit.agent, "path": hit.path}
    return caption(hit.uid, hit.kind, who, hit.occurred_at)


def _text(hit: Hit) -> str:
    text = shortened(hit.content)
    if hit.explanation is None:
        return text
    arms = [f"query {arm.query + 1}: {arm.arm} rank {arm.rank}, +{arm.share:.4f}" for arm in hit.explanation.arms]
    return "\n".join([text, "", *arms])
