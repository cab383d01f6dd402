"""`librarian embeddings`: inspects, builds and switches embedding spaces; and `librarian calibrate`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from librarian.base.errors import InvalidInput
from librarian.cli.display import Bar, table
from librarian.cli.evaluate import show_replay
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import opened
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import namespace_or, print_answer, print_json, run_async, say, settings_for
from librarian.embeddings.contracts import SpacePlan
from librarian.evaluation.contracts import DEFAULT_K, SpaceComparison
from librarian.runtime.contracts import SpaceStatus

if TYPE_CHECKING:
    from librarian.base.settings import settings as setting
    from librarian.base.settings import values
    from librarian.evaluation import lab
else:
    setting, values = (deferred(f"librarian.base.settings.{name}") for name in ("settings", "values"))
    lab = deferred("librarian.evaluation.lab")

app = new_app()
embeddings = new_app("List, build and switch embedding spaces.")
app.add_typer(embeddings, name="embeddings")

_SHOWN_METRICS = ("recall@1", "recall@5", "recall@10", "mrr", "ndcg@10")

EncoderOption: TypeAlias = Annotated[
    str | None, typer.Option("--encoder", help="The encoder to build for; default: LIBRARIAN_ENCODER.")
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


@embeddings.command()
def status(*, as_json: JsonOption = False) -> None:
    """List the embedding spaces, with the number of items that still wait for a vector."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings status") as librarian:
            spaces = (await librarian.embeddings.status()).spaces
        print_answer(spaces, show_spaces, as_json=as_json)

    run_async(work)


@embeddings.command()
def plan(encoder: EncoderOption = None, *, as_json: JsonOption = False) -> None:
    """Estimate the cost of building the encoder's space: items, time, disk space."""

    async def work() -> None:
        async with opened(_settings(encoder), "embeddings plan") as librarian:
            found = await librarian.embeddings.plan()
        print_answer(found, show_plan, as_json=as_json)

    run_async(work)


@embeddings.command()
def build(encoder: EncoderOption = None) -> None:
    """Encode everything into the encoder's space, beside the active one; resumes an interrupted build."""

    async def work() -> None:
        async with opened(_settings(encoder), "embeddings build") as librarian:
            with Bar("Encoding") as bar:
                done = await librarian.embeddings.build(on_progress=bar.update)
        say(f"Encoded {done} items; the active space is the same as before.")

    run_async(work)


@embeddings.command()
def compare(
    encoder: Annotated[str, typer.Option("--encoder", help="The encoder to compare LIBRARIAN_ENCODER with.")],
    query: Annotated[list[str] | None, typer.Option("--query", "-q", help="A query; may be repeated.")] = None,
    log: Annotated[Path | None, typer.Option(help="A JSON log of the service: repeat its searches.")] = None,
    data: Annotated[
        list[str] | None, typer.Option(metavar="FOLDER", help='Labelled data, or "sample"; may be repeated.')
    ] = None,
    k: Annotated[int, typer.Option("--limit", "-k", min=1, max=50, help="Number of hits to compare.")] = DEFAULT_K,
    namespace: NamespaceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare searches in two spaces, the configured encoder's and another one's, without switching."""

    async def work() -> None:
        settings = settings_for()
        if not (query or log or data):
            raise InvalidInput("no queries are given", field="--query", remedy="Give --query, --log or --data.")
        where = namespace_or(namespace, settings.namespace)
        async with (
            opened(settings, "embeddings") as configured,
            opened(_settings(encoder), "embeddings compare") as other,
        ):
            with Bar("Asking") as bar:
                found = await lab.Lab(configured).compare_spaces(
                    other, queries=[(where, text) for text in query or ()], log=log, data=data or (), k=k,
                    on_progress=bar.update,
                )  # fmt: skip
        print_answer(found, show_comparison, as_json=as_json)

    run_async(work)


@embeddings.command()
def switch(
    encoder: EncoderOption = None,
    *,
    build: Annotated[bool, typer.Option("--build", help="First encode everything that lacks a vector.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Even if items lack vectors: the worker makes them.")] = False,
) -> None:
    """Activate the encoder's space in one step, after encoding items added since it was built.

    With --build it need not be built before.
    """

    async def work() -> None:
        async with opened(_settings(encoder), "embeddings switch") as librarian:
            with Bar("Encoding") as bar:
                done = await librarian.embeddings.switch(force=force, build=build, on_progress=bar.update)
        say(f"Encoded {done} items; the space is active. Restart running services with this LIBRARIAN_ENCODER.")

    run_async(work)


@embeddings.command()
def rollback(*, as_json: JsonOption = False) -> None:
    """Reactivate the space that was active before the last switch, at once."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings rollback") as librarian:
            spaces = (await librarian.embeddings.rollback()).spaces
        print_answer(spaces, show_spaces, as_json=as_json)

    run_async(work)


