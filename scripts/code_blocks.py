"""The fenced blocks of the documentation, and the instructions in their info strings for running them.

A block's language comes first, as usual; the rest is for the test that runs the blocks:

    no-run="reason"   only checked, not run
    exit="65"         the commands end with this code instead of 0
    file="rows.jsonl" the text is a file of that name for all commands of all pages
    answer            (json) the output of the command before; may leave fields and elements out
    output            (text) the output of the block before; may leave lines out
    empty="reason"    (cypher) finds nothing in the sample
    schema="NAME"     (json) valid by this schema of the OpenAPI document
    background="URL"  (sh) keeps running during the blocks after it, which begin when the address answers
    width="110"       the columns of the terminal instead of 100
    managed           only where Librarian manages the database, checked elsewhere
    synopsis          (sh) forms of a command, not a command: every option in it must exist

A block inside an HTML comment runs like any other but is not shown: it prepares the reader's state at that point.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scripts.generated import generated

KNOWN_OPTIONS = frozenset(
    {"no-run", "exit", "file", "answer", "output", "schema", "background", "managed", "synopsis", "empty", "width"}
)
PROMPT = "$ "

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?\s*')
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its page (path from the project's folder), the line of its fence from 1, and its text."""

    page: str
    line: int
    language: str
    options: Mapping[str, str]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language})"


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a console block with its output on the page, if any."""

    text: str
    shown: str


def blocks_of(page: str, text: str) -> list[Block]:
    """Return all fenced blocks of a page, in order. Raises ValueError for an invalid info string."""
    found: list[Block] = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        if opening := _FENCE.match(line):
            body = _body(lines, opening["indent"], opening["fence"])
            language, _, rest = opening["info"].strip().partition(" ")
            found.append(Block(page, number, language, _options(f"{page}:{number}", rest), body))
    return found


def pages(project: Path) -> dict[str, str]:
    """Return the texts of the pages with checked blocks, including generated ones, by their paths in the project."""
    docs = project / "docs"
    listed = [project / "README.md", project / "CONTRIBUTING.md", *sorted(docs.rglob("*.md"))]
    written = {path.relative_to(project).as_posix(): path.read_text(encoding="utf-8") for path in listed}
    return written | {f"docs/{name}": text for name, text in generated(docs).items() if name.endswith(".md")}


def commands_of(console: str) -> list[Command]:
    """Return the commands after the prompts of a console block, continued lines included, each with its output."""
    commands: list[Command] = []
    typed: list[str] = []
    shown: list[str] = []
    for line in console.splitlines():
        if line.startswith(PROMPT) or (typed and not shown and is_open("\n".join(typed))):
            if line.startswith(PROMPT) and typed:
                commands.append(Command("\n".join(typed), "\n".join(shown)))
                typed, shown = [], []
            typed.append(line.removeprefix(PROMPT))
        else:
            shown.append(line)
    return [*commands, Command("\n".join(typed), "\n".join(shown))]


def statements_of(script: str) -> list[str]:
    """Return the statements of a shell script: lines, joined across quotations, backslashes and here-documents."""
    statements: list[str] = []
    pending: list[str] = []
    for line in script.splitlines():
        pending.append(line)
        whole = "\n".join(pending)
        if not is_open(whole):
            statements.append(whole)
            pending = []
    return [statement for statement in [*statements, "\n".join(pending)] if words_of(statement)]


def is_open(statement: str) -> bool:
    """Return whether a shell would continue reading after `statement`."""
    if statement.endswith("\\"):
        return True
    here = _HERE_DOCUMENT.search(statement)
    if here and here[1] not in statement.splitlines()[1:]:
        return True
    try:
        shlex.split(statement, comments=True)
    except ValueError:
        return True
    return False


def words_of(statement: str) -> list[str]:
    """Return the words of a statement without leading assignments and comments; none for a mere assignment."""
    plain = _SUBSTITUTION.sub("substituted", statement.replace("\\\n", " "))
    words = shlex.split(plain, comments=True)
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    return words


def _body(lines: Iterator[tuple[int, str]], indent: str, fence: str) -> str:
    body: list[str] = []
    for _, line in lines:
        if line.strip() == fence:
            return "".join(f"{kept.removeprefix(indent)}\n" for kept in body)
        body.append(line)
    raise ValueError(f"a block that begins with {indent}{fence} has no end")


def _options(where: str, info: str) -> Mapping[str, str]:
    options = {match[1]: match[2] or "" for match in _OPTION.finditer(info)}
    if unknown := options.keys() - KNOWN_OPTIONS:
        raise ValueError(f"{where}: {', '.join(sorted(unknown))} in an info string; known are {sorted(KNOWN_OPTIONS)}")
    return options
