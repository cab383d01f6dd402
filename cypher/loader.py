"""Reads named statements out of the `.cypher` files beside this module.

A file holds statements and fragments. Each begins with a comment header; `// name:` starts a statement::

    // name: get_item
    // purpose: one item with its evidence
    // params: namespace, uid
    // returns: item, labels, evidence
    // access: read
    // scope: namespace
    CYPHER 25 MATCH (m:Item {namespace: $namespace, uid: $uid}) RETURN …

`scope: namespace` promises that every item and embedding is filtered by namespace; `scope: admin` marks the few
statements that cross namespaces. `// fragment: NAME` starts a text that statements of any file include as
`{{NAME}}`. A statement with `// template: space` holds `{{space}}` where the label and index of one embedding space go:
Cypher knows no parameter there.

All values are sent as one map, `$given`: a statement that says `$uid` is sent with `$given.uid`. The server makes a
plan for each combination of the types and sizes of parameters, null being a type of its own, which takes half a second
for a search; a map is always of the same type.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TypeVar

T = TypeVar("T")

ACCESS = ("read", "write", "schema")
SCOPES = ("namespace", "admin")
_HEADER = re.compile(r"^// (name|fragment|purpose|params|returns|access|scope|template): *(.*)$")
_PARAMETER = re.compile(r"\$([a-z_]+)")
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_LABEL_SAFE = re.compile(r"[A-Za-z0-9_]{1,80}")


class StatementError(ValueError):
    """A statement file violates the format, or the requested statement does not exist."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A named statement: its text, its parameters, and what it may access."""

    name: str
    text: str
    purpose: str
    params: frozenset[str]
    returns: str
    access: str
    scope: str
    template: frozenset[str] = field(default_factory=frozenset)

    def render(self, **values: str | int) -> str:
        """Return the text to run, with template values filled in; parameter values go into the one parameter `given`.

        Labels and index names hold letters, digits and underscores only and numbers must be ints, since they become
        part of the statement. Raises StatementError for a missing, surplus or unsafe value.
        """
        if values.keys() != self.template:
            raise StatementError(f"{self.name}: needs template values {sorted(self.template)}, got {sorted(values)}")
        for key, value in values.items():
            if not isinstance(value, int) and not _LABEL_SAFE.fullmatch(value):
                raise StatementError(f"{self.name}: {key} is not a safe label: {value!r}")
        return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), _with_one_parameter(self.text))


@cache
def _with_one_parameter(text: str) -> str:
    return _PARAMETER.sub(r"$given.\1", text)


def parse(texts: Mapping[str, str]) -> Mapping[str, Statement]:
    """Return statements by name; `texts` maps a name for error messages to each file's text."""
    fragments: dict[str, str] = {}
    blocks: list[tuple[str, dict[str, str], str]] = []
    for source, text in texts.items():
        for header, body in _blocks(text):
            if "fragment" in header:
                _add(fragments, header["fragment"], body, source)
            elif "name" in header:
                blocks.append((source, header, body))
            else:
                raise StatementError(f"{source}: a block has neither name nor fragment: {body[:60]!r}")
    statements: dict[str, Statement] = {}
    for source, header, body in blocks:
        _add(statements, header["name"], _statement(header, body, fragments, source), source)
    return MappingProxyType(statements)


@cache
def load() -> Mapping[str, Statement]:
    """Return every statement of the package by name."""
    entries = sorted(files(__package__).iterdir(), key=lambda entry: entry.name)
    return parse({e.name: e.read_text(encoding="utf-8") for e in entries if e.name.endswith(".cypher")})


def _add(entries: dict[str, T], name: str, value: T, source: str) -> None:
    if name in entries:
        raise StatementError(f"{source}: {name}: two have the same name")
    entries[name] = value


def _blocks(text: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yield header and body of each block; a header line after a body line starts the next block."""
    header: dict[str, str] = {}
    body: list[str] = []
    for line in text.splitlines():
        if match := _HEADER.match(line):
            if body:
                yield header, "\n".join(body).strip()
                header, body = {}, []
            header[match[1]] = match[2].strip()
        elif line.strip() and not (line.startswith("//") and not header):
            body.append(line.rstrip())
    if body:
        yield header, "\n".join(body).strip()


def _statement(header: Mapping[str, str], body: str, fragments: Mapping[str, str], source: str) -> Statement:
    name = header["name"]
    missing = {"purpose", "params", "returns", "access", "scope"} - header.keys()
    if missing or not name:
        raise StatementError(f"{source}: {name}: header lacks {sorted(missing)}")
    if header["access"] not in ACCESS or header["scope"] not in SCOPES:
        raise StatementError(f"{source}: {name}: access is one of {ACCESS}, scope one of {SCOPES}")
    template = _names(header.get("template", ""))
    text = _include(body, fragments)
    if (unfilled := set(_PLACEHOLDER.findall(text))) != template:
        raise StatementError(f"{source}: {name}: placeholders {sorted(unfilled)}, template says {sorted(template)}")
    return Statement(
        name=name,
        text=text,
        purpose=header["purpose"],
        params=_names(header["params"]),
        returns=header["returns"],
        access=header["access"],
        scope=header["scope"],
        template=template,
    )


def _include(body: str, fragments: Mapping[str, str]) -> str:
    """Return `body` with fragments filled in; fragments may include others."""
    included = _PLACEHOLDER.sub(lambda match: fragments.get(match[1], match[0]), body)
    return included if included == body else _include(included, fragments)


def _names(text: str) -> frozenset[str]:
    """Return the names in a comma-separated header value; remarks in parentheses are dropped."""
    plain = re.sub(r"\([^)]*\)", "", text)
    return frozenset(name.strip() for name in plain.split(",") if name.strip() not in ("", "none"))
