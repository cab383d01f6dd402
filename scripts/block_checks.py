"""Checks a shell statement without running it: whether everything it names exists.

Commands of `librarian` are parsed by the command line itself; targets of make, extras of pip, services and files of
Docker, and every file of the project that a statement names have to exist.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
import yaml

from librarian.cli import app
from scripts.code_blocks import words_of

Check = Callable[[Sequence[str], Path], Iterator[str]]

# Shell commands and programs that a block may run for its reader.
RUN = frozenset({"librarian", "curl", "python", "jq", "echo", "cat", "export", "cd", "mkdir", "printf", "cp", "head"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "2>"})
# The base of what typer raises for a wrong command line; it exports no other name for it.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_EXTRAS = re.compile(r"\[([\w,-]+)\]$")


def program_of(statement: str) -> str:
    """Return the program that a statement calls first, `librarian` without its folder; empty for none."""
    words = words_of(statement)
    return "" if not words else "librarian" if words[0].endswith("/librarian") else words[0].lstrip("(")


def is_run(statement: str) -> bool:
    """Return whether a statement terminates and changes only the graph, the home and its folder."""
    words = words_of(statement)
    if not words:
        return True
    if program_of(statement) == "librarian":
        return not _lasts(words[1:])
    return program_of(statement) in RUN


def faults_of(statement: str, project: Path) -> list[str]:
    """Return the faults of a statement: missing things that it names; none for unknown programs."""
    words = _simple(words_of(statement))
    if not words:
        return []
    program = program_of(statement)
    checks = (_CHECKS.get(program, _nothing), _named_files)
    return [fault for check in checks for fault in check(words[1:], project)]


def synopsis_faults(line: str) -> list[str]:
    """Return the options in a command's synopsis that it does not have."""
    words = [word for word in line.split() if not word.startswith("[--remote")]
    path = []
    for word in words[1:]:
        if not re.fullmatch(r"[a-z][a-z-]*(\|[a-z-]+)*", word):
            break
        path.append(word.partition("|")[0])
    command = _command_at(path)
    if command is None:
        return [f"there is no command {' '.join(words[:2])}"]
    options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return [f"{' '.join(path)} has no option {name}" for name in _OPTION.findall(line) if name not in options]


def _lasts(arguments: Sequence[str]) -> bool:
    """Return whether a command runs until it is stopped, or talks to a program instead of a person."""
    return (
        "--watch" in arguments
        or [*arguments][:1] == ["serve"]
        or ([*arguments][:1] == ["mcp"] and "install" not in arguments)
    )


def _simple(words: Sequence[str]) -> list[str]:
    """Return the words of the first command of a pipeline."""
    kept: list[str] = []
    for word in words:
        if word in _OPERATORS:
            break
        kept.append(word.rstrip(";"))
        if word.endswith(";"):
            break
    return kept


def _librarian(arguments: Sequence[str], _project: Path) -> Iterator[str]:
    """Yield the usage error of the arguments, without running the command."""
    command, name, rest, context = typer.main.get_command(app), "librarian", [*arguments], None
    try:
        while True:
            context = command.make_context(name, rest, parent=context)
            rest = [*getattr(context, "_protected_args", ()), *context.args]
            if not rest or not hasattr(command, "resolve_command"):
                return
            name, command, rest = command.resolve_command(context, rest)
    except typer.Exit:
        return
    except _UsageError as error:
        yield f"`librarian {' '.join(arguments)}`: {error}"


def _command_at(path: Sequence[str]) -> Any:
    """Return the command or group named by the words, or None."""
    command: Any = typer.main.get_command(app)
    for word in path:
        if not hasattr(command, "resolve_command"):
            break
        context = typer.Context(command)
        try:
            _, command, _ = command.resolve_command(context, [word])
        except _UsageError:
            return None
    return command


def _make(arguments: Sequence[str], project: Path) -> Iterator[str]:
    targets = set(_TARGET.findall((project / "Makefile").read_text(encoding="utf-8")))
    targets_named = [word for word in arguments if "=" not in word and not word.startswith("-")]
    yield from (f"make has no target {word}" for word in targets_named if word not in targets)


def _pip(arguments: Sequence[str], project: Path) -> Iterator[str]:
    described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    extras = described["project"]["optional-dependencies"]
    for word in arguments:
        if (named := _EXTRAS.search(word)) and word.startswith((".", "librarian")):
            yield from (f"there is no extra {extra}" for extra in named[1].split(",") if extra not in extras)


def _docker(arguments: Sequence[str], project: Path) -> Iterator[str]:
    """Yield unknown services in `docker compose exec|run|logs|restart NAME`, by the compose files that it reads."""
    words = [*arguments]
    if words[:1] != ["compose"]:
        return
    read = [words[number + 1] for number, word in enumerate(words) if word == "-f"] or ["compose.yaml"]
    services = {name for file in read if (project / file).is_file() for name in _services(project / file)}
    for number, word in enumerate(words):
        if word in {"exec", "run", "logs", "restart", "stop"}:
            named = [name for name in words[number + 1 :] if not name.startswith("-")][:1]
            yield from (f"{', '.join(read)} has no service {name}" for name in named if name not in services)


def _services(file: Path) -> Mapping[str, Any]:
    services: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["services"]
    return services


def _named_files(arguments: Sequence[str], project: Path) -> Iterator[str]:
    """Yield missing relative paths that begin with a folder of the project."""
    folders = {path.name for path in project.iterdir() if path.is_dir() and not path.name.startswith(".")}
    for word in arguments:
        first, slash, _ = word.partition("/")
        if slash and first in folders and "*" not in word and not (project / word).exists():
            yield f"there is no {word}"


def _nothing(_arguments: Sequence[str], _project: Path) -> Iterator[str]:
    return iter(())


_CHECKS: Mapping[str, Check] = {"librarian": _librarian, "make": _make, "pip": _pip, "docker": _docker}
