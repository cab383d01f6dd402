"""`librarian restore`."""

from pathlib import Path
from typing import Annotated

import typer

from graph.local.dumps import SUFFIX, examine_dump
from graph.local.lock import load_group
from librarian.audit import audit
from librarian.backups import EVERY_NAMESPACE
from librarian.cli.display import Bar, downloads
from librarian.cli.import_export import described, readable
from librarian.cli.opening import encode_pending, opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.cli.server import managed_server
from librarian.contracts.exports import ImportReport, RestoreReport
from librarian.errors import Conflict
from librarian.settings import Settings
from librarian.transfer.backups import new_backup
from librarian.usecases.back_up import prepare_folder

app = new_app()


@app.command()
def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup, an export, or a dump.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="In the place of what is there, which is backed up first.")
    ] = False,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Leave the encoding to the service.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make the graph hold what a backup holds, and nothing else.

    The whole file is checked before anything changes. A graph that holds something is refused without --replace.
    """

    async def work() -> None:
        settings = settings_for()
        if file.endswith(SUFFIX):
            done = await _load(settings, Path(file), replace=replace)
        else:
            with readable(file) as source:
                async with opened(settings, "restore") as librarian:
                    with Bar("Restoring") as bar:
                        done = await librarian.restore(source, replace=replace, on_progress=bar.update)
                    await encode_pending(librarian, unless=no_embed)
        if as_json:
            print_json(done)
        else:
            _show(done)

    run_async(work)


async def _load(settings: Settings, source: Path, *, replace: bool) -> RestoreReport:
    server = managed_server(settings)
    examine_dump(source, server=load_group("server").version)
    with downloads() as progress:
        await server.prepare(progress)
    if server.holds_a_graph and not replace:
        raise Conflict(
            f"{settings.home} holds a graph already; nothing was changed",
            remedy="Restore into an empty LIBRARIAN_HOME, or with --replace (a dump of what is there is made first).",
        )
    safety = None
    async with server.kept_down("A restore") as offline:
        if server.holds_a_graph:
            prepare_folder(settings.backup.folder)
            safety = new_backup(settings.backup.folder, "dump")
            await offline.dump(safety)
        await offline.load(source)
    audit("restore", EVERY_NAMESPACE, file=str(source), replace=replace)
    return RestoreReport(
        restored=ImportReport(namespaces=[], created={}), safety_backup=None if safety is None else str(safety)
    )


def _show(done: RestoreReport) -> None:
    if done.safety_backup is not None:
        say(f"What was there is in {done.safety_backup}.")
    for line in described(done.restored) if done.restored.namespaces else ["Restored."]:
        say(line)
