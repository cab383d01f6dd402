"""Compares the output of a command with the page, ignoring differences between runs and machines.

Times, ids, keys, ports, durations, sizes and fractions count as equal, as do table frames and spaces. A page may leave
lines out; `…` in it matches any text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?UTC|Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"\blib_[\w-]+|\blib_…"), "<key>"),
    (re.compile(r"\bsweep-\d{8}-\d{3}\b"), "<sweep>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{10,64}\b"), "<id>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"[█░]+"), "<bar>"),
    (re.compile(r"[-+]?\d[\d,]*\.\d+"), "<number>"),
    (re.compile(r"\d[\d,]*(?= (?:MiB|GiB|MB|kB|ms|s)\b)"), "<number>"),
)
# Fields that count work in progress, for this reader and others.
_PASSING = frozenset({"pending_embeddings", "embeddings"})
_IDS = re.compile(r"\bsweep-\d{8}-\d{3}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{10,64}\b")
_FRAME = re.compile("[\u2500-\u257f]")
_ANY = "…"


def missing_lines(shown: str, printed: str) -> list[str]:
    """Return the lines of `shown` that `printed` lacks, in order; empty if the page is right."""
    lines = [_comparable(line) for line in printed.splitlines()]
    missing = []
    index = 0
    for line in filter(_comparable, shown.splitlines()):
        pattern = _pattern(line)
        found = next((number for number in range(index, len(lines)) if pattern.fullmatch(lines[number])), None)
        if found is None:
            missing.append(_comparable(line))
        else:
            index = found + 1
    return missing


def ids(shown: str, printed: str) -> dict[str, str]:
    """Return the ids and tokens on a page, each with the one printed instead."""
    came_lines = iter(printed.splitlines())
    pairs: dict[str, str] = {}
    for line in filter(_comparable, shown.splitlines()):
        came = next((other for other in came_lines if _pattern(line).fullmatch(_comparable(other))), "")
        pairs.update(zip(_IDS.findall(line), _IDS.findall(came), strict=False))
    return pairs


def difference(shown: Any, answered: Any, path: str = "$") -> str | None:
    """Return where the JSON on a page differs from the answer, or None.

    Fields and elements of lists may be left out; volatile texts and numbers with a fraction only have to match in kind.
    """
    match shown, answered:
        case (Mapping(), Mapping()):
            return _first(_field(shown, answered, name, path) for name in shown)
        case (str(), str()):
            return None if not missing_lines(shown, answered) else f"{path}: {answered!r}, not {shown!r}"
        case (Sequence(), Sequence()) if not isinstance(shown, str) and not isinstance(answered, str):
            return _elements(shown, answered, path)
        case (float(), int() | float()):
            return None
        case _:
            return None if shown == answered else f"{path}: {answered!r}, not {shown!r}"


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, _comparable(line).split(_ANY))))


def _comparable(line: str) -> str:
    for pattern, name in _VOLATILE:
        line = pattern.sub(name, line)
    return " ".join(_FRAME.sub(" ", line).split())


def _field(shown: Mapping[str, Any], answered: Mapping[str, Any], name: str, path: str) -> str | None:
    if name not in answered:
        return f"{path}.{name} is not there; there are {sorted(answered)}"
    if name in _PASSING:
        return None
    return difference(shown[name], answered[name], f"{path}.{name}")


def _elements(shown: Sequence[Any], answered: Sequence[Any], path: str) -> str | None:
    """Return whether the elements shown are a subsequence of those answered."""
    index = 0
    for number, element in enumerate(shown):
        faults = [difference(element, other, f"{path}[{number}]") for other in answered[index:]]
        if None not in faults:
            return _first(faults) or f"{path}[{number}] is not there; {len(answered)} were answered"
        index += faults.index(None) + 1
    return None


def _first(faults: Any) -> str | None:
    return next((fault for fault in faults if fault), None)
