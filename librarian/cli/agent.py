"""The search agent: `search-agent`, replaying its traces (`agent`), checking the Professor's search (`professor`)."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from librarian.agent.contracts import Detail, FindEvidenceInput, SearchAgentEvent, SearchAgentOutput
from librarian.base.errors import InvalidInput
from librarian.cli.asking import answered
from librarian.cli.display import printable, show_findings, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import Connection, reached
from librarian.cli.options import JsonOption, NamespaceOption, takes
from librarian.cli.runtime import print_answer, print_json, run_async, say, set_up_logging, settings_for
from librarian_agents.errors import InvalidTrace

if TYPE_CHECKING:
    from librarian import app as service
    from librarian import client
    from librarian.agent import professor_check, room
    from librarian.base.settings import values
    from librarian.base.settings.settings import ProfessorConfig, Settings
    from librarian_agents.search import replay as replaying
    from librarian_agents.search import trace as traces
else:
    replaying, traces = deferred("librarian_agents.search.replay"), deferred("librarian_agents.search.trace")
    client, service = deferred("librarian.client"), deferred("librarian.app")
    professor_check, room = deferred("librarian.agent.professor_check"), deferred("librarian.agent.room")
    values = deferred("librarian.base.settings.values")

app = new_app()


@app.command("search-agent")
@takes(FindEvidenceInput)
def search_agent(
    query: FindEvidenceInput,
    namespace: NamespaceOption = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="Write every step to FILE, for `agent replay`.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Find the smallest set of evidence for a question.

    It searches with the Professor (PROFESSOR_SEARCH_URL), without a database, or else in the namespace.
    """

    async def work(librarian: Connection, where: str) -> None:
        found = await _found(librarian, where, query, "full" if trace is None else "trace")
        if trace is not None:
            trace.write_bytes(msgspec.json.format(msgspec.json.encode(found.trace), indent=2))
            found.trace = None
        print_answer(found, _show_evidence, as_json=as_json)

    answered(work, namespace, purpose="search-agent", contract=FindEvidenceInput, reach=_reached)


@asynccontextmanager
async def _reached(settings: "Settings", purpose: str) -> AsyncIterator[Connection]:
    """Yield the connection to use; the graph is not opened if the Professor is searched from here."""
    if settings.remote.url is None and settings.agent.professor is not None:
        set_up_logging(settings)
        async with service.open_agent(settings) as librarian:
            yield librarian
    else:
        async with reached(settings, purpose) as answering:
            yield answering


async def _found(librarian: Connection, where: str, query: FindEvidenceInput, detail: Detail) -> SearchAgentOutput:
    """Return the evidence; steps are shown live if they run in this process."""
    request = query.as_request()
    if isinstance(librarian, client.AsyncLibrarianClient):
        return await librarian.search_agent(where, request, detail=detail)
    with EvidenceView() as view:
        return await room.watched(librarian.search_agent_events(where, request, detail=detail), view.show)


def _show_evidence(found: SearchAgentOutput) -> None:
    typer.echo(f"{found.status}: {printable(found.reasoning_summary)}")
    uids = any(evidence.uid for evidence in found.selected_evidence)
    columns = ("index", "uid", "why") if uids else ("index", "why")
    rows = [
        (evidence.temp_index, evidence.uid, evidence.why) if uids else (evidence.temp_index, evidence.why)
        for evidence in found.selected_evidence
    ]
    if rows:
        table(columns, rows, ruled=True)
    for item in found.missing_items or []:
        say(f"missing: {printable(item)}")


class EvidenceView:
    """Shows each step of one request live."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._status = self._console.status("planning …") if self._console.is_terminal else None

    def show(self, event: SearchAgentEvent) -> None:
        """Print a step."""
        from rich.text import Text

        line = described(event)
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
        """Remove the status line; the other lines stay."""
        if self._status is not None:
            self._status.stop()


_NEXT = {"plan": "searching", "search": "searching", "candidates": "judging", "evaluation": "deciding"}


def described(event: SearchAgentEvent) -> str:
    """Return a step in one line; empty if another step covers it."""
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


agent = new_app("Replay traces of the search agent.")
app.add_typer(agent, name="agent")


@agent.command()
def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE.json", help="A trace, or an answer that contains one.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Replay the recorded steps with the recorded answers of search and model, and compare the results.

    The exit code is 1 if they differ.
    """

    async def work() -> int:
        recorded = _trace(trace.read_bytes())
        then = recorded.named("done")[0]
        now = (await replaying.replay(recorded, time)).trace.named("done")[0]
        differences = [name for name in then if name != "step" and now.get(name) != then[name]]
        if as_json:
            print_json({"same": not differences, "differences": differences, "result": now})
        else:
            typer.echo(f"{now['status']}: {now['reasoning_summary']}")
            for evidence in now["selected_evidence"]:
                typer.echo(f"  {evidence['temp_index']}: {evidence['why']}")
            say(f"Different from the recorded result: {', '.join(differences)}." if differences else "As recorded.")
        return 1 if differences else 0

    run_async(work)


def _trace(content: bytes) -> "traces.Trace":
    try:
        data: Any = msgspec.json.decode(content)
    except msgspec.DecodeError:
        raise InvalidTrace("The file is not JSON.") from None
    return traces.Trace.from_dict(data["trace"] if isinstance(data, dict) and "trace" in data else data)


professor = new_app("Check the Professor's search.")
app.add_typer(professor, name="professor")


@professor.command()
def check(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="Address of the search; default: PROFESSOR_SEARCH_URL.")
    ] = None,
    query: Annotated[str, typer.Option("--query", "-q", help="Something that its documents mention.")] = "definition",
    *,
    as_json: JsonOption = False,
) -> None:
    """Send the Professor's search a few queries and check the answers against the contract.

    PROFESSOR_API_KEY is sent if set. The exit code is 1 if a check failed.
    """

    async def work() -> int:
        findings = await professor_check.check_professor(_config(settings_for(), url), query)
        print_answer(findings, show_findings, as_json=as_json)
        return 1 if any(finding.status == "failed" for finding in findings) else 0

    run_async(work)


def _config(settings: "Settings", url: str | None) -> "ProfessorConfig":
    """Return the settings of the Professor, with `url` if given. Raises InvalidInput without an address."""
    configured = settings.agent.professor
    if url is None:
        if configured is None:
            raise InvalidInput("no address is given", field="URL", remedy="Give one, or set PROFESSOR_SEARCH_URL.")
        return configured
    try:
        return replace(settings.agent.how_to_ask, url=values.http_url(url))
    except ValueError as error:
        raise InvalidInput(f"{url!r} cannot be used: {error}", field="URL") from None
