"""Moving graphs: `export`, `import`, `backup`, `restore`."""

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from librarian.base.errors import Conflict, InvalidInput
from librarian.cli.display import Bar, downloads
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import encode_pending, opened
from librarian.cli.options import EvenIfForgottenOption, JsonOption, NamespaceOption, NoEmbedOption
from librarian.cli.runtime import namespace_or, print_answer, print_json, run_async, say, settings_for
from librarian.cli.server import managed_server
from librarian.cli.values import STDIN
from librarian.transfer import atomic
from librarian.transfer.contracts import BackupReport, Existing, ExportReport, ImportReport, RestoreReport

if TYPE_CHECKING:
    from graph.local import dumps, lock
    from librarian.app import Librarian
    from librarian.base import audit
    from librarian.base.settings.settings import Settings
    from librarian.transfer import backup as backups
    from librarian.transfer import retention, room
else:
    dumps, lock = deferred("graph.local.dumps"), deferred("graph.local.lock")
    audit = deferred("librarian.base.audit")
    backups, room = deferred("librarian.transfer.backup"), deferred("librarian.transfer.room")
    retention = deferred("librarian.transfer.retention")

app = new_app()

STDOUT = "-"


@app.command("export")
def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File to write; gzipped if it ends in .gz. - is standard output.")
    ],
    namespace: NamespaceOption = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every namespace.")] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Include the vectors; without them an import computes them again.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a namespace to a file: items, history, edges, evidence, sweeps.

    Others may continue to write: the file represents one moment. It appears only when it is complete.
    """

    async def work() -> None:
        settings = settings_for()
        if everything and namespace is not None:
            raise InvalidInput("--all and --namespace exclude each other", field="--namespace")
        if as_json and file == STDOUT:
            raise InvalidInput("standard output holds the export already", field="--json")
        names = None if everything else [namespace_or(namespace, settings.namespace)]
        async with opened(settings, "export") as librarian:
            with Bar("Exporting") as bar:
                report = await _export(librarian, file, names, vectors=vectors, bar=bar)
        if as_json:
            print_json(report)
        else:
            for line in _described_export(report):
                say(line)

    run_async(work)


def _described_export(report: ExportReport) -> list[str]:
    """Return a summary for people."""
    held = ", ".join(f"{count:,} {name}s" for name, count in report.rows.items()) or "nothing"
    lines = [f"Wrote {held} ({report.bytes / 1e6:,.1f} MB), as of {report.moment:%Y-%m-%d %H:%M:%S} UTC."]
    if not report.exact:
        lines.append(
            "Something that was there changed each time it was read: what changed is in it as before or as after."
        )
    return lines


async def _export(
    librarian: "Librarian", file: str, names: list[str] | None, *, vectors: bool, bar: Bar
) -> ExportReport:
    if file != STDOUT:
        return await librarian.export_to(Path(file), names, vectors=vectors, on_progress=bar.update)
    with tempfile.TemporaryFile() as kept:
        report = await librarian.export_into(kept, names, vectors=vectors, on_progress=bar.update)
        kept.seek(0)
        await asyncio.to_thread(shutil.copyfileobj, kept, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return report


@app.command("import")
def import_export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="File written by `librarian export`. - is standard input.")
    ],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="New name of its only namespace. Default: unchanged.")
    ] = None,
    existing: Annotated[
        Existing,
        typer.Option(help="If the namespace is not empty: refuse, skip (add the rest), or replace (delete it)."),
    ] = "refuse",
    *,
    even_if_forgotten: EvenIfForgottenOption = False,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import a file written by `export` or `backup`.

    The whole file is checked before anything is written. Repeating an interrupted command resumes it.
    """

    async def work() -> None:
        settings = settings_for()
        into = None if namespace is None else namespace_or(namespace, "")
        with _readable(file) as source:
            async with opened(settings, "import") as librarian:
                with Bar("Importing") as bar:
                    report = await librarian.import_from(
                        source, into, existing=existing, even_if_forgotten=even_if_forgotten, on_progress=bar.update
                    )
                await encode_pending(librarian, unless=no_embed)
        if as_json:
            print_json(report)
        else:
            for line in _described_import(report):
                say(line)

    run_async(work)


@contextlib.contextmanager
def _readable(file: str) -> Iterator[BinaryIO]:
    """Yield the file, or all of standard input, so that it can be read twice."""
    if file != STDIN:
        with Path(file).open("rb") as source:
            yield source
        return
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        yield kept


def _described_import(report: ImportReport) -> list[str]:
    """Return a summary for people."""
    lines = ["Resumed an interrupted import."] if report.resumed else []
    created = ", ".join(f"{count:,} {name}s" for name, count in report.created.items() if count) or "nothing"
    lines.append(f"Created {created} in {', '.join(report.namespaces) or 'no namespace'}.")
    if report.skipped:
        left = ", ".join(f"{count:,} {name}s" for name, count in report.skipped.items())
        lines.append(f"Skipped, as they existed or lacked an end: {left}.")
    if report.held_back:
        lines.append(
            f"Held back {report.held_back:,} items that were forgotten before: see `librarian forgotten list`."
        )
    if report.resembling:
        lines.append(f"{report.resembling:,} items may restate something forgotten: see `librarian list --resembling`.")
    return lines


