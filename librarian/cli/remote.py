"""Which service the commands ask, when they do not open the graph themselves."""

from contextvars import ContextVar

# What --remote says; LIBRARIAN_REMOTE counts without it.
given: ContextVar[str | None] = ContextVar("remote", default=None)

COMMANDS = frozenset(
    {
        "ask",
        "blockers",
        "causes",
        "contradictions",
        "correct",
        "cycles",
        "edges",
        "edit",
        "effects",
        "enablers",
        "forget",
        "get",
        "graph",
        "history",
        "ingest",
        "find-file",
        "index",
        "link",
        "list",
        "locate",
        "namespaces",
        "open",
        "path",
        "put",
        "relevant",
        "remember",
        "search",
        "search-agent",
        "search-text",
        "unlink",
        "why-not",
    }
)
"""What can be asked of a service; every other command works on this machine."""
