"""Who changes what: the acting caller, and one log event for each write."""

from contextvars import ContextVar
from typing import Any

# The id of an API key, "cli", or "python" for programs that use the package.
actor: ContextVar[str] = ContextVar("actor", default="python")


def audit(action: str, namespace: str, **what: Any) -> None:
    """Log one finished write: ids and counts, never texts."""
    import structlog

    structlog.stdlib.get_logger("librarian.audit").info(
        "audit", action=action, namespace=namespace, actor=actor.get(), **what
    )
