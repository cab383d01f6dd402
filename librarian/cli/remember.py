"""`librarian remember`."""

import typer

from librarian.cli.opening import ask, encode_pending
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.contracts.changes import PutOutput, RememberInput

app = new_app()


@app.command()
@takes(RememberInput)
def remember(
    what: RememberInput,
    namespace: NamespaceOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Keep one memory or fact."""

    async def question(librarian: Verbs, where: str) -> PutOutput:
        stored = await librarian.remember(where, what)
        await encode_pending(librarian, unless=no_embed)
        return stored

    ask(question, namespace, show_stored, purpose="remember", contract=RememberInput, as_json=as_json)


def show_stored(stored: PutOutput) -> None:
    """Print the uid of what was stored, and say what became of it."""
    say(f"{stored.outcome.capitalize()}; version {stored.item.version}.")
    typer.echo(stored.item.uid)
