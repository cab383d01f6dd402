"""`librarian embeddings`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from librarian.cli.display import Bar
from librarian.cli.embeddings_view import show_comparison, show_plan, show_spaces
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.errors import InvalidInput
from librarian.lab import Lab
from librarian.service import Librarian
from librarian.setting_values import encoder_name
from librarian.settings import EncoderSettings, Settings
from librarian.usecases.compare_rankings import DEFAULT_K

app = new_app("See, build and switch the vectors of the graph.")

EncoderOption: TypeAlias = Annotated[
    str | None, typer.Option("--encoder", help="The encoder to build for; default: LIBRARIAN_ENCODER.")
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.callback()
def embeddings() -> None:
    """See, build and switch the vectors of the graph."""


@app.command()
def status(*, as_json: JsonOption = False) -> None:
    """List the embedding spaces, and how many items still wait for a vector."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings status") as librarian:
            spaces = await librarian.embeddings.status()
        if as_json:
            print_json(spaces)
        else:
            show_spaces(spaces)

    run_async(work)


@app.command()
def plan(encoder: EncoderOption = None, *, as_json: JsonOption = False) -> None:
    """Say what building the encoder's space would take: items, time, room on the disk."""

    async def work() -> None:
        async with _with(encoder, "embeddings plan") as librarian:
            found = await librarian.embeddings.plan()
        if as_json:
            print_json(found)
        else:
            show_plan(found)

    run_async(work)


@app.command()
def build(encoder: EncoderOption = None) -> None:
    """Encode everything into the encoder's space, beside the active one; goes on where it was interrupted."""

    async def work() -> None:
        async with _with(encoder, "embeddings build") as librarian:
            with Bar("Encoding") as bar:
                done = await librarian.embeddings.build(on_progress=bar.update)
        say(f"Encoded {done} items; the active space is the same as before.")

    run_async(work)


@app.command()
def compare(
    encoder: Annotated[str, typer.Option("--encoder", help="The encoder to compare LIBRARIAN_ENCODER with.")],
    query: Annotated[list[str] | None, typer.Option("--query", "-q", help="What to ask; may be repeated.")] = None,
    log: Annotated[Path | None, typer.Option(help="A log of the service as JSON lines: ask its searches.")] = None,
    data: Annotated[
        list[str] | None, typer.Option(metavar="FOLDER", help='Labelled data, or "sample"; may be repeated.')
    ] = None,
    k: Annotated[int, typer.Option("--limit", "-k", min=1, max=50, help="How many hits to compare.")] = DEFAULT_K,
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Search two spaces side by side, the configured encoder's and another one's, without switching."""

    async def work() -> None:
        settings = settings_for()
        if not (query or log or data):
            raise InvalidInput("nothing is asked", field="--query", remedy="Give --query, --log or --data.")
        where = namespace_or(namespace, settings.namespace)
        async with opened(settings, "embeddings") as one, _with(encoder, "embeddings compare") as other:
            with Bar("Asking") as bar:
                found = await Lab(one).compare_spaces(
                    other, queries=[(where, text) for text in query or ()], log=log, data=data or (), k=k,
                    on_progress=bar.update,
                )  # fmt: skip
        if as_json:
            print_json(found)
        else:
            show_comparison(found)

    run_async(work)


@app.command()
def switch(
    encoder: EncoderOption = None,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Also while items lack vectors: the worker makes them.")
    ] = False,
) -> None:
    """Make the encoder's space the active one in one step, after encoding what came in since it was built."""

    async def work() -> None:
        async with _with(encoder, "embeddings switch") as librarian:
            with Bar("Encoding") as bar:
                done = await librarian.embeddings.switch(force=force, on_progress=bar.update)
        say(f"Encoded {done} items; the space is active. Restart running services with this LIBRARIAN_ENCODER.")

    run_async(work)


@app.command()
def rollback(*, as_json: JsonOption = False) -> None:
    """Make the space active again that was before the last switch, at once."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings rollback") as librarian:
            spaces = await librarian.embeddings.rollback()
        if as_json:
            print_json(spaces)
        else:
            show_spaces(spaces)

    run_async(work)


@app.command()
def drop(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="Id of the space.")], *, yes: YesOption = False
) -> None:
    """Delete a space that is not the active one, with its vectors and its index."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings drop") as librarian:
            if not yes and not typer.confirm(f"Delete space {space} with all of its vectors?", err=True):
                say("Nothing was deleted.")
                return
            vectors = await librarian.embeddings.drop(space)
        say(f"Deleted space {space} with {vectors} vectors.")

    run_async(work)


@app.command()
def compact() -> None:
    """Build the vector index anew, which makes one grown by many small writes fast again."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings compact") as librarian:
            await librarian.embeddings.compact()
        say("The vector index is built anew.")

    run_async(work)


@asynccontextmanager
async def _with(encoder: str | None, purpose: str) -> AsyncIterator[Librarian]:
    """A Librarian with another encoder than the settings name, if one is given."""
    async with opened(_settings(encoder), purpose) as librarian:
        yield librarian


def _settings(encoder: str | None) -> Settings:
    settings = settings_for()
    if encoder is None:
        return settings
    try:
        chosen = EncoderSettings(encoder_name(encoder), settings.encoder.threads, settings.encoder.api_key)
    except ValueError as error:
        raise InvalidInput(f"{encoder!r}: {error}", field="--encoder") from None
    return replace(settings, encoder=chosen)
