"""`librarian search`."""

from datetime import UTC, datetime, time, timedelta
from typing import Annotated, Any

import msgspec
import typer

from librarian.cli.display import table
from librarian.cli.opening import opened
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.contracts.search import Hit, SearchInput, SearchOutput
from librarian.errors import InvalidInput

app = new_app()

_SHOWN_CHARS = 300


@app.command()
def search(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY...", help="One query, or several fused into one list.")
    ],
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Default: LIBRARIAN_NAMESPACE.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-k", help="How many hits, 1 to 50.")] = 10,
    kind: Annotated[
        list[str] | None, typer.Option(help="message, fact, memory or file_chunk; may be repeated.")
    ] = None,
    memory_type: Annotated[list[str] | None, typer.Option("--type", help="Type of memories; may be repeated.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="Who wrote it; may be repeated.")] = None,
    conversation: Annotated[str | None, typer.Option(help="Id of the conversation.")] = None,
    session: Annotated[str | None, typer.Option(help="Id of the session.")] = None,
    person: Annotated[str | None, typer.Option(help="Id of the person that facts are about.")] = None,
    domain: Annotated[str | None, typer.Option(help="Domain.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; may be repeated.")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that keeps the memory.")] = None,
    path_prefix: Annotated[str | None, typer.Option(help="Start of a file's path.")] = None,
    occurred_from: Annotated[str | None, typer.Option("--from", help="2026-03-01 or a full ISO 8601 time.")] = None,
    occurred_to: Annotated[str | None, typer.Option("--to", help="The last day or moment.")] = None,
    as_of: Annotated[str | None, typer.Option(help="Keep facts that were valid then.")] = None,
    *,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each hit stands where it stands.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find items."""

    async def work() -> None:
        settings = settings_for()
        where = namespace_or(namespace, settings.namespace)
        filters = {
            "kinds": kind,
            "types": memory_type,
            "authors": author,
            "conversation_id": conversation,
            "session_id": session,
            "person_id": person,
            "domain": domain,
            "tags": tag,
            "agent": agent,
            "path_prefix": path_prefix,
            "occurred_from": _moment(occurred_from, "--from"),
            "occurred_to": _moment(occurred_to, "--to", end_of_day=True),
            "as_of": _moment(as_of, "--as-of"),
        }
        query = search_input(queries, limit, filters, explain=explain)
        async with opened(settings, "search") as librarian:
            found = await librarian.search(where, query)
        if as_json:
            print_json(found)
        else:
            _show(found)

    run_async(work)


def search_input(queries: list[str], limit: int, filters: dict[str, Any], *, explain: bool) -> SearchInput:
    """The contract's value of the command's options. Raises InvalidInput."""
    given = {name: value for name, value in filters.items() if value}
    try:
        return msgspec.convert(
            {"queries": queries, "limit": limit, "filters": given or None, "explain": explain}, SearchInput
        )
    except msgspec.ValidationError as error:
        raise InvalidInput(str(error)) from None


def _moment(given: str | None, option: str, *, end_of_day: bool = False) -> datetime | None:
    """A time, UTC without an offset; a date is its first moment, or its last with `end_of_day`."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise InvalidInput(
            f"{given!r} is no time", field=option, remedy="Write 2026-03-01 or 2026-03-01T09:30Z."
        ) from None
    if end_of_day and len(given) <= len("2026-03-01") and moment.time() == time():
        moment += timedelta(days=1, microseconds=-1)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _show(found: SearchOutput) -> None:
    rows = [(rank, _item(hit), _text(hit)) for rank, hit in enumerate(found.results, start=1)]
    if rows:
        table(("", "item", "text"), rows)
    else:
        say(f"Nothing found in namespace {found.namespace!r}.")
    for remark in [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"] + found.notes:
        say(remark)


def _item(hit: Hit) -> str:
    who = hit.author_name or hit.subject or hit.agent or hit.path
    when = hit.occurred_at and f"{hit.occurred_at:%Y-%m-%d %H:%M}"
    return "\n".join(part for part in (hit.uid, hit.kind, who, when) if part)


def _text(hit: Hit) -> str:
    text = hit.content if len(hit.content) <= _SHOWN_CHARS else hit.content[:_SHOWN_CHARS] + "…"
    if hit.explanation is None:
        return text
    arms = [f"query {arm.query + 1}: {arm.arm} rank {arm.rank}, +{arm.share:.4f}" for arm in hit.explanation.arms]
    return "\n".join([text, "", *arms])
