"""Components and specifications named in a text, for its tags. Pure."""

import re
from collections.abc import Iterator

MAX_NAMES = 5
"""Per category: tags are for finding, and a text that names more is about none of them."""

_SAID = {
    "component": re.compile(r"^[ \t>*-]*+component\**[:：]\**[ \t]*([^\n,;]{1,60})", re.IGNORECASE | re.MULTILINE),
    "spec": re.compile(r"^[ \t>*-]*+spec\**[:：]\**[ \t]*([^\n,;]{1,60})", re.IGNORECASE | re.MULTILINE),
}
_PART = re.compile(
    r"\bthe (`?)([A-Za-z][\w.-]{1,30})\1 "
    r"(?:service|module|component|package|subsystem|layer|worker|daemon|plugin|crate)\b"
)
_PATH = re.compile(r"(?<![\w/:.])(?:\./)?([A-Za-z_][\w-]{1,30})/(?:[\w.-]{1,255}+/)*[\w-]{1,255}\.[a-z]{1,5}\b")
_SPEC = re.compile(
    r"\b(?:ADR|RFC|SPEC|PEP|KIP|CIP|REQ|EIP|BIP|DEP|JEP|ISO|IEEE|NIST SP)[ -]?\d+(?:[.-]?[A-Za-z0-9]+)*\b"
)
_SPEC_FILE = re.compile(r"(?<![\w/])(?:docs/)?specs?/([\w.-]+)")
_NO_NAME = frozenset(
    {"same", "new", "old", "other", "whole", "first", "second", "current", "own", "entire", "next", "last"}
)
_NO_COMPONENT = frozenset(
    {"docs", "doc", "test", "tests", "src", "lib", "http", "https", "usr", "etc", "var", "tmp", "home"}
)


def components(text: str) -> list[str]:
    """Return names of components: "component: x", the x of "the x service", the top folders of paths."""
    return _first(_components(text))


def specs(text: str) -> list[str]:
    """Return names of specifications: "spec: x", numbered documents (ADR-12, RFC 9457), files under specs/."""
    return _first(_specs(text))


def _components(text: str) -> Iterator[str]:
    yield from (found[1] for found in _SAID["component"].finditer(text))
    yield from (found[2] for found in _PART.finditer(text) if found[2].casefold() not in _NO_NAME)
    yield from (found[1] for found in _PATH.finditer(text) if found[1].casefold() not in _NO_COMPONENT)


def _specs(text: str) -> Iterator[str]:
    yield from (found[1] for found in _SAID["spec"].finditer(text))
    yield from (found[0] for found in _SPEC.finditer(text))
    yield from (found[1] for found in _SPEC_FILE.finditer(text))


def _first(names: Iterator[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in names:
        plain = name.strip(" \t*`'\"")
        if plain:
            found.setdefault(plain.casefold(), plain)
        if len(found) == MAX_NAMES:
            break
    return list(found.values())
