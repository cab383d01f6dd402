"""A folder of Markdown notes, as in Obsidian, Logseq, Foam and static site generators; each note becomes a memory.

YAML front matter between `---` lines gives title, type, tags, domain, importance and date (or created). Its values are
read as text, so nothing in it can be executed, expanded or overflow. `[[links]]` stay unchanged.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers.entries import Entry, Fault, Row
from librarian.items.importers.fields import (
    IMPORTANCE_REMARK,
    importance,
    iso_time,
    memory_type,
    short,
    tags_of,
    text_of,
    texts_of,
    time_remarks,
    uid,
    without_nothing,
)
from librarian.items.importers.source import Source

MAX_NOTE_BYTES = 16 * 2**20
_MAX_FRONT_CHARS = 32 * 1024
_MAX_FRONT_BRACKETS = 500  # PyYAML's time grows with the square of open brackets
_SUFFIXES = (".md", ".markdown")
_FRONT = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<title>.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_NOTHING = frozenset({"", "~", "null"})


def recognises(source: Source) -> bool:
    """Return whether there is any note."""
    return any(_is_note(path) for path in source.paths)


def entries(source: Source) -> Iterator[Entry]:
    """Yield one memory per note, ordered by path."""
    for path in source.paths:
        if source.single or _is_note(path):
            try:
                yield _note(path, source.text(path, max_bytes=MAX_NOTE_BYTES))
            except InvalidInput as error:
                yield Fault(path, str(error))


def _is_note(path: str) -> bool:
    return path.lower().endswith(_SUFFIXES)


def _note(path: str, content: str) -> Row:
    front, body = _parted(content.replace("\r\n", "\n"))
    if not body.strip():
        raise InvalidInput("holds no text")
    relative = PurePosixPath(path)
    found = [kind for kind in map(memory_type, texts_of(front.get("type"))) if kind]
    date = front.get("date") or front.get("created")
    occurred_at = iso_time(date)
    values = {
        "uid": uid("note", path),
        "name": short(text_of(front.get("title")) or _first_heading(body) or relative.stem),
        "text": body.strip(),
        "type": found[0] if found else None,
        "importance": importance(front.get("importance")),
        "domain": short(text_of(front.get("domain")) or (relative.parts[0] if len(relative.parts) > 1 else None)),
        "tags": tags_of(_tags(front)),
        "source": short(path),
        "occurred_at": occurred_at,
    }
    lost = (IMPORTANCE_REMARK,) if "importance" in front and values["importance"] is None else ()
    return Row(path, {"kind": "memory", **without_nothing(values)}, (*time_remarks(date, occurred_at), *lost))


def _tags(front: dict[str, Any]) -> Iterator[str]:
    """Return the tags without #, and the types that are not ours."""
    for key in ("tags", "tag"):
        yield from (tag for tag in (text.lstrip("#").strip() for text in texts_of(front.get(key))) if tag)
    yield from (text for text in texts_of(front.get("type")) if memory_type(text) is None)


def _parted(content: str) -> tuple[dict[str, Any], str]:
    """Split into front matter and body. Text between two rules that is not a mapping belongs to the body."""
    found = _FRONT.match(content)
    if found is None:
        return {}, content
    front = _front_matter(found["yaml"])
    if front is None:
        return {}, content
    return front, content[found.end() :]


def _front_matter(text: str) -> dict[str, Any] | None:
    """Return the non-empty values; None for YAML that is not a mapping. Raises InvalidInput for invalid YAML."""
    import yaml

    if len(text) > _MAX_FRONT_CHARS or text.count("[") + text.count("{") > _MAX_FRONT_BRACKETS:
        raise InvalidInput("the front matter is too large")
    try:
        front = yaml.BaseLoader(text).get_single_data()  # builds only texts, lists and mappings
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise InvalidInput(f"the front matter is not valid YAML{line}: {error.problem}") from None
    except (
        yaml.YAMLError,
        ValueError,
        OverflowError,
        RecursionError,
    ):  # the last three come from hostile escapes and nesting
        raise InvalidInput("the front matter is not valid YAML") from None
    if not isinstance(front, dict):
        return {} if front is None else None
    return {str(key).lower(): value for key, value in front.items() if not _is_nothing(value)}


def _is_nothing(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def _first_heading(body: str) -> str | None:
    """Return the first heading outside code blocks."""
    fenced = False
    for line in body.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)) and heading["title"]:
            return heading["title"]
    return None
