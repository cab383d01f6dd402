"""Cues for classifying texts and tasks, from the data file beside this one."""

import re
import tomllib
from functools import cache
from importlib.resources import files


@cache
def cue(name: str) -> re.Pattern[str]:
    """Return the pattern of a cue, such as `outdated` or `plan`."""
    return re.compile("|".join(_table()[name]), re.IGNORECASE)


@cache
def _table() -> dict[str, list[str]]:
    return tomllib.loads(files("librarian_agents.search.reasoners").joinpath("cues.toml").read_text(encoding="utf-8"))
