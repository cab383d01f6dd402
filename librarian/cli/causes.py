"""`librarian causes`."""

from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.structs import takes
from librarian.cli.walks import Format, FormatOption, ask_walk
from librarian.contracts.causal import CausalInput

app = new_app()


@app.command()
@takes(CausalInput)
def causes(
    asked: CausalInput,
    namespace: NamespaceOption = None,
    *,
    form: FormatOption = Format.TREE,
    as_json: JsonOption = False,
) -> None:
    """Show what led to an item, down to its root causes."""
    ask_walk(
        lambda librarian, where: librarian.causes_of(where, asked),
        namespace,
        form,
        purpose="causes",
        contract=CausalInput,
        as_json=as_json,
    )
