"""`librarian correct`."""

import typer

from librarian.cli.opening import ask, encode_pending
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption
from librarian.cli.runtime import new_app, say
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.contracts.changes import CorrectInput, CorrectOutput

app = new_app()


@app.command()
@takes(CorrectInput)
def correct(
    correction: CorrectInput,
    namespace: NamespaceOption = None,
    *,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what is true instead of a fact or memory.

    What is not given is taken over. The old fact stays in the history; a memory's old text is kept as a revision.
    """

    async def question(librarian: Verbs, where: str) -> CorrectOutput:
        corrected = await librarian.correct(where, correction.uid, correction)
        await encode_pending(librarian, unless=no_embed)
        return corrected

    ask(question, namespace, _show, purpose="correct", contract=CorrectInput, as_json=as_json)


def _show(corrected: CorrectOutput) -> None:
    if corrected.superseded is None:
        say(f"Corrected; version {corrected.item.version}.")
    else:
        say(f"A new fact supersedes {corrected.superseded}.")
    typer.echo(corrected.item.uid)
