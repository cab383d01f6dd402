"""What commands print: tables and items on standard output, progress bars on standard error, by rich."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from librarian.cli.runtime import say

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

_MB = 1_000_000
_SHOWN_CHARS = 300
# Of the properties, what tells best whom or what an item belongs to.
_WHO = ("author_name", "subject", "agent", "path")


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, ruled: bool = False
) -> None:
    """Print a table, without a head where no column has a name; markup in cells means nothing.

    `ruled` draws a line between rows, for cells of several lines.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=title, title_justify="left", header_style="bold", show_header=any(columns), show_lines=ruled)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(shown)


def printable(cell: object) -> str:
    """Return a cell without control characters, which could steer the terminal; times to the second."""
    match cell:
        case None:
            text = ""
        case datetime():
            text = cell.isoformat(" ", "seconds").replace("+00:00", "Z")
        case _:
            text = str(cell)
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)


def shortened(text: str, most: int = _SHOWN_CHARS) -> str:
    """Return the first `most` characters."""
    return text if len(text) <= most else text[:most] + "…"


def caption(uid: str, kind: str, who: Mapping[str, Any], when: datetime | None) -> str:
    """Return what an item is, a line for each part; `who` is searched for the author, subject, agent or path."""
    named = next((who[name] for name in _WHO if who.get(name)), None)
    time = when and f"{when:%Y-%m-%d %H:%M}"
    return "\n".join(part for part in (uid, kind, named, time) if part)


class Bar:
    """One progress bar, drawn on a terminal only; `update` has the shape of the callbacks of long work."""

    def __init__(self, label: str, *, in_bytes: bool = False) -> None:
        from rich import progress
        from rich.console import Console

        unit: ProgressColumn = progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn()
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            unit,
            progress.TimeRemainingColumn(),
        )
        console = Console(stderr=True)
        self._progress = progress.Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
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
        self._bar: Bar | None = None

    def __call__(self, total: int, done: int) -> None:
        """Take (bytes to download, bytes done), as graph.local reports them."""
        if done == 0 and total:
            say(f"Downloading {total / _MB:.0f} MB of server files, once.")
        if self._bar is None:
            self._bar = Bar("Downloading", in_bytes=True).__enter__()
        self._bar.update(done, total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.__exit__()
            self._bar = None


@contextmanager
def downloads() -> Iterator[Any]:
    """Yield a callback for downloads, whose bar is gone afterwards whatever happens."""
    bar = DownloadBar()
    try:
        yield bar
    finally:
        bar.close()
