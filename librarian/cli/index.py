"""`librarian index`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from librarian.cli.display import Bar, printable, table
from librarian.cli.opening import reached
from librarian.cli.options import JsonOption, NamespaceOption, NoEmbedOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.cli.uploading import upload_tree
from librarian.client import AsyncLibrarianClient
from librarian.contracts.files import IndexReport
from librarian.errors import InvalidInput
from librarian.service import Librarian

app = new_app()

_SHOWN = 20


@app.command()
def index(
    root: Annotated[Path, typer.Argument(metavar="PATH", help="The folder.")],
    namespace: NamespaceOption = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Go on and follow every change until Ctrl-C.")] = False,
    no_embed: NoEmbedOption = False,
    paths_only: Annotated[bool, typer.Option("--paths-only", help="Only paths: files are found by name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Index the files below a folder, only what changed.

    What .gitignore and .ignore leave out, hidden names and folders of dependencies are left alone. Interrupted, the
    same command does the rest. With --remote the files are uploaded.
    """

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        if watch and paths_only:
            raise InvalidInput("--watch and --paths-only exclude each other", field="--watch")
        if not root.is_dir():
            raise InvalidInput("no folder is there", field="PATH")
        async with reached(settings, "index") as librarian:
            if watch:
                await _watch(librarian, where, root, no_embed=no_embed)
                return
            with Bar("Indexing") as bar:
                if isinstance(librarian, AsyncLibrarianClient):
                    max_bytes = settings.files.max_bytes
                    report = await upload_tree(
                        librarian, where, root, max_bytes, paths_only=paths_only, on_progress=bar.update
                    )
                else:
                    report = await librarian.index_files(where, root, paths_only=paths_only, on_progress=bar.update)
            if isinstance(librarian, Librarian) and not no_embed:
                report.pending_embeddings = await _embed(librarian)
            print_json(report) if as_json else _show(report)

    run_async(work)


async def _watch(librarian: Librarian | AsyncLibrarianClient, namespace: str, root: Path, *, no_embed: bool) -> None:
    """Follow the folder; vectors are made beside."""
    if isinstance(librarian, AsyncLibrarianClient):
        raise InvalidInput("a folder is followed only where the graph is", field="--watch")
    encoding = None if no_embed else asyncio.create_task(librarian.work())
    try:
        with Bar("Indexing") as bar:
            following = librarian.watch_files(namespace, root, on_indexed=_show, on_progress=bar.update)
            async for paths in following:
                for path in paths:
                    say(f"indexed {printable(path) or 'everything'}")
    finally:
        if encoding is not None:
            encoding.cancel()
            await asyncio.gather(encoding, return_exceptions=True)


async def _embed(librarian: Librarian) -> int:
    """Encode what is pending; how many items still wait is returned."""
    with Bar("Encoding") as bar:
        await librarian.embed_pending(on_progress=bar.update)
    return await librarian.pending_embeddings()


def _show(report: IndexReport) -> None:
    counts = ((report.files, report.added, report.updated, report.unchanged, report.deleted),)
    table(("files", "added", "updated", "unchanged", "deleted"), counts)
    for what, reasons in (("found by name only", report.unread), ("left out", report.skipped)):
        if reasons:
            said = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            say(f"{what}: {said}")
    for example in report.examples[:_SHOWN]:
        say(f"  {example.reason}: {printable(example.path)}")
    if len(report.examples) > _SHOWN:
        say(f"  … --json lists up to {len(report.examples)}.")
    if report.pending_embeddings:
        say(f"{report.pending_embeddings} items wait for their vectors; names and texts find them already.")