@embeddings.command()
def drop(
    space: Annotated[str, typer.Argument(metavar="SPACE", help="Id of the space.")], *, yes: YesOption = False
) -> None:
    """Delete a space with its vectors and its index, unless it is active."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings drop") as librarian:
            if not yes and not typer.confirm(f"Delete space {space} with all of its vectors?", err=True):
                say("Nothing was deleted.")
                return
            vectors = await librarian.embeddings.drop(space)
        say(f"Deleted space {space} with {vectors} vectors.")

    run_async(work)


@embeddings.command()
def compact() -> None:
    """Rebuild the vector index, which restores the speed of one grown by many small writes."""

    async def work() -> None:
        async with opened(settings_for(), "embeddings compact") as librarian:
            await librarian.embeddings.compact()
        say("The vector index is rebuilt.")

    run_async(work)


def _settings(encoder: str | None) -> "setting.Settings":
    """Return the settings with the given encoder, or the configured one. Raises InvalidInput."""
    settings = settings_for()
    if encoder is None:
        return settings
    try:
        chosen = setting.EncoderSettings(
            values.encoder_name(encoder), settings.encoder.threads, settings.encoder.api_key
        )
    except ValueError as error:
        raise InvalidInput(f"{encoder!r}: {error}", field="--encoder") from None
    return replace(settings, encoder=chosen)


def show_spaces(spaces: Sequence[SpaceStatus]) -> None:
    """Print one row per space."""
    rows = [
        (
            space.space,
            space.model,
            space.dimension,
            space.active,
            space.index_state,
            space.vectors,
            space.pending_items,
        )
        for space in spaces
    ]
    table(("space", "model", "dimension", "active", "index", "vectors", "pending items"), rows)
    for space in spaces:
        if space.unread_items:
            say(f"{space.model} does not read, so that only words find: {show_languages(space.unread_items)}.")


def show_languages(items: Mapping[str, int]) -> str:
    """Return numbers of items by language as a list."""
    return ", ".join(f"{count:,} items in {language!r}" for language, count in items.items())


def show_plan(plan: SpacePlan) -> None:
    """Print the estimated work and its cost."""
    rows = [
        ("space", f"{plan.space} ({plan.dimension} numbers){', active' if plan.active else ''}"),
        ("vectors there", plan.vectors),
        ("items to encode", f"{plan.items}, {plan.characters} characters"),
        ("vectors to come", f"about {plan.new_vectors}"),
        ("time", f"about {_duration(plan.seconds)}, by {plan.sampled} items that were encoded to see"),
        ("room on the disk", f"about {plan.bytes / 1e6:.0f} MB"),
    ]
    table(("", ""), rows)


def show_comparison(found: SpaceComparison) -> None:
    """Print the overlap of the two spaces, and the quality of each."""
    if found.queries is not None:
        show_replay(found.queries)
    rows = [
        (
            dataset.dataset,
            space,
            system.system,
            *(f"{system.overall.get(metric, 0.0):.3f}" for metric in _SHOWN_METRICS),
        )
        for space, report in found.labelled.items()
        for dataset in report.datasets
        for system in dataset.systems
    ]
    if rows:
        table(("data", "space", "system", *_SHOWN_METRICS), sorted(rows, key=lambda row: (row[0], row[2])))
    for note in dict.fromkeys(_notes(found)):
        say(note)


def _notes(found: SpaceComparison) -> Iterable[str]:
    yield from found.notes
    for space, report in found.labelled.items():
        for dataset in report.datasets:
            yield from (f"{space}, {dataset.dataset}: {note}" for system in dataset.systems for note in system.notes)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"


@app.command("calibrate")
def calibrate(*, as_json: JsonOption = False) -> None:
    """Recalibrate: measure how similar unrelated texts are to the encoder."""

    async def work() -> None:
        async with opened(settings_for(), "calibrate") as librarian:
            found = await librarian.calibrate()
        if as_json:
            print_json(found)
            return
        rows = [
            (curve.language, curve.sampled, curve.mean, curve.deviation, curve.cosine_of_low, curve.cosine_of_high)
            for curve in found
        ]
        table(("language", "vectors", "mean cosine", "deviation", "cosine of .35", "cosine of .75"), rows)
        if not found:
            say("The encoder covers no language, so there is nothing to calibrate.")

    run_async(work)
