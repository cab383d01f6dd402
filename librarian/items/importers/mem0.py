"""mem0: the result of `get_all`, saved as JSON, and the backup of OpenMemory.

Shapes, from mem0ai/mem0 (`mem0/memory/main.py`, `mem0/memory/graph_memory.py`, `openmemory/api/app/routers/backup.py`):

- `{"results": [memory, …], "relations": [relation, …]}`, from the hosted service with `count`, `next`, `previous`
  beside them; older versions return the bare list.
- memory: `{id, memory, hash, metadata, categories, user_id, agent_id, app_id, run_id, created_at, updated_at}`;
  OpenMemory writes `{"memories": [{id, content, metadata, state, category_ids, …}], "categories": [{id, name}]}`.
- relation (graph memory): `{source, relationship, target}`, after a search `destination` in place of `target`.

Memories become memories, relations facts. One file is read whole.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip, entries_of
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

_LISTS = ("results", "memories")
_GONE = frozenset({"deleted", "archived"})
_OWN_METADATA = frozenset({"type", "importance", "domain"})
_MEMORY = re.compile(rb'"memory"\s*:\s*"')
_SCOPES = (("user", "user_id"), ("app", "app_id"), ("run", "run_id"))


def recognises(source: Source) -> bool:
    """Return whether it is a single JSON file that begins like an export."""
    files = source.files(".json")
    if len(files) != 1 or not files[0].endswith(".json"):
        return False
    head = source.head(files[0]).lstrip()
    listed = head[:1] == b"[" or any(f'"{name}"'.encode() in head for name in _LISTS)
    backup = head[:1] == b"{" and b'"memories"' in head and b'"content"' in head
    return backup or (head[:1] in (b"[", b"{") and listed and b'"id"' in head and bool(_MEMORY.search(head)))


def entries(source: Source) -> Iterator[Entry]:
    """Yield the memories, then the facts of every JSON file. Raises InvalidInput if there is none."""
    return entries_of(source, source.files(".json"), "JSON file of a mem0 export", _file)


def _file(path: str, text: str) -> Iterator[Entry]:
    content = jsontext.value(text)
    listed = _listed(content)
    if listed is None:
        raise InvalidInput('no memories: a list, or an object with "results" or "memories", is expected')
    categories = _category_names(content)
    for number, memory in enumerate(listed, start=1):
        yield _memory(f"{path} memory {number}", memory, categories)
    relations = content.get("relations") if isinstance(content, dict) else None
    for number, relation in enumerate(relations if isinstance(relations, list) else [], start=1):
        yield _relation(f"{path} relation {number}", relation)


def _listed(content: Any) -> list[Any] | None:
    if isinstance(content, list):
        return content
    lists = [content.get(name) for name in _LISTS] if isinstance(content, dict) else []
    return next((found for found in lists if isinstance(found, list)), None)


def _memory(where: str, memory: Any, categories: Mapping[str, str]) -> Entry:
    if not isinstance(memory, dict):
        return Fault(where, "not an object")
    if memory.get("state") in _GONE:
        return Skip("Left out, memories that were archived or deleted")
    text = memory.get("memory") or memory.get("content")
    if not isinstance(text, str) or not text.strip():
        return Fault(where, 'no text in "memory"')
    metadata = memory["metadata"] if isinstance(memory.get("metadata"), dict) else {}
    created, source_id = memory.get("created_at"), text_of(memory.get("id"))
    occurred_at = iso_time(created)
    values = {
        "uid": source_id and uid("mem0", source_id),
        "text": text,
        "type": memory_type(metadata.get("type")),
        "importance": importance(metadata.get("importance")),
        "domain": short(text_of(metadata.get("domain"))),
        "tags": tags_of(_tags(memory, metadata, categories)),
        "agent": short(text_of(memory.get("agent_id"))),
        "source": "mem0",
        "occurred_at": occurred_at,
    }
    return Row(where, {"kind": "memory", **without_nothing(values)}, _remarks(created, occurred_at, metadata))


def _remarks(created: Any, occurred_at: datetime | None, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    given = metadata.get("importance")
    lost = (IMPORTANCE_REMARK,) if given is not None and importance(given) is None else ()
    return (*time_remarks(created, occurred_at), *lost)


def _tags(memory: Mapping[str, Any], metadata: Mapping[str, Any], categories: Mapping[str, str]) -> Iterator[str]:
    """Yield categories unchanged, and owner and other metadata as `name:value`."""
    yield from texts_of(memory.get("categories"))
    yield from (categories[found] for found in texts_of(memory.get("category_ids")) if found in categories)
    for name, key in _SCOPES:
        if (scope := text_of(memory.get(key))) is not None:
            yield f"{name}:{scope}"
    if metadata.get("type") is not None and memory_type(metadata["type"]) is None:
        yield from texts_of(metadata["type"])
    for key, value in metadata.items():
        if key not in _OWN_METADATA:
            found = map(text_of, value if isinstance(value, list) else [value])
            yield from (f"{key}:{text}" for text in found if text)


def _category_names(content: Any) -> dict[str, str]:
    listed = content.get("categories") if isinstance(content, dict) else None
    categories = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    pairs = ((text_of(entry.get("id")), text_of(entry.get("name"))) for entry in categories)
    return {key: name for key, name in pairs if key and name}


def _relation(where: str, relation: Any) -> Entry:
    if not isinstance(relation, dict):
        return Fault(where, "not an object")
    subject, predicate = text_of(relation.get("source")), text_of(relation.get("relationship"))
    target = text_of(relation.get("target")) or text_of(relation.get("destination"))
    if not (subject and predicate and target):
        return Fault(where, "source, relationship and target are needed")
    # Graph memory writes underscores for spaces, which would make one word of three.
    text = f"{subject} {predicate} {target}".replace("_", " ")
    return Row(where, {"kind": "fact", "subject": subject, "predicate": predicate, "object": target, "text": text})
