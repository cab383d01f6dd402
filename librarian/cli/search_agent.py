"""`librarian search-agent`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from librarian.cli.display import printable, table
from librarian.cli.evidence_view import EvidenceView
from librarian.cli.opening import answered, reached
from librarian.cli.options import JsonOption, NamespaceOption
from librarian.cli.runtime import new_app, print_json, say
from librarian.cli.structs import takes
from librarian.cli.verbs import Verbs
from librarian.client import AsyncLibrarianClient
from librarian.contracts.search_agent import Detail, FindEvidenceInput, SearchAgentOutput
from librarian.service import Librarian
from librarian.settings import Settings
from librarian.usecases.search_agent import watched
from librarian.wiring import open_agent

app = new_app()


@app.command("search-agent")
@takes(FindEvidenceInput)
def search_agent(
    asked: FindEvidenceInput,
    namespace: NamespaceOption = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="Write every step there, for `agent replay`.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Find the smallest set of evidence for a question.

    It asks the Professor (PROFESSOR_SEARCH_URL), and needs no database then; without one it searches the namespace.
    """

    async def work(librarian: Verbs, where: str) -> None:
        found = await _found(librarian, where, asked, "full" if trace is None else "trace")
        if trace is not None:
            trace.write_bytes(msgspec.json.format(msgspec.json.encode(found.trace), indent=2))
            found.trace = None
        if as_json:
            print_json(found)
        else:
            _show(found)

    answered(work, namespace, purpose="search-agent", contract=FindEvidenceInput, reach=_reached)


@asynccontextmanager
async def _reached(settings: Settings, purpose: str) -> AsyncIterator[Librarian | AsyncLibrarianClient]:
    """Whoever answers; the graph is left alone where the Professor is asked from here."""
    if settings.remote.url is None and settings.agent.professor is not None:
        async with open_agent(settings) as librarian:
            yield librarian
    else:
        async with reached(settings, purpose) as answering:
            yield answering


async def _found(librarian: Verbs, where: str, asked: FindEvidenceInput, detail: Detail) -> SearchAgentOutput:
    """The evidence; what is done for it is shown as it happens, where it happens here."""
    request = asked.as_request()
    if not isinstance(librarian, Librarian):
        return await librarian.search_agent(where, request, detail=detail)
    with EvidenceView() as view:
        return await watched(librarian.search_agent_events(where, request, detail=detail), view.show)


def _show(found: SearchAgentOutput) -> None:
    typer.echo(f"{found.status}: {printable(found.reasoning_summary)}")
    uids = any(one.uid for one in found.selected_evidence)
    columns = ("index", "uid", "why") if uids else ("index", "why")
    rows = [
        (one.temp_index, one.uid, one.why) if uids else (one.temp_index, one.why) for one in found.selected_evidence
    ]
    if rows:
        table(columns, rows, ruled=True)
    for item in found.missing_items or []:
        say(f"missing: {printable(item)}")
