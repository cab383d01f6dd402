"""The Unix socket by which commands of a home find its service."""

import hashlib
import socket
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from librarian.base.settings.settings import Settings

_NAME_CHARS = 12


def socket_of(settings: Settings) -> Path | None:
    """Return the Unix socket at which a service with these settings listens for commands of the home's owner.

    Its name covers everything that affects answers, so that a command with other settings, or of another release,
    finds no service there. None where the system has no Unix sockets.
    """
    if not hasattr(socket, "AF_UNIX"):
        return None
    neo4j = settings.neo4j
    decisive = (
        _release(),
        (neo4j.uri, neo4j.username, neo4j.database),
        settings.encoder.name,
        settings.search,
        settings.reranker,
        settings.llm,
        settings.agent,
        settings.files,
        settings.max_text_chars,
    )
    digest = hashlib.sha256(repr(decisive).encode("utf-8", "surrogateescape")).hexdigest()
    return settings.home / f"service-{digest[:_NAME_CHARS]}.sock"


def _release() -> str:
    try:
        return version("librarian")
    except PackageNotFoundError:  # run from its source, uninstalled
        return ""
