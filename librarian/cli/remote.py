"""Which service the commands ask, when they do not open the graph themselves."""

from contextvars import ContextVar

# What --remote says; LIBRARIAN_REMOTE counts without it.
given: ContextVar[str | None] = ContextVar("remote", default=None)

COMMANDS = frozenset(
    {
        "ask",
        "correct",
        "edges",
        "edit",
        "forget",
        "get",
        "history",
        "ingest",
        "link",
        "list",
        "namespaces",
        "put",
        "relevant",
        "remember",
        "search",
        "unlink",
    }
)
"""What can be asked of a service; every other command works on this machine."""
