"""Commands that load on first use, so that `librarian --help` stays fast: the help of the top level is a table."""

import importlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup

# Name -> (module whose `app` it is, one line of help). A test keeps the help equal to the module's own.
Commands: TypeAlias = Mapping[str, tuple[str, str]]

SECTIONS: Mapping[str, Commands] = {
    "Find": {
        "search": ("librarian.cli.search", "Find items."),
        "search-facts": ("librarian.cli.search_facts", "Find facts similar to a query, with their evidence."),
        "search-messages": ("librarian.cli.search_messages", "Find messages similar to a query."),
        "search-memories": ("librarian.cli.search_memories", "Find memories similar to a query."),
        "search-all": ("librarian.cli.search_all", "Find items of all kinds similar to a query."),
        "ask": ("librarian.cli.ask", "Answer a question out of what is kept, with citations."),
        "relevant": (
            "librarian.cli.relevant",
            "Get the messages, memories and facts that help to answer a question.",
        ),
        "why-not": ("librarian.cli.why_not", "Say why a search does not show an item."),
        "search-agent": ("librarian.cli.search_agent", "Find the smallest set of evidence for a question."),
        "find-file": ("librarian.cli.find_file", "Find files by what they are called."),
        "search-text": ("librarian.cli.search_text", "Search the lines of files for an exact text."),
        "locate": ("librarian.cli.locate", "Find out where something is in files."),
        "open": ("librarian.cli.open_file", "Print lines of a file as they are stored."),
        "stale": ("librarian.cli.stale", "List facts and memories whose evidence in files does not stand any more."),
        "list": ("librarian.cli.listing", "List items by when they were stored, the newest first."),
        "get": ("librarian.cli.get", "Show one item."),
        "history": ("librarian.cli.history", "Show what an item said before each change, the newest first."),
        "edges": ("librarian.cli.edges", "List typed edges, proposed and rejected ones too."),
    },
    "Connect": {
        "graph": ("librarian.cli.neighbourhood", "Draw what is around an item, whichever way edges point."),
        "causes": ("librarian.cli.causes", "Show what led to an item, down to its root causes."),
        "effects": ("librarian.cli.effects", "Show what an item leads to: its blast radius."),
        "blockers": ("librarian.cli.blockers", "Show what blocks an item, and what blocks that."),
        "enablers": ("librarian.cli.enablers", "Show what enables an item, and what enables that."),
        "path": ("librarian.cli.path_between", "Show the shortest path between two items."),
        "contradictions": ("librarian.cli.contradictions", "List facts and edges that contradict each other."),
        "cycles": ("librarian.cli.cycles", "List items that lead back to themselves."),
        "review": ("librarian.cli.review", "Accept or reject what sweeps propose."),
    },
    "Keep and change": {
        "ingest": ("librarian.cli.ingest", "Store rows of a JSONL file, or what another program exported."),
        "index": ("librarian.cli.index", "Index the files below a folder, only what changed."),
        "remember": ("librarian.cli.remember", "Keep one memory or fact."),
        "correct": ("librarian.cli.correct", "Say what is true instead of a fact or memory."),
        "put": ("librarian.cli.put", "Create or replace one item."),
        "edit": ("librarian.cli.edit", "Change some fields of one item."),
        "forget": ("librarian.cli.forget", "Delete items by uid or filter, after a preview."),
        "link": ("librarian.cli.link", "Connect two items by a typed edge."),
        "unlink": ("librarian.cli.unlink", "Remove a typed edge."),
        "sweep": (
            "librarian.cli.sweep",
            "Tell memories' types, write their sections, connect causes; with a plan first, and back.",
        ),
        "namespaces": ("librarian.cli.namespaces", "List and delete namespaces."),
    },
    "Run": {
        "serve": ("librarian.cli.serve", "Serve the HTTP interface until SIGTERM or Ctrl-C."),
        "mcp": ("librarian.cli.mcp", "Offer the tools to an MCP client over standard input and output."),
        "server": ("librarian.cli.server", "Start, stop and look at the managed Neo4j server."),
        "analyst": ("librarian.cli.analyst", "Give analysts a read-only copy of the graph, on a server of its own."),
        "backup": ("librarian.cli.backup", "Write the whole graph to a new file, while everybody goes on working."),
        "restore": ("librarian.cli.restore", "Make the graph hold what a backup holds, and nothing else."),
        "export": ("librarian.cli.export", "Write a namespace to a file: items, history, edges, evidence, sweeps."),
        "import": ("librarian.cli.import_export", "Read a file that `export` or `backup` wrote."),
        "migrate": ("librarian.cli.migrate", "See, check and change the version of the graph's schema."),
        "embeddings": ("librarian.cli.embeddings", "See, build and switch the vectors of the graph."),
        "calibrate": ("librarian.cli.calibrate", "Measure anew how similar unrelated texts are to the encoder."),
        "professor": ("librarian.cli.professor", "Check the Professor's search."),
        "agent": ("librarian.cli.agent", "Replay what the search agent did."),
        "keys": ("librarian.cli.keys", "Make, list, replace and revoke API keys."),
        "config": ("librarian.cli.config", "Show the settings."),
        "doctor": ("librarian.cli.doctor", "Check the installation; starts nothing."),
        "openapi": ("librarian.cli.openapi", "Print the OpenAPI document of the HTTP interface."),
        "eval": ("librarian.cli.evaluate", "Measure quality on labelled data."),
        "version": ("librarian.cli.version", "Print the version."),
    },
}
"""The commands by the sections of the help."""

COMMANDS: Commands = {name: entry for commands in SECTIONS.values() for name, entry in commands.items()}


def lazy_group(sections: Mapping[str, Commands]) -> type[TyperGroup]:
    """Make a group class that lists the commands of `sections` without loading them."""
    modules = {name: module for commands in sections.values() for name, (module, _) in commands.items()}
    widest = max(map(len, modules))

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            for name in modules:
                self.add_command(TyperCommand(name), name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, listed, rest = super().resolve_command(ctx, args)
            return name, listed if name is None else load(modules[name]), rest

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as the base has it
            for title, commands in sections.items():
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(widest), summary) for name, (_, summary) in commands.items()])

    return LazyGroup


def load(module: str) -> Any:
    """The command or group that a command module defines as `app`."""
    return typer.main.get_command(importlib.import_module(module).app)
