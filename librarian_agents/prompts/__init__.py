"""Prompts, each a text file beside this one."""

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """The text of the prompt `name`."""
    return files("librarian_agents.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
