"""What loads on first use: commands, so that the help of the top level is a table, and the modules that they work with.

For a module that takes long to load a command module writes `if TYPE_CHECKING: from librarian import app as service`
for the type checker, and in the `else` branch `service = deferred("librarian.app")`; help and remote commands then
load nothing of what a graph takes.
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
        "ask": ("search", "Answer a question out of what is kept, with citations."),
        "relevant": (
            "search",
            "Get the messages, memories and facts that help to answer a question.",
        ),
        "context": ("search", "Get what a language model should be given about a question."),
        "why-not": ("search", "Say why a search does not show an item."),
        "search-agent": ("agent", "Find the smallest set of evidence for a question."),
        "find-file": ("files", "Find files by what they are called."),
        "search-text": ("files", "Search the lines of files for an exact text."),
        "locate": ("files", "Find out where something is in files."),
        "open": ("files", "Print lines of a file as they are stored."),
        "stale": ("files", "List facts and memories whose evidence in files does not stand any more."),
        "list": ("items", "List items by when they were stored, the newest first."),
        "get": ("items", "Show one item."),
        "history": ("items", "Show what an item said before each change, the newest first."),
        "impact": ("items", "Show what rests on an item, before you correct or forget it."),
        "edges": ("items", "List typed edges, proposed and rejected ones too."),
        "changes": ("feed.changes", "Show what became of items, files and edges, and follow it."),
    },
    "Connect": {
        "graph": ("causal", "Draw what is around an item, whichever way edges point."),
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
        "ingest": ("ingest", "Store rows of a JSONL file, or what another program exported."),
        "index": ("files", "Index the files below a folder, only what changed."),
        "remember": ("items", "Keep one memory or fact."),
        "correct": ("items", "Say what is true instead of a fact or memory."),
        "put": ("items", "Create or replace one item."),
        "edit": ("items", "Change some fields of one item."),
        "forget": ("items", "Delete items by uid or filter, after a preview."),
        "forgotten": ("items", "See what was forgotten, and let it come back."),
        "link": ("items", "Connect two items by a typed edge."),
        "unlink": ("items", "Remove a typed edge."),
        "sweep": (
            "sweep",
            "Tell memories' types, write their sections, connect causes; with a plan first, and back.",
        ),
        "namespaces": ("items", "List and delete namespaces."),
        "webhook": ("feed.webhooks", "Send what is changed to other systems, signed."),
    },
    "Run": {
        "serve": ("serve", "Serve the HTTP interface until SIGTERM or Ctrl-C."),
        "hook": ("hooks.commands", "Keep what is said in the sessions of coding agents."),
        "mcp": ("mcp", "Offer the tools to an MCP client over standard input and output."),
        "server": ("server", "Start, stop and look at the managed Neo4j server."),
        "analyst": ("analyst", "Give analysts a read-only copy of the graph, on a server of its own."),
        "backup": ("transfer", "Write the whole graph to a new file, while everybody goes on working."),
        "restore": ("transfer", "Make the graph hold what a backup holds, and nothing else."),
        "export": ("transfer", "Write a namespace to a file: items, history, edges, evidence, sweeps."),
        "import": ("transfer", "Read a file that `export` or `backup` wrote."),
        "migrate": ("server", "See, check and change the version of the graph's schema."),
        "embeddings": ("embeddings", "See, build and switch the vectors of the graph."),
        "calibrate": ("embeddings", "Measure anew how similar unrelated texts are to the encoder."),
        "professor": ("agent", "Check the Professor's search."),
        "agent": ("agent", "Replay what the search agent did."),
        "keys": ("installation", "Make, list, replace and revoke API keys."),
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
    """Make a typer application; `summary` is the help of a group that does nothing alone."""
    return typer.Typer(
        help=Default(None) if summary is None else summary,
        no_args_is_help=summary is not None,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def load(name: str) -> Any:
    """Return the command or group `name`: its module is imported, and of all commands there only this one is built."""
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
    """Make a group class that lists the commands of `sections` without loading them."""
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
class deferred:  # noqa: N801 - reads like the import that it stands for
    """A module by its name: it is imported when one of its attributes is read."""

    module: str

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.module), name)


if TYPE_CHECKING:
    from librarian import operations
else:
    operations = deferred("librarian.operations")


def verb_of(command: str) -> str:
    """Return the verb, of a Librarian and of clients alike, that a command asks."""
    return next(operation.name for operation in operations.OPERATIONS if operation.cli == command)


def asks_services(command: str) -> bool:
    """Return whether a command asks operations that a service offers; every other command works on this machine."""
    return any(operation.cli.partition(" ")[0] == command for operation in operations.OPERATIONS)
