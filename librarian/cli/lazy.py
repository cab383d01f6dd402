"""Loads commands and the modules they use on first use, so that the top-level help needs only a table.

For a module that loads slowly, a command module writes `if TYPE_CHECKING: from librarian import app as service` for
the type checker, and in the `else` branch `service = deferred("librarian.app")`; help and remote commands then load
nothing that only a graph needs.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import Default

# Name -> (module of this package, one line of help).
Commands: TypeAlias = Mapping[str, tuple[str, str]]

SECTIONS: Mapping[str, Commands] = {
    "Find": {
        "search": ("search", "Find items."),
        "search-facts": ("search", "Find facts similar to a query, with their evidence."),
        "search-messages": ("search", "Find messages similar to a query."),
        "search-memories": ("search", "Find memories similar to a query."),
        "search-all": ("search", "Find items of all kinds similar to a query."),
        "ask": ("search", "Answer a question from memory, with citations."),
        "relevant": (
            "search",
            "Get the messages, memories and facts that help to answer a question.",
        ),
        "context": ("search", "Get the context that a language model needs to answer a question."),
        "why-not": ("search", "Explain why a search does not show an item."),
        "search-agent": ("agent", "Find the smallest set of evidence for a question."),
        "find-file": ("files", "Find files by name."),
        "search-text": ("files", "Search the lines of files for an exact text."),
        "locate": ("files", "Locate something in files."),
        "open": ("files", "Print the stored lines of a file."),
        "stale": ("files", "List facts and memories whose evidence in files is no longer valid."),
        "list": ("items", "List items by when they were stored, newest first."),
        "get": ("items", "Show one item."),
        "history": ("items", "Show the earlier versions of an item, newest first."),
        "impact": ("items", "Show what depends on an item, before you correct or forget it."),
        "edges": ("items", "List typed edges, including proposed and rejected ones."),
        "changes": ("feed.changes", "Show the changes of items, files and edges, and follow them."),
    },
    "Connect": {
        "graph": ("causal", "Draw the neighbourhood of an item, following edges in both directions."),
        "causes": ("causal", "Show what led to an item, down to its root causes."),
        "effects": ("causal", "Show what an item leads to: its blast radius."),
        "blockers": ("causal", "Show what blocks an item, and what blocks that."),
        "enablers": ("causal", "Show what enables an item, and what enables that."),
        "path": ("causal", "Show the shortest path between two items."),
        "contradictions": ("causal", "List facts and edges that contradict each other."),
        "cycles": ("causal", "List items that lead back to themselves."),
        "review": ("review", "Accept or reject what sweeps and ingests propose."),
    },
    "Keep and change": {
        "ingest": ("ingest", "Store the rows of a JSONL file, or another program's export."),
        "index": ("files", "Index the files below a folder, only changed ones."),
        "remember": ("items", "Keep one memory or fact."),
        "correct": ("items", "Correct a fact or memory."),
        "put": ("items", "Create or replace one item."),
        "edit": ("items", "Change some fields of one item."),
        "forget": ("items", "Delete items by uid or filter, after a preview."),
        "forgotten": ("items", "List forgotten items, and allow them back."),
        "link": ("items", "Connect two items by a typed edge."),
        "unlink": ("items", "Remove a typed edge."),
        "sweep": (
            "sweep",
            "Classify memories, write their sections, connect causes; with a plan first, and an undo.",
        ),
        "namespaces": ("items", "List and delete namespaces."),
        "webhook": ("feed.webhooks", "Send signed changes to other systems."),
    },
    "Run": {
        "serve": ("serve", "Serve the HTTP interface until SIGTERM or Ctrl-C."),
        "hook": ("hooks.commands", "Capture the sessions of coding agents."),
        "mcp": ("mcp", "Offer the tools to an MCP client over standard input and output."),
        "server": ("server", "Start, stop and inspect the managed Neo4j server."),
        "analyst": ("analyst", "Give analysts a read-only copy of the graph, on a separate server."),
        "backup": ("transfer", "Write the whole graph to a new file, while it stays in use."),
        "restore": ("transfer", "Replace the contents of the graph by those of a backup."),
        "export": ("transfer", "Write a namespace to a file: items, history, edges, evidence, sweeps."),
        "import": ("transfer", "Import a file written by `export` or `backup`."),
        "migrate": ("server", "Show, check and upgrade the version of the graph's schema."),
        "embeddings": ("embeddings", "List, build and switch embedding spaces."),
        "calibrate": ("embeddings", "Recalibrate: measure how similar unrelated texts are to the encoder."),
        "professor": ("agent", "Check the Professor's search."),
        "agent": ("agent", "Replay traces of the search agent."),
        "keys": ("installation", "Create, list, rotate and revoke API keys."),
        "config": ("installation", "Show the settings."),
        "doctor": ("installation", "Check the installation; starts nothing."),
        "openapi": ("installation", "Print the OpenAPI document of the HTTP interface."),
        "eval": ("evaluate", "Measure quality on labelled data."),
        "version": ("installation", "Print the version."),
    },
}
"""The commands by the sections of the help."""

COMMANDS: Commands = {name: entry for commands in SECTIONS.values() for name, entry in commands.items()}


def new_app(summary: str | None = None) -> typer.Typer:
    """Create a typer application; `summary` is the help of a group without its own action."""
    return typer.Typer(
        help=Default(None) if summary is None else summary,
        no_args_is_help=summary is not None,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def load(name: str) -> Any:
    """Return the command or group `name`: imports its module, and builds only this one of its commands."""
    module, summary = COMMANDS[name]
    app = importlib.import_module(f"librarian.cli.{module}").app
    alone = new_app()
    alone.registered_commands = [info for info in app.registered_commands if info.name == name]
    alone.registered_groups = [info for info in app.registered_groups if info.name == name]
    command: Any = typer.main.get_command(alone)
    command = getattr(command, "commands", {}).get(name, command)
    command.help = command.help or summary
    return command


def lazy_group(sections: Mapping[str, Commands]) -> type[TyperGroup]:
    """Create a group class that lists the commands of `sections` without loading them."""
    names = [name for commands in sections.values() for name in commands]
    width = max(map(len, names))

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name in names:
                self.add_command(TyperCommand(name), name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, listed, rest = super().resolve_command(ctx, args)
            return name, listed if name is None else load(name), rest

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the base has it
            for title, commands in sections.items():
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), summary) for name, (_, summary) in commands.items()])

    return LazyGroup


@dataclass(frozen=True, slots=True)
class deferred:  # noqa: N801 - reads like the import that it replaces
    """A module that is imported when one of its attributes is first read."""

    module: str

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.module), name)


if TYPE_CHECKING:
    from librarian import operations
else:
    operations = deferred("librarian.operations")


def verb_of(command: str) -> str:
    """Return the verb of Librarian and clients that a command calls."""
    return next(operation.name for operation in operations.OPERATIONS if operation.cli == command)


def asks_services(command: str) -> bool:
    """Return whether a command can use a service; every other command works on this machine."""
    return any(operation.cli.partition(" ")[0] == command for operation in operations.OPERATIONS)
