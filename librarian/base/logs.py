"""Logs: structlog for the shell, the standard library's loggers routed through the same pipeline.

A pipeline is a list of functions `(logger, method, event) -> event`. Ids of the request, its caller and namespace are
bound to the context by the HTTP middleware. Logs go to standard error; standard output belongs to answers.
"""

import hashlib
import logging
import sys
from collections.abc import Sequence
from typing import TextIO

import structlog
from structlog.types import EventDict, Processor, WrappedLogger

from librarian.base.settings.settings import LogSettings
from librarian.base.settings.values import MASK, LogLevel

_TEXT_FIELDS = frozenset({"text", "content", "caption", "body"})
_QUERY_FIELDS = frozenset({"query", "queries"})
_SECRET_FIELDS = frozenset({"password", "authorization", "api_key", "key", "token"})
_HASH_CHARS = 12
# Their lines about connections and requests repeat ours.
_QUIET = ("httpx", "httpcore", "mcp", "neo4j", "uvicorn")


def configure(log: LogSettings, *, default_level: LogLevel, stream: TextIO | None = None) -> None:
    """Set up logging for this process; `default_level` applies where the settings name none."""
    out = sys.stderr if stream is None else stream
    shared = _shared(log)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_rendering(log, out)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel((log.level or default_level).upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def configure_embedded(log: LogSettings) -> None:
    """Send events to the standard library's loggers `librarian.*`, which the embedding program handles; nothing is
    printed unless it configures that. A program that has configured structlog itself keeps its own pipeline.
    """
    logging.getLogger("librarian").addHandler(logging.NullHandler())
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.PositionalArgumentsFormatter(),
            Redactor(log),
            structlog.stdlib.render_to_log_kwargs,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class Redactor:
    """Redacts secrets in every event, and texts and queries unless the settings allow them.

    A text becomes its length; a query becomes the start of its SHA-256, so that equal queries can still be counted.
    """

    def __init__(self, log: LogSettings) -> None:
        self._texts = log.texts
        self._queries = log.queries

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Redact one event."""
        for name in event.keys() & _SECRET_FIELDS:
            event[name] = MASK
        if not self._texts:
            for name in event.keys() & _TEXT_FIELDS:
                event[name] = f"<{len(str(event[name]))} characters>"
        if not self._queries:
            for name in event.keys() & _QUERY_FIELDS:
                event[name] = hashed(event[name])
        return event


def hashed(value: object) -> object:
    """Return the start of the SHA-256 of a query, or of each of several."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [hashed(query) for query in value]
    return hashlib.sha256(str(value).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def _shared(log: LogSettings) -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        Redactor(log),
    ]


def _rendering(log: LogSettings, out: TextIO) -> list[Processor]:
    form = log.format or ("console" if out.isatty() else "json")
    drop_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    # Plain tracebacks: structlog's rich ones print local variables, which hold texts and passwords.
    if form == "json":
        return [
            drop_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ]
    plain = structlog.dev.plain_traceback
    return [drop_meta, structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=plain)]


def debug_traceback(error: BaseException) -> None:
    """Log the traceback of an error at level debug."""
    if structlog.is_configured():
        structlog.stdlib.get_logger("librarian.cli").debug("traceback", exc_info=error)
