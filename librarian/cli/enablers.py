"""`librarian enablers`."""

from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.structs import takes
from librarian.cli.walks import Format, FormatOption, ask_walk
from librarian.contracts.causal import CausalInput

app = new_app()


@app.command()
@takes(CausalInput)
def enablers(
    asked: CausalInput,
    namespace: NamespaceOption = None,
    *,
    form: FormatOption = Format.TREE,
    as_json: JsonOption = False,
) -> None:
    """Show what enables an item, and what enables that."""
    ask_walk(
        lambda librarian, where: librarian.enablers_of(where, asked),
        namespace,
        form,
        purpose="enablers",
        contract=CausalInput,
        as_json=as_json,
    )
