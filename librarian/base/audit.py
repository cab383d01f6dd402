"""Who changes what: the acting caller, and one log event for each write."""

from contextvars import ContextVar
from typing import Any

# The id of an API key, "cli", or "python" for programs that use the package.
actor: ContextVar[str] = ContextVar("actor", default="python")
_name: ContextVar[str | None] = ContextVar("name", default=None)


def act_as(key_id: str, name: str) -> None:
    """Make an API key the acting caller."""
    actor.set(key_id)
    _name.set(name)


def actor_name() -> str:
    """Return the display name of the acting caller: the name of the API key, "cli" or "python"."""
    return _name.get() or actor.get()


def audit(action: str, namespace: str, **what: Any) -> None:
    """Log one finished write: ids and counts, never texts."""
    import structlog

    structlog.stdlib.get_logger("librarian.audit").info(
        "audit", action=action, namespace=namespace, actor=actor.get(), **what
    )
