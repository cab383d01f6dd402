"""`librarian professor`."""

from dataclasses import replace
from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.errors import InvalidInput
from librarian.professor.check import check_professor
from librarian.professor.config import ProfessorConfig
from librarian.setting_values import http_url
from librarian.settings import Settings

app = new_app("Check the Professor's search.")


@app.callback()
def professor() -> None:
    """Check the Professor's search."""


@app.command()
def check(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="Address of the search; default: PROFESSOR_SEARCH_URL.")
    ] = None,
    query: Annotated[str, typer.Option("--query", "-q", help="Something that its documents speak of.")] = "definition",
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask the Professor's search a few things and compare the answers with the contract.

    PROFESSOR_API_KEY is sent, where it is set. The exit code is 1 where a check failed.
    """

    async def work() -> int:
        findings = await check_professor(_config(settings_for(), url), query)
        if as_json:
            print_json(findings)
        else:
            table(("check", "", "found"), [(one.name, one.status, one.detail) for one in findings])
            for one in findings:
                if one.remedy:
                    say(f"{one.name}: {one.remedy}")
        return 1 if any(one.status == "failed" for one in findings) else 0

    run_async(work)


def _config(settings: Settings, url: str | None) -> ProfessorConfig:
    """How to ask: as the settings say, at `url` if it is given. Raises InvalidInput where no address is known."""
    configured = settings.agent.professor
    if url is None:
        if configured is None:
            raise InvalidInput("no address is given", field="URL", remedy="Give one, or set PROFESSOR_SEARCH_URL.")
        return configured
    try:
        return replace(settings.agent.how_to_ask, url=http_url(url))
    except ValueError as error:
        raise InvalidInput(f"{url!r} cannot be used: {error}", field="URL") from None
