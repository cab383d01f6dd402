"""LangMem: items of a LangGraph store, as JSON or JSON Lines.

Shape, from langchain-ai/langgraph (`langgraph/store/base`: `Item.dict()`) and langchain-ai/langmem: `{"namespace":
["memories", "user-1"], "key": …, "value": …, "created_at": …, "updated_at": …}`, in a list, under `items` as in answers
of the SDK's search, or one per line. `value` is `{"content": text}`, `{"kind": schema, "content": {"content": text}}`,
or a custom schema, whose fields become lines. Every item becomes a memory. Files are read whole.
"""

from collections.abc import Iterator
from typing import Any

from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, entries_of
from librarian.items.importers.fields import (
    iso_time,
    short,
    tags_of,
    text_of,
    texts_of,
    time_remarks,
    uid,
    without_nothing,
)
from librarian.items.importers.source import Source

_SUFFIXES = (".json", ".jsonl")
_SIGNS = (b'"namespace"', b'"key"', b'"value"')
_DEFAULT_KIND = "Memory"


def recognises(source: Source) -> bool:
    """Return whether it is a single file that begins with items of a store."""
    files = source.files(*_SUFFIXES)
    if len(files) != 1 or not files[0].endswith(_SUFFIXES):
        return False
    head = source.head(files[0]).lstrip()
    return head[:1] in (b"[", b"{") and all(sign in head for sign in _SIGNS)


def entries(source: Source) -> Iterator[Entry]:
    """Yield the memories of every file. Raises InvalidInput if there is no JSON file."""
    return entries_of(source, source.files(*_SUFFIXES), "JSON file with items of a LangGraph store", _memories)


def _memories(path: str, text: str) -> Iterator[Entry]:
    for number, item in enumerate(_items(jsontext.records(text)), start=1):
        yield _memory(f"{path} item {number}", item)


def _items(records: list[Any]) -> Iterator[Any]:
    for record in records:
        listed = record.get("items") if isinstance(record, dict) else None
        yield from listed if isinstance(listed, list) else [record]


def _memory(where: str, item: Any) -> Entry:
    if not isinstance(item, dict) or text_of(item.get("key")) is None or "value" not in item:
        return Fault(where, "not an item: an object with namespace, key and value is expected")
    text = _text(item["value"])
    if not text:
        return Fault(where, "no text in its value")
    given, scope = item.get("created_at"), _scope(item.get("namespace"))
    occurred_at = iso_time(given)
    kind = item["value"].get("kind") if isinstance(item["value"], dict) else None
    kinds = [kind] if isinstance(kind, str) and kind != _DEFAULT_KIND else []
    values = {
        "uid": uid("langmem", ":".join([*scope, str(item["key"])])),
        "text": text,
        "tags": tags_of([*scope, *kinds]),
        "domain": short(scope[0]) if scope else None,
        "source": "langmem",
        "occurred_at": occurred_at,
    }
    return Row(where, {"kind": "memory", **without_nothing(values)}, time_remarks(given, occurred_at))


def _scope(namespace: Any) -> list[str]:
    """Return the parts of a namespace, which may be dotted."""
    return texts_of(namespace.replace(".", ",") if isinstance(namespace, str) else namespace or [])


def _text(value: Any) -> str:
    """Return the text of a value: its content, or one line per field."""
    if isinstance(value, dict):
        if "content" in value and set(value) <= {"kind", "content"}:
            return _text(value["content"])
        lines = ((name.replace("_", " "), _text(field)) for name, field in value.items())
        return "\n".join(f"{name}: {text}" for name, text in lines if text)
    if isinstance(value, list):
        return ", ".join(text for text in map(_text, value) if text)
    return text_of(value) or ""
