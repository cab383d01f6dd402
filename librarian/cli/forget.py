"""`librarian forget`."""

import msgspec

from librarian.cli.deletion import YesOption, deleted, show_deletion
from librarian.cli.opening import ask, reached_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.contracts.changes import DeleteInput, DeleteOutput

app = new_app()


@app.command()
@takes(DeleteInput)
def forget(
    what: DeleteInput, namespace: NamespaceOption = None, *, yes: YesOption = False, as_json: JsonOption = False
) -> None:
    """Delete items by uid or filter, after a preview."""

    async def question(librarian: Verbs, where: str) -> DeleteOutput:
        async def delete(token: str | None) -> DeleteOutput:
            return await librarian.delete_items(where, msgspec.structs.replace(what, confirm_token=token))

        return await deleted(delete, what.confirm_token, yes=yes, silent=as_json)

    ask(
        question,
        namespace,
        show_deletion,
        purpose="forget",
        reach=reached_without_encoder,
        contract=DeleteInput,
        as_json=as_json,
    )
