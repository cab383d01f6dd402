"""`librarian doctor`: checks everything and starts nothing; each finding comes with its remedy."""

from librarian.base.findings import Check, look
from librarian.base.settings.settings import Settings
from librarian.cli.doctor_checks.database import database_checks
from librarian.cli.doctor_checks.installation import installation_checks
from librarian.cli.doctor_checks.machine import machine_checks


async def examine(settings: Settings, *, deep: bool = False) -> list[Check]:
    """Run every check, ordered so that the first fault is the likely cause of later ones.

    `deep` reads every downloaded file and compares it with the lock file.
    """
    looks = {**machine_checks(settings), **installation_checks(settings, deep=deep)}
    local = [await look(name, work) for name, work in looks.items()]
    return [*local, *await database_checks(settings)]
