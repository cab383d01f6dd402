"""What every command shares: settings, logs, one message and an exit code for an error, no traceback."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec
import typer
from typer.models import Default

from librarian import logs, problems
from librarian.audit import actor
from librarian.cli import remote
from librarian.errors import InvalidInput
from librarian.setting_values import LogLevel, namespace
from librarian.settings import Settings
from librarian.transfer.atomic import FULL

T = TypeVar("T")

# Whom audit events name.
ACTOR = "cli"
EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141


def new_app(summary: str | None = None) -> typer.Typer:
    """Make the typer application of one command module; `summary` is the help of a group that does nothing alone."""
    return typer.Typer(
        help=Default(None) if summary is None else summary,
        no_args_is_help=summary is not None,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def settings_for(level: LogLevel = "warning") -> Settings:
    """Read the settings, set up logging, and say what is odd about the environment."""
    settings = Settings.from_env().with_remote(remote.given.get())
    logs.configure(settings.log, default_level=level)
    for warning in settings.warnings:
        say(f"warning: {warning}")
    return settings


def run(work: Callable[[], int | None]) -> None:
    """Call `work` and leave with the exit code that it returns, or that its error stands for."""
    raise typer.Exit(finished(work) or 0)


def finished(work: Callable[[], T]) -> T:
    """What `work` returns; where it fails, leave with the exit code that its error stands for."""
    actor.set(ACTOR)
    try:
        outcome = problems.attempt(work)
    except KeyboardInterrupt:
        say("Interrupted.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if isinstance(outcome, BrokenPipeError):  # the reader of our output, such as `head`, has left
        _write_no_more()
        raise typer.Exit(_EXIT_BROKEN_PIPE)
    if isinstance(outcome, Exception):
        raise typer.Exit(report(outcome))
    return outcome


def run_async(work: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
    """Like `run`, for a coroutine function."""
    run(lambda: asyncio.run(work()))


def report(error: Exception) -> int:
    """Print an error for the operator; the exit code for it is returned."""
    if isinstance(error, OSError) and error.errno in FULL:
        _write_no_more()
        say(f"error: {error.filename or 'the output'} cannot be written: {error.strerror}\nMake room, and try again.")
        return os.EX_CANTCREAT
    if isinstance(error, OSError) and error.filename is not None:
        say(f"error: {error.filename}: {error.strerror}")
        return os.EX_NOINPUT
    if isinstance(error, UnicodeEncodeError):  # what came in as bytes of no text cannot go out as one
        say("error: an argument is not valid UTF-8")
        return os.EX_DATAERR
    say(f"error: {problems.message_of(error)}")
    if not problems.is_known(error):
        logs.debug_traceback(error)
    return problems.rule_of(error).exit_code


def _write_no_more() -> None:
    """Let what is still to be written to standard output go nowhere: it would fail again as the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Print a line for the human, on standard error."""
    typer.echo(message, err=True)


def print_json(value: object) -> None:
    """Print `value` as JSON, the only thing on standard output."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def namespace_or(given: str | None, default: str) -> str:
    """The checked namespace of an option, or the setting's."""
    if given is None:
        return default
    try:
        return namespace(given)
    except ValueError as error:
        raise InvalidInput(f"{given!r}: {error}", field="--namespace") from None
