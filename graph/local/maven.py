"""The Maven repository to download from. The address is never ours: argument, Maven's settings, or jgo."""

import logging
from pathlib import Path
from xml.etree import ElementTree as ET

logger = logging.getLogger("librarian.graph")


def repository_url(explicit: str | None = None, *, settings: Path | None = None) -> str:
    """Return the base address to download from, without a trailing slash.

    Order: `explicit`; the mirror for "central" in `settings` (default ~/.m2/settings.xml); jgo's own constant.
    """
    return (explicit or central_mirror(settings or _user_settings()) or _default_url()).rstrip("/")


def central_mirror(settings: Path) -> str | None:
    """Return the address of the first mirror in a Maven settings.xml that stands for "central", or None."""
    try:
        root = ET.parse(settings).getroot()  # noqa: S314 - the user's own file, not foreign input
    except FileNotFoundError:
        return None
    except ET.ParseError as error:
        logger.warning("%s is ignored, it is not valid XML: %s", settings, error)
        return None
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        address = (mirror.findtext("{*}url") or "").strip()
        if address and _mirrors_central(mirror.findtext("{*}mirrorOf") or ""):
            return address
    return None


def _mirrors_central(pattern: str) -> bool:
    """Apply Maven's mirrorOf rule to the repository "central": names, `*`, `external:*`, and `!name` for exceptions."""
    names = {name.strip() for name in pattern.split(",")}
    return "!central" not in names and bool(names & {"central", "*", "external:*"})


def _user_settings() -> Path:
    return Path.home() / ".m2" / "settings.xml"


def _default_url() -> str:
    from jgo.constants import MAVEN_CENTRAL_URL

    return str(MAVEN_CENTRAL_URL)
