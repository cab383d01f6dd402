"""The hook configuration of coding agents: adds and removes Librarian's hooks.

Formats: https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks,
https://geminicli.com/docs/hooks/reference. All three have `{"hooks": {EVENT: [{"hooks": [HANDLER, …]}, …]}}`.
"""

import difflib
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from librarian.base.errors import InvalidInput
from librarian.items.capture import turn

_START = "SessionStart"
_TIMEOUT_S = 10
_CONTEXT_TIMEOUT_S = 20
_NEW_MODE = 0o600
# Parts that identify our commands.
_OURS = ("items/capture/keep.py", " hook context ")


class Program(StrEnum):
    """Coding agents with supported hooks."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini-cli"


@dataclass(frozen=True, slots=True)
class _Format:
    """The location of a program's configuration (below the home and a project) and its events that report turns."""

    variable: str
    folder: str
    user_file: str
    project_file: str
    events: tuple[str, ...]
    per_second: int = 1
    note: str = ""


_FORMATS: Mapping[Program, _Format] = {
    Program.CLAUDE_CODE: _Format(
        "CLAUDE_CONFIG_DIR",
        ".claude",
        "settings.json",
        "settings.local.json",
        (_START, "UserPromptSubmit", "Stop", "SessionEnd"),
    ),
    Program.CODEX: _Format(
        "CODEX_HOME",
        ".codex",
        "hooks.json",
        "hooks.json",
        (_START, "UserPromptSubmit", "Stop"),
        note="Codex runs new hooks once you have trusted them: type /hooks in it.",
    ),
    Program.GEMINI: _Format(
        "",
        ".gemini",
        "settings.json",
        "settings.json",
        (_START, "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
        per_second=1000,
    ),
}


def note_of(program: Program) -> str:
    """Return what else the user has to do, or an empty text."""
    return _FORMATS[program].note


def file_of(program: Program, project: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the file with the program's hooks: of a project, or the user's."""
    form = _FORMATS[program]
    if project is not None:
        return project / form.folder / form.project_file
    named = environment.get(form.variable)
    return (Path(named) if named else Path.home() / form.folder) / form.user_file


@dataclass(frozen=True, slots=True)
class Commands:
    """The command that captures a turn, and the one that recalls at the start of a session."""

    keep: str
    recall: str

    @classmethod
    def of(cls, program: Program, folder: Path, namespace: str, own: list[str]) -> "Commands":
        """Return the commands for the spool in `folder`; `own` is the command of this program."""
        keep = [
            sys.executable,
            "-I",
            "-S",
            str(Path(turn.__file__).resolve().with_name("keep.py")),
            program,
            str(folder),
            namespace,
        ]
        return cls(shlex.join(keep), shlex.join([*own, "hook", "context", program, "--namespace", namespace]))


@dataclass(frozen=True, slots=True)
class Configuration:
    """The text of one file, empty if it does not exist."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> "Configuration":
        """Read the file at `path`, following links."""
        path = path.resolve()
        return cls(path, path.read_text(encoding="utf-8") if path.exists() else "")

    @property
    def is_installed(self) -> bool:
        """Whether it contains our hooks."""
        return any(_is_ours(handler) for handlers in self._groups().values() for handler in _handlers(handlers))

    @property
    def is_broken(self) -> bool:
        """Whether our hooks lead to a missing script, for instance after Librarian was moved."""
        handlers = [handler for groups in self._groups().values() for handler in _handlers(groups) if _is_ours(handler)]
        scripts = [word for handler in handlers for word in shlex.split(handler["command"]) if word.endswith(_OURS[0])]
        return not all(Path(script).exists() for script in scripts)

    def with_hooks(self, program: Program, commands: Commands) -> str:
        """Return the text with our hooks, added once. Raises InvalidInput for invalid JSON."""
        form = _FORMATS[program]
        content, groups = self._content(), self._without_ours()
        for event in form.events:
            handlers = [_handler(commands.keep, _TIMEOUT_S * form.per_second)]
            if event == _START:
                handlers.append(_handler(commands.recall, _CONTEXT_TIMEOUT_S * form.per_second))
            groups.setdefault(event, []).append({"hooks": handlers})
        return _written(content | {"hooks": groups})

    def without_hooks(self) -> str:
        """Return the text without our hooks. Raises InvalidInput for invalid JSON."""
        if not self.is_installed:
            return self.text
        content, groups = self._content(), self._without_ours()
        left = content | {"hooks": groups} if groups else {key: content[key] for key in content if key != "hooks"}
        return _written(left) if left else ""

    def difference(self, text: str) -> str:
        """Return the diff to `text`."""
        name = str(self.path)
        lines = difflib.unified_diff(self.text.splitlines(), text.splitlines(), name, name, lineterm="")
        return "\n".join(lines)

    def replace(self, text: str) -> None:
        """Replace the file's text atomically; an empty one removes the file."""
        if not text:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        mode = self.path.stat().st_mode & 0o777 if self.path.exists() else _NEW_MODE
        with scratch.open("w", encoding="utf-8") as file:
            file.write(text)
        scratch.chmod(mode)
        scratch.replace(self.path)

    def _content(self) -> dict[str, Any]:
        try:
            return msgspec.json.decode(self.text or "{}", type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise InvalidInput(
                f"{self.path} cannot be read as JSON: {error}",
                field="PROGRAM",
                remedy="Fix the file, or add the hooks shown by `librarian hook install --print` to it.",
            ) from None

    def _groups(self) -> dict[str, list[Any]]:
        hooks = self._content().get("hooks")
        if not isinstance(hooks, dict):
            return {}
        return {event: list(groups) if isinstance(groups, list) else [groups] for event, groups in hooks.items()}

    def _without_ours(self) -> dict[str, Any]:
        """Return the groups of each event without our handlers, dropping groups that become empty."""
        left: dict[str, Any] = {}
        for event, groups in self._groups().items():
            kept = [_rest(group) for group in groups]
            if any(group is not None for group in kept) or not groups:
                left[event] = [group for group in kept if group is not None]
        return left


def _handler(command: str, timeout: int) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": timeout}


def _handlers(groups: list[Any]) -> list[Any]:
    return [handler for group in groups if isinstance(group, dict) for handler in _listed(group.get("hooks"))]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and any(mark in command for mark in _OURS)


def _rest(group: Any) -> Any:
    """Return a group without our handlers; None if it had no others."""
    if not isinstance(group, dict) or not any(map(_is_ours, _listed(group.get("hooks")))):
        return group
    left = [handler for handler in group["hooks"] if not _is_ours(handler)]
    return group | {"hooks": left} if left else None


def _written(content: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"
