"""`librarian calibrate`."""

from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.opening import opened
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for

app = new_app()


@app.command()
def calibrate(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Measure anew how similar unrelated texts are to the encoder."""

    async def work() -> None:
        async with opened(settings_for(), "calibrate") as librarian:
            found = await librarian.calibrate()
        if as_json:
            print_json(found)
            return
        rows = [(c.language, c.sampled, c.mean, c.deviation, c.cosine_of_low, c.cosine_of_high) for c in found]
        table(("language", "vectors", "mean cosine", "deviation", "cosine of .35", "cosine of .75"), rows)
        if not found:
            say("The encoder covers no language, so there is nothing to calibrate.")

    run_async(work)
