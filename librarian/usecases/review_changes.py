"""What becomes of memories when a human accepts what a sweep proposes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import msgspec

from agents.memory_types import MemoryType
from agents.sections import retagged
from graph.types import AsIs, NewItem, StoredItem
from librarian.contracts.items import MemoryIn
from librarian.errors import InvalidInput
from librarian.rows import RowBuilder
from librarian.stored_rows import row_of

_MOST_TAGS, _MOST_REFS = 100, 1000
_SURE = 1.0


def retyped(namespace: str, stored: StoredItem, type_: str) -> NewItem | AsIs:
    """The memory with the type that a human has given it, also in its tags. Raises InvalidInput where nobody has named
    one.
    """
    if type_ == MemoryType.UNKNOWN:
        raise InvalidInput("the sweep proposes no type", field="$.type", remedy="Name the type.")
    text = retagged(stored.properties["text"], MemoryType.parse(type_))
    return _changed(namespace, stored, {"type": type_, "type_confidence": _SURE, "text": text})


def joined(namespace: str, kept: StoredItem, gone: StoredItem) -> NewItem | AsIs:
    """The fuller of two memories with the tags, the evidence and the importance of both, and with what only the other
    one tells of its origin.
    """
    own, others = kept.properties, gone.properties
    tags = dict.fromkeys([*own.get("tags", ()), *others.get("tags", ())])
    refs = dict.fromkeys([*own.get("evidence_refs", ()), *others.get("evidence_refs", ())])
    # Neither is evidence for the other any more: they are one.
    foreign = [ref for ref in refs if ref not in (kept.uid, gone.uid)]
    lists = {"tags": list(tags)[:_MOST_TAGS] or None, "evidence_refs": foreign[:_MOST_REFS] or None}
    importance = max(own.get("importance", 0), others.get("importance", 0))
    lacking = {name: others[name] for name in ("domain", "agent", "source", "occurred_at") if name in others}
    joint = lacking | {name: own[name] for name in lacking if name in own} | lists
    return _changed(namespace, kept, joint | {"importance": importance or None})


def _changed(namespace: str, stored: StoredItem, changes: Mapping[str, Any]) -> NewItem | AsIs:
    """The stored memory with other values, and with what is derived as an ingest would derive it."""
    if all(stored.properties.get(name) == value for name, value in changes.items()):
        return AsIs(stored.uid)
    row = cast("MemoryIn", row_of({**stored.properties, **changes}))
    new = RowBuilder().item(namespace, msgspec.structs.replace(row, uid=stored.uid))
    confidence = changes.get("type_confidence", stored.properties.get("type_confidence"))
    return replace(
        new,
        source_hash=stored.source_hash or new.source_hash,
        properties={**new.properties, "type_confidence": confidence},
    )
