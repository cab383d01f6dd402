"""`librarian backup`."""

from pathlib import Path
from typing import Annotated

import typer

from graph.local.dumps import facts_file
from librarian.audit import audit
from librarian.backups import EVERY_NAMESPACE
from librarian.cli.display import Bar, downloads
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.cli.server import managed_server
from librarian.contracts.exports import BackupReport
from librarian.settings import Settings
from librarian.transfer.atomic import writable
from librarian.transfer.backups import Retention, new_backup, prune
from librarian.usecases.back_up import prepare_folder

app = new_app()


@app.command()
def backup(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to. Default: LIBRARIAN_BACKUP_DIR.")
    ] = None,
    keep: Annotated[int | None, typer.Option(min=1, help="Then delete all but the newest N there.")] = None,
    keep_days: Annotated[int | None, typer.Option(min=1, help="Delete none that is younger.")] = None,
    *,
    dump: Annotated[
        bool, typer.Option("--dump", help="Neo4j's own dump of the managed server, which is down meanwhile.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the whole graph to a new file, while everybody goes on working.

    It holds every namespace with its vectors; no API keys. Without --keep and --keep-days no older backup is deleted.
    """

    async def work() -> None:
        settings = settings_for()
        where = (folder or settings.backup.folder).expanduser().absolute()
        retention = Retention(keep, keep_days)
        if dump:
            made = await _dump(settings, where, retention)
        else:
            async with opened(settings, "backup") as librarian:
                with Bar("Backing up") as bar:
                    made = await librarian.backup(where, retention, on_progress=bar.update)
        if as_json:
            print_json(made)
        else:
            _show(made)

    run_async(work)


async def _dump(settings: Settings, folder: Path, retention: Retention) -> BackupReport:
    prepare_folder(folder)
    target = new_backup(folder, "dump")
    server = managed_server(settings)
    with downloads() as progress:
        await server.prepare(progress)
    say("The server goes down for the dump; services answer 503 meanwhile.")
    async with server.kept_down("A dump") as offline:
        with writable(target):
            facts = await offline.dump(target)
    audit("backup", EVERY_NAMESPACE, file=str(target), sha256=facts.sha256)
    removed = prune(folder, retention)
    return BackupReport(
        file=str(target),
        kind="dump",
        bytes=facts.bytes,
        sha256=facts.sha256,
        removed=[str(path) for path in removed],
    )


def _show(made: BackupReport) -> None:
    say(f"Wrote {made.file} ({made.bytes / 1e6:,.1f} MB).")
    if made.kind == "dump":
        say(f"What it is says {facts_file(Path(made.file)).name}: keep the two together.")
    if not made.exact:
        say("Something changed each time it was read: what changed is in it as before or as after.")
    for path in made.removed:
        say(f"Deleted {path}.")
    say("API keys are not in it: they stand in LIBRARIAN_KEYS_FILE.")
