"""`librarian doctor`."""

from typing import Annotated

import typer

from graph.driver import open_driver
from graph.executor import Executor
from librarian.checks.database import running
from librarian.cli.display import table
from librarian.cli.runtime import namespace_or, new_app, print_json, run_async, say, settings_for
from librarian.doctor import examine
from librarian.errors import InvalidInput, NotReady
from librarian.settings import Settings
from librarian.usecases.adopt import adopt_edges

app = new_app()


@app.command()
def doctor(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Also hash every downloaded file.")] = False,
    adopt: Annotated[
        bool, typer.Option("--adopt-edges", help="Complete typed edges that were drawn by hand, and check nothing.")
    ] = False,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Of the edges to adopt. Default: all.")
    ] = None,
) -> None:
    """Check the installation; starts nothing.

    The exit code is 1 where a check failed.
    """

    async def work() -> int:
        settings = settings_for()
        if adopt:
            return await _adopt(settings, None if namespace is None else namespace_or(namespace, ""), as_json=as_json)
        if namespace is not None:
            raise InvalidInput("it only goes with --adopt-edges", field="--namespace")
        return await _examine(settings, deep=deep, as_json=as_json)

    run_async(work)


async def _examine(settings: Settings, *, deep: bool, as_json: bool) -> int:
    checks = await examine(settings, deep=deep)
    if as_json:
        print_json(checks)
    else:
        table(("check", "", "found"), [(check.name, check.status, check.detail) for check in checks])
        for check in checks:
            if check.remedy:
                say(f"{check.name}: {check.remedy}")
    return 1 if any(check.status == "failed" for check in checks) else 0


async def _adopt(settings: Settings, namespace: str | None, *, as_json: bool) -> int:
    config = await running(settings)
    if isinstance(config, str):
        raise NotReady(config)
    async with open_driver(config) as driver:
        done = await adopt_edges(Executor(driver, database=config.database), namespace)
    if as_json:
        print_json(done)
        return 0
    say(f"Adopted {done.adopted} edges; {done.merged} doubled an edge and were merged into it.")
    for reason in done.left:
        say(f"Left alone: {reason}")
    return 0
