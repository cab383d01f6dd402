"""`librarian doctor`: looks at everything and starts nothing; each finding comes with its remedy."""

from librarian.checks.database import database_checks
from librarian.checks.finding import Check, look
from librarian.checks.installation import installation_checks
from librarian.checks.machine import machine_checks
from librarian.settings import Settings


async def examine(settings: Settings, *, deep: bool = False) -> list[Check]:
    """Every check, in an order in which the first fault is likely the cause of the later ones.

    `deep` reads every downloaded file and compares it with the lock file.
    """
    looks = {**machine_checks(settings), **installation_checks(settings, deep=deep)}
    local = [await look(name, work) for name, work in looks.items()]
    return [*local, *await database_checks(settings)]
