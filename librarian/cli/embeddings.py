"""`librarian embeddings`."""

from typing import Annotated

import typer

from librarian.cli.display import Bar, table
from librarian.cli.opening import opened
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for

app = new_app("See and tidy the vectors of the graph.")


@app.callback()
def embeddings() -> None:
    """See and tidy the vectors of the graph."""


@app.command()
def status(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the embedding spaces, and how many items still wait for a vector."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings status") as librarian:
            spaces = await librarian.embeddings_status()
        if as_json:
            print_json(spaces)
            return
        rows = [(s.space, s.model, s.dimension, s.active, s.index_state, s.vectors, s.pending_items) for s in spaces]
        table(("space", "model", "dimension", "active", "index", "vectors", "pending items"), rows)

    run_async(work)


@app.command()
def switch() -> None:
    """Encode everything with the encoder that is set now, then make its space the active one."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings switch") as librarian:
            with Bar("Encoding") as bar:
                done = await librarian.switch_embeddings(on_progress=bar.update)
        say(f"Encoded {done} items; the space is active. Restart running services with this LIBRARIAN_ENCODER.")

    run_async(work)


@app.command()
def compact() -> None:
    """Build the vector index anew, which makes one grown by many small writes fast again."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings compact") as librarian:
            await librarian.compact_embeddings()
        say("The vector index is built anew.")

    run_async(work)
