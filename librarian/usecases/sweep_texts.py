"""What a sweep makes of one memory's type and text, and how it writes and takes that back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import msgspec

from agents.classify import ACCEPTED, Verdict
from agents.components import components, specs
from agents.memory_types import MemoryType
from agents.template import Templated, templated
from agents.type_head import Embedding, head_for
from graph import sweep as graph
from graph.executor import Executor
from graph.sweep import SweptMemory
from graph.types import NewItem, SpaceRecord, StoredItem
from librarian.contracts.fields import MemoryType as TypeName
from librarian.contracts.items import MemoryIn
from librarian.contracts.sweeps import Action, SweepChange
from librarian.rows import RowBuilder
from librarian.stored_rows import row_of

_UNTYPED = (None, str(MemoryType.UNKNOWN))
_MAX_TAGS = 100
# What a sweep changes of a memory, directly or by what is derived from it.
_CHANGED = ("text", "name", "type", "type_confidence", "tags")


@dataclass(frozen=True, slots=True)
class PlannedText:
    """What is to become of one memory, its type then, and whether its sections could not be written without loss."""

    changes: Sequence[SweepChange]
    type_after: str | None
    refused: bool = False


async def embeddings_of(
    executor: Executor, namespace: str, uids: Sequence[str], space: SpaceRecord | None
) -> Mapping[str, Embedding]:
    """The stored vectors of memories, where a head was trained on vectors of this space."""
    if space is None or head_for(space.space).space is None:
        return {}
    found = await graph.vectors(executor, namespace, uids, space.space)
    return {uid: Embedding(space.space, vector) for uid, vector in found.items()}


def plan_text(memory: SweptMemory, verdict: Verdict, model: str | None = None) -> PlannedText:
    """The changes of one memory: its type where nobody has stated one, and sections where its type is known.

    A type that somebody stated stays; where the text plainly says another one, that is proposed. `model` is the
    language model's name where the verdict is its.
    """
    text = memory.properties["text"]
    typing = _typing(memory, verdict)
    if typing is not None and verdict.method == "llm":
        typing.method, typing.model = "llm", model
    stated = memory.properties.get("type")
    after = typing.new_type if typing is not None and typing.action == "retype" else stated
    changes = [] if typing is None else [typing]
    if after in _UNTYPED:
        return PlannedText(changes, after)
    made = templated(text, MemoryType.parse(str(after)))
    if made.changed:
        changes.append(_template(memory, made))
    return PlannedText(changes, after, refused=bool(made.losses))


def undecided(memory: SweptMemory, verdict: Verdict) -> bool:
    """Whether somebody else may be asked about the type: nobody has stated or reviewed it, and the rules are unsure."""
    return not memory.reviewed and memory.properties.get("type") in _UNTYPED and verdict.confidence < ACCEPTED


def rewritten(namespace: str, changes: Sequence[SweepChange], stored: StoredItem) -> NewItem:
    """The stored memory with a new type, a new text, or both. All else, its name and its origin included, stays."""
    properties = dict(stored.properties)
    for change in changes:
        if change.action == "retype":
            properties |= {"type": change.new_type, "type_confidence": change.confidence}
        elif change.action == "template" and change.text is not None:
            tags = [*stored.properties.get("tags", ()), *change.tags]
            properties |= {"text": change.text, "tags": list(dict.fromkeys(tags))[:_MAX_TAGS]}
    return _built(namespace, stored, properties)


def restored(namespace: str, stored: StoredItem, before: Mapping[str, Any]) -> NewItem:
    """The memory as it was before a sweep, by the revision that the sweep kept."""
    return _built(namespace, stored, {**stored.properties, **{name: before.get(name) for name in _CHANGED}})


def _built(namespace: str, stored: StoredItem, properties: Mapping[str, Any]) -> NewItem:
    """An item with these properties and with search text, labels and hashes as an ingest would make them."""
    row = cast("MemoryIn", row_of(properties))
    new = RowBuilder().item(namespace, msgspec.structs.replace(row, uid=stored.uid))
    exact = {name: properties.get(name) for name in _CHANGED}
    return replace(new, source_hash=stored.source_hash or new.source_hash, properties={**new.properties, **exact})


def _typing(memory: SweptMemory, verdict: Verdict) -> SweepChange | None:
    """A new type, a flag for a human, or nothing."""
    stated = memory.properties.get("type")
    if memory.reviewed:
        return None
    if stated in _UNTYPED:
        return _typed(memory, verdict, "retype" if verdict.accepted else "flag")
    if verdict.method == "marker" and verdict.accepted and verdict.type != stated:
        return _typed(memory, verdict, "flag", reason=f"the text says {verdict.type}, stated is {stated}")
    return None


def _typed(memory: SweptMemory, verdict: Verdict, action: Action, reason: str | None = None) -> SweepChange | None:
    if action == "flag" and action in memory.proposed:
        return None
    return SweepChange(
        memory_id=memory.uid,
        action=action,
        version=memory.version,
        confidence=round(verdict.confidence, 3),
        method="rule",
        old_type=memory.properties.get("type"),
        new_type=cast("TypeName", str(verdict.type)),
        reason=reason or _reason(verdict),
    )


def _reason(verdict: Verdict) -> str:
    said = ", ".join(quote.strip()[:40] for quote in verdict.evidence[:3])
    return f"{verdict.method}: {said}" if said else verdict.method


def _template(memory: SweptMemory, made: Templated) -> SweepChange:
    text = memory.properties["text"]
    named = [*(f"component:{name}" for name in components(text)), *(f"spec:{name}" for name in specs(text))]
    known = memory.properties.get("tags", ())
    return SweepChange(
        memory_id=memory.uid,
        action="template",
        version=memory.version,
        text=made.text,
        tags=[tag for tag in named if tag not in known],
        warnings=list(made.warnings),
    )
