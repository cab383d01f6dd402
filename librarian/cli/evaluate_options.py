"""What the commands of `librarian eval` share: where the data lies, the seed, and reports in files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import msgspec
import typer

from librarian.cli.runtime import say
from librarian.errors import InvalidInput
from librarian.settings import Settings

R = TypeVar("R", bound=msgspec.Struct)

DataOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help='Folder of labelled data, or "sample"; may be repeated. Default: LIBRARIAN_EVAL_DATA.',
    ),
]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="The same seed draws the same samples.")]
ReportOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--report", metavar="FILE", help="Write a report, in the form of its ending; may be repeated."),
]


def data_of(given: Sequence[str] | None, settings: Settings) -> list[str]:
    """The data sets that are named, else the folder of the settings. Raises InvalidInput."""
    if given:
        return list(given)
    if settings.eval_data is None:
        raise InvalidInput(
            "no data is named", field="--data", remedy="Give --data FOLDER or sample, or set LIBRARIAN_EVAL_DATA."
        )
    return [str(settings.eval_data)]


def check_reports(files: Sequence[Path], *endings: str) -> None:
    """Refuse a file that no report can be written to, before the work begins. Raises InvalidInput."""
    known = (".json", *endings)
    for file in files:
        if file.suffix not in known:
            raise InvalidInput(f"{file} does not end in {' or '.join(known)}", field="--report")
        if not file.absolute().parent.is_dir():
            raise InvalidInput(f"there is no folder {file.parent}", field="--report")


def write_reports(files: Sequence[Path], report: R, **forms: Callable[[R], str]) -> None:
    """Write `report` into each of `files`: as JSON, or by what `forms` has for its ending."""
    for file in files:
        file.write_text(forms.get(file.suffix.removeprefix("."), _as_json)(report), encoding="utf-8")
        say(f"Wrote {file}.")


def _as_json(report: msgspec.Struct) -> str:
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
