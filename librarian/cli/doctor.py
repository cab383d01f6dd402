"""`librarian doctor`."""

from typing import Annotated

import typer

from librarian.cli.display import table
from librarian.cli.runtime import new_app, print_json, run_async, say, settings_for
from librarian.doctor import examine

app = new_app()


@app.command()
def doctor(*, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check the installation; starts nothing.

    The exit code is 1 where a check failed.
    """

    async def work() -> int:
        checks = await examine(settings_for())
        if as_json:
            print_json(checks)
        else:
            table(("check", "", "found"), [(check.name, check.status, check.detail) for check in checks])
            for check in checks:
                if check.remedy:
                    say(f"{check.name}: {check.remedy}")
        return 1 if any(check.status == "failed" for check in checks) else 0

    run_async(work)
