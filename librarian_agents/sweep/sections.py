"""Texts with sections: the writer's own part of them, and the type in their tags. Pure."""

import re

from librarian_agents.sweep.markdown import Form, Unit, units
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import Section

_ANY_SECTION = re.compile(rf"^## (?:{'|'.join(Section)})$", re.MULTILINE)
_HEADINGS = frozenset(f"## {section}" for section in Section)
_TAGS = f"## {Section.TAGS}"
_CONTEXT = f"## {Section.CONTEXT}"
# A sweep writes these under CONTEXT if the text names no circumstances.
_CIRCUMSTANCE = re.compile(r"- (?:date:\d{4}-\d\d-\d\d|domain:\S.*)")
_TYPES = {type_.casefold(): type_ for type_ in MemoryType}
_TYPE = re.compile(r"^(?:-[ \t]*)?type:[ \t]*([^\W\d_]+)[ \t]*$", re.MULTILINE | re.IGNORECASE)


def without_sections(content: str) -> str:
    """Return `content` without the headings, tags and circumstances that a sweep has added, lines unchanged.

    All of it if nothing would be left.
    """
    if not _ANY_SECTION.search(content):
        return content
    kept = "".join(
        unit.before if added or unit.text in _HEADINGS else unit.before + unit.text
        for unit, _, added in _placed(content)
    )
    return kept.strip() or content


def tagged_type(content: str) -> MemoryType | None:
    """Return the type in the tags of `content`; None if they name none of the seven."""
    found = _type_tag(content)
    return None if found is None else found[0]


def retagged(content: str, type_: MemoryType) -> str:
    """Return `content` with `type_` in its tags in place of another type; unchanged if they name none, or this one."""
    found = _type_tag(content)
    if found is None or found[0] is type_:
        return content
    _, start, end = found
    return content[:start] + (type_.lower() if content[start:end].islower() else type_) + content[end:]


def _type_tag(content: str) -> tuple[MemoryType, int, int] | None:
    """Return the type in the tags, and its start and end."""
    if _TAGS not in content:
        return None
    for unit, start, added in _placed(content):
        found = _TYPE.search(unit.text) if added else None
        type_ = _TYPES.get(found[1].casefold()) if found else None
        if found and type_:
            return type_, start + found.start(1), start + found.end(1)
    return None


def _placed(content: str) -> list[tuple[Unit, int, bool]]:
    """Return the units of `content`, their starts, and whether a sweep has added each: a tag, or a circumstance."""
    placed = []
    at, heading = 0, ""
    for unit in units(content):
        at += len(unit.before)
        if unit.form is Form.HEADING:
            heading = unit.text
        circumstance = heading == _CONTEXT and _CIRCUMSTANCE.fullmatch(unit.text) is not None
        placed.append((unit, at, (heading == _TAGS or circumstance) and unit.form is not Form.HEADING))
        at += len(unit.text)
    return placed
