"""Output of commands by rich: tables and items on standard output, progress bars on standard error."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from librarian.cli.runtime import say

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from librarian.base.findings import Check

_MB = 1_000_000
_SHOWN_CHARS = 300
# Properties that best identify the origin of an item.
_WHO = ("author_name", "subject", "agent", "path")


def table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None, ruled: bool = False
) -> None:
    """Print a table, without a header if no column has a name; markup in cells is printed literally.

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


def show_findings(checks: "Sequence[Check]") -> None:
    """Print the findings of checks as a table, then the remedies."""
    table(("check", "", "found"), [(check.name, check.status, check.detail) for check in checks])
    for check in checks:
        if check.remedy:
            say(f"{check.name}: {check.remedy}")


def printable(cell: object) -> str:
    """Return a cell without control characters, which could control the terminal; times to the second."""
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
    """Describe an item, one line per part; the author, subject, agent or path comes from `who`."""
    named = next((who[name] for name in _WHO if who.get(name)), None)
    time = when and f"{when:%Y-%m-%d %H:%M}"
    return "\n".join(part for part in (uid, kind, named, time) if part)


class Bar:
    """A progress bar, drawn on terminals only; `update` has the signature of progress callbacks."""

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
        """Remove the bar."""
        self._progress.stop()


class DownloadBar:
    """Progress of the first download: announces the size, then draws a bar."""

    def __init__(self) -> None:
        self._bar: Bar | None = None

    def __call__(self, total: int, done: int) -> None:
        """Receive (bytes to download, bytes done) from graph.local."""
        if done == 0 and total:
            say(f"Downloading {total / _MB:.0f} MB of server files, once.")
        if self._bar is None:
            self._bar = Bar("Downloading", in_bytes=True).__enter__()
        self._bar.update(done, total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.__exit__()
            self._bar = None


@contextmanager
def downloads() -> Iterator[Any]:
    """Yield a callback for downloads, whose bar is always removed afterwards."""
    bar = DownloadBar()
    try:
        yield bar
    finally:
        bar.close()
