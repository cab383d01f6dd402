"""Commands that load on first use, so that `librarian --help` stays fast: the help of the top level is a table."""

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS: Mapping[str, tuple[str, str]] = {
    "serve": ("librarian.cli.serve", "Serve the HTTP interface until SIGTERM or Ctrl-C."),
    "ingest": ("librarian.cli.ingest", "Store messages, facts, memories and edges of a JSONL file."),
    "search": ("librarian.cli.search", "Find items."),
    "get": ("librarian.cli.get", "Show one item."),
    "server": ("librarian.cli.server", "Start, stop and look at the managed Neo4j server."),
    "migrate": ("librarian.cli.migrate", "See, check and change the version of the graph's schema."),
    "embeddings": ("librarian.cli.embeddings", "See and tidy the vectors of the graph."),
    "keys": ("librarian.cli.keys", "Make, list and revoke API keys."),
    "config": ("librarian.cli.config", "Show the settings."),
    "doctor": ("librarian.cli.doctor", "Check the installation; starts nothing."),
    "eval": ("librarian.cli.evaluate", "Measure the quality of retrieval on labelled data."),
    "version": ("librarian.cli.version", "Print the version."),
}
"""Name -> (module whose `app` it is, one line of help). A test keeps the help equal to the module's own."""


def lazy_group(commands: Mapping[str, tuple[str, str]]) -> type[TyperGroup]:
    """Make a group class that lists `commands` without loading them."""

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name, (_, summary) in commands.items():
                self.add_command(TyperCommand(name, help=summary), name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, listed, rest = super().resolve_command(ctx, args)
            return name, listed if name is None else load(commands[name][0]), rest

    return LazyGroup


def load(module: str) -> Any:
    """The command or group that a command module defines as `app`."""
    return typer.main.get_command(importlib.import_module(module).app)
