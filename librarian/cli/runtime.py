"""Shared by all commands: settings, logs, and errors as one message and an exit code, without a traceback."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from librarian.base.errors import InvalidInput
from librarian.cli.lazy import deferred
from librarian.transfer.atomic import FULL

if TYPE_CHECKING:
    from librarian.base import audit, logs, problems
    from librarian.base.settings import settings, values
else:
    # `problems` imports every class of error, and with them the database driver; it is needed only for errors.
    audit, logs, problems = (deferred(f"librarian.base.{name}") for name in ("audit", "logs", "problems"))
    settings, values = (deferred(f"librarian.base.settings.{name}") for name in ("settings", "values"))

T = TypeVar("T")

# The caller in audit events.
ACTOR = "cli"
EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141

# The service named by --remote; LIBRARIAN_REMOTE applies without it.
remote_option: ContextVar[str | None] = ContextVar("remote", default=None)
# Whether --local keeps commands from using any service.
local_option: ContextVar[bool] = ContextVar("local", default=False)


def settings_for(level: "values.LogLevel" = "warning") -> "settings.Settings":
    """Read the settings, set up logging, and print warnings about the environment."""
    found = settings_of_question()
    if found.remote.url is None:
        set_up_logging(found, level)
    return found


def settings_of_question() -> "settings.Settings":
    """Read the settings like `settings_for`, for a command that may only need a service, which has nothing to log
    unless a level is set.
    """
    found = settings.Settings.from_env().with_remote(remote_option.get())
    if local_option.get():
        found = found.without_remote()
    if found.log.level is not None:
        set_up_logging(found)
    for warning in found.warnings:
        say(f"warning: {warning}")
    return found


def set_up_logging(found: "settings.Settings", level: "values.LogLevel" = "warning") -> None:
    """Set up logging to standard error; `level` applies if the settings name none."""
    logs.configure(found.log, default_level=level)


class _ExitCode:
    """Prints an error of its block and ends the program with its exit code."""

    def __enter__(self) -> None:
        audit.actor.set(ACTOR)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        match error:
            case typer.Exit():
                return
            case KeyboardInterrupt():
                say("Interrupted.")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            case BrokenPipeError():  # the reader of our output, such as `head`, has exited
                _discard_output()
                raise typer.Exit(_EXIT_BROKEN_PIPE) from None
            case Exception():
                raise typer.Exit(report(error)) from None


def finished(work: Callable[[], T]) -> T:
    """Return the result of `work`, or exit with the code of its error."""
    with _ExitCode():
        return work()


def run(work: Callable[[], int | None]) -> None:
    """Call `work` and exit with the code that it returns, or that of its error."""
    raise typer.Exit(finished(work) or 0)


def run_async(
    work: Callable[[], Coroutine[Any, Any, int | None]],
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> None:
    """Like `run`, for a coroutine function; `loop_factory` creates its event loop, by default asyncio."""

    def run_in_loop() -> int | None:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            return runner.run(work())

    run(run_in_loop)


def report(error: Exception) -> int:
    """Print an error for the operator, and return its exit code."""
    if isinstance(error, OSError) and error.errno in FULL:
        _discard_output()
        say(f"error: {error.filename or 'the output'} cannot be written: {error.strerror}\nMake room, and try again.")
        return os.EX_CANTCREAT
    if isinstance(error, OSError) and error.filename is not None:
        say(f"error: {error.filename}: {error.strerror}")
        return os.EX_NOINPUT
    if isinstance(error, UnicodeEncodeError):  # an argument contained bytes that are not text
        say("error: an argument is not valid UTF-8")
        return os.EX_DATAERR
    say(f"error: {problems.message_of(error)}")
    if not problems.is_known(error):
        logs.debug_traceback(error)
    return problems.rule_of(error).exit_code


def _discard_output() -> None:
    """Discard buffered standard output, which would fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(message: str) -> None:
    """Print a line for people on standard error."""
    typer.echo(message, err=True)


def print_json(value: object) -> None:
    """Print `value` as JSON, the only thing on standard output."""
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def print_answer(answer: T, show: Callable[[T], None], *, as_json: bool) -> None:
    """Print `answer` as JSON, or by `show`."""
    if as_json:
        print_json(answer)
    else:
        show(answer)


def namespace_or(option: str | None, default: str) -> str:
    """Return the checked namespace of an option, or the configured one."""
    if option is None:
        return default
    try:
        return values.checked_namespace(option)
    except ValueError as error:
        raise InvalidInput(f"{option!r}: {error}", field="--namespace") from None
