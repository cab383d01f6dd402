"""Tables on standard output and progress bars on standard error, by rich."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from librarian.cli.runtime import say

_MB = 1_000_000


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, ruled: bool = False
) -> None:
    """Print a table, without a head where no column has a name; markup in cells means nothing.

    `ruled` draws a line between rows, for cells of several lines.
    """
    shown = Table(title=title, title_justify="left", header_style="bold", show_header=any(columns), show_lines=ruled)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(shown)


def printable(cell: object) -> str:
    """A cell without control characters, which could steer the terminal; times to the second."""
    match cell:
        case None:
            text = ""
        case datetime():
            text = cell.isoformat(" ", "seconds").replace("+00:00", "Z")
        case _:
            text = str(cell)
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)


class Bar:
    """One progress bar, drawn on a terminal only; `update` has the shape of the callbacks of long work."""

    def __init__(self, label: str, *, unit: ProgressColumn | None = None) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), unit or MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
        self._task = self._progress.add_task(label, total=None)

    def update(self, done: int, total: int | None) -> None:
        """Show `done` of `total` (None: unknown)."""
        self._progress.update(self._task, completed=done, total=total)

    def __enter__(self) -> "Bar":
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Take the bar away."""
        self._progress.stop()


class DownloadBar:
    """Progress of the first download: says the size first, then draws."""

    def __init__(self) -> None:
        self._bar = Bar("Downloading", unit=DownloadColumn())
        self._drawing = False

    def __call__(self, total: int, done: int) -> None:
        """Take (bytes to download, bytes done), as graph.local tells them."""
        if done == 0 and total:
            say(f"Downloading {total / _MB:.0f} MB of server files, once.")
        if not self._drawing:
            self._bar.__enter__()
            self._drawing = True
        self._bar.update(done, total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._drawing:
            self._bar.__exit__()
            self._drawing = False


@contextmanager
def downloads() -> Iterator[Any]:
    """A callback for downloads, whose bar is gone afterwards whatever happens."""
    bar = DownloadBar()
    try:
        yield bar
    finally:
        bar.close()