@app.command("backup")
def backup(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="Folder. Default: LIBRARIAN_BACKUP_DIR.")] = None,
    keep: Annotated[int | None, typer.Option(min=1, help="Then delete all except the newest N there.")] = None,
    keep_days: Annotated[int | None, typer.Option(min=1, help="Keep all younger ones.")] = None,
    *,
    dump: Annotated[
        bool, typer.Option("--dump", help="Write Neo4j's own dump of the managed server, which stops meanwhile.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the whole graph to a new file, while it stays in use.

    It holds every namespace with its vectors, but no API keys. Without --keep and --keep-days no older one is deleted.
    """

    async def work() -> None:
        settings = settings_for()
        target = (folder or settings.backup.folder).expanduser().absolute()
        kept = retention.Retention(keep, keep_days)
        if dump:
            made = await _dump(settings, target, kept)
        else:
            async with opened(settings, "backup") as librarian:
                with Bar("Backing up") as bar:
                    made = await librarian.backup(target, kept, on_progress=bar.update)
        print_answer(made, _show_backup, as_json=as_json)

    run_async(work)


async def _dump(settings: "Settings", folder: Path, kept: "retention.Retention") -> BackupReport:
    backups.prepare_folder(folder)
    target = retention.new_backup(folder, "dump")
    server = managed_server(settings)
    with downloads() as progress:
        await server.prepare(progress)
    say("The server goes down for the dump; services answer 503 meanwhile.")
    async with server.kept_down("A dump") as offline:
        with atomic.writable(target):
            facts = await offline.dump(target)
    audit.audit("backup", room.EVERY_NAMESPACE, file=str(target), sha256=facts.sha256)
    removed = retention.prune(folder, kept)
    return BackupReport(
        file=str(target),
        kind="dump",
        bytes=facts.bytes,
        sha256=facts.sha256,
        removed=[str(path) for path in removed],
    )


def _show_backup(made: BackupReport) -> None:
    say(f"Wrote {made.file} ({made.bytes / 1e6:,.1f} MB).")
    if made.kind == "dump":
        say(f"{dumps.facts_file(Path(made.file)).name} describes it: keep the two together.")
    if not made.exact:
        say("Something changed each time it was read: what changed is in it as before or as after.")
    for path in made.removed:
        say(f"Deleted {path}.")
    say("API keys are not in it: they are in LIBRARIAN_KEYS_FILE.")


@app.command("restore")
def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup, an export, or a dump.")],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the current graph, which is backed up first.")
    ] = False,
    even_if_forgotten: EvenIfForgottenOption = False,
    no_embed: NoEmbedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Replace the contents of the graph by those of a backup.

    Items forgotten since are held back, except with a dump, which replaces the tombstones too.

    The whole file is checked before anything changes. A graph that is not empty is refused without --replace.
    """

    async def work() -> None:
        settings = settings_for()
        if file.endswith(dumps.SUFFIX):
            done = await _load(settings, Path(file), replace=replace)
        else:
            with _readable(file) as source:
                async with opened(settings, "restore") as librarian:
                    with Bar("Restoring") as bar:
                        done = await librarian.restore(
                            source, replace=replace, even_if_forgotten=even_if_forgotten, on_progress=bar.update
                        )
                    await encode_pending(librarian, unless=no_embed)
        print_answer(done, _show_restore, as_json=as_json)

    run_async(work)


async def _load(settings: "Settings", source: Path, *, replace: bool) -> RestoreReport:
    server = managed_server(settings)
    dumps.examine_dump(source, server=lock.load_group("server").version)
    with downloads() as progress:
        await server.prepare(progress)
    if server.holds_a_graph and not replace:
        raise Conflict(
            f"{settings.home} already holds a graph; nothing was changed",
            remedy="Restore into an empty LIBRARIAN_HOME, or with --replace (the graph is dumped first).",
        )
    safety = None
    async with server.kept_down("A restore") as offline:
        if server.holds_a_graph:
            backups.prepare_folder(settings.backup.folder)
            safety = retention.new_backup(settings.backup.folder, "dump")
            await offline.dump(safety)
        await offline.load(source)
    audit.audit("restore", room.EVERY_NAMESPACE, file=str(source), replace=replace)
    return RestoreReport(
        restored=ImportReport(namespaces=[], created={}), safety_backup=None if safety is None else str(safety)
    )


def _show_restore(done: RestoreReport) -> None:
    if done.safety_backup is not None:
        say(f"The previous contents are in {done.safety_backup}.")
    for line in _described_import(done.restored) if done.restored.namespaces else ["Restored."]:
        say(line)
