"""What the search agent does, line by line on standard error, with a sign of life on a terminal."""

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from librarian.cli.display import printable
from librarian.contracts.search_agent import SearchAgentEvent


class EvidenceView:
    """Shows each step of one request as it is taken."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._status: Status | None = self._console.status("planning …") if self._console.is_terminal else None

    def show(self, event: SearchAgentEvent) -> None:
        """One step."""
        line = told(event)
        if line:
            self._console.print(Text(printable(line)))
        if self._status is not None:
            self._status.update(Text(f"{_NEXT.get(event.event, event.event)} …"))

    def __enter__(self) -> "EvidenceView":
        """Begin."""
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the sign of life away; the lines stay."""
        if self._status is not None:
            self._status.stop()


_NEXT = {"plan": "searching", "search": "searching", "candidates": "judging", "evaluation": "deciding"}


def told(event: SearchAgentEvent) -> str:
    """A step in one line; empty where another step says it."""
    data: dict[str, Any] = dict(event.data)
    match event.event:
        case "plan":
            return f"plan: {_listed(data['queries'])}"
        case "search":
            return f"search {data['search_no']}: {data['query']}"
        case "candidates":
            return f"  {data['found']} candidates, {data['new']} of them new"
        case "evaluation":
            return f"  covered: {_listed(data['covered'])}; missing: {_listed(data['missing'])}"
        case "refine" if data["queries"]:
            return f"refine {data['round']}: {_listed(data['queries'])}"
    return ""


def _listed(texts: list[str]) -> str:
    return ", ".join(texts) or "nothing"
