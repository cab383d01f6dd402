"""`librarian effects`."""

from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.structs import takes
from librarian.cli.walks import Format, FormatOption, ask_walk
from librarian.contracts.causal import CausalInput

app = new_app()


@app.command()
@takes(CausalInput)
def effects(
    asked: CausalInput,
    namespace: NamespaceOption = None,
    *,
    form: FormatOption = Format.TREE,
    as_json: JsonOption = False,
) -> None:
    """Show what an item leads to: its blast radius."""
    ask_walk(
        lambda librarian, where: librarian.effects_of(where, asked),
        namespace,
        form,
        purpose="effects",
        contract=CausalInput,
        as_json=as_json,
    )
