"""Changes to one memory's type and text: planning, writing and undoing them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from graph import sweep as graph
from graph.executor import Executor
from graph.item import Memory, NewItem
from graph.sweep import SweptMemory
from graph.types import SpaceRecord
from librarian.base.fields import MemoryType as TypeName
from librarian.items import rows
from librarian.sweep.changes import Change, Flag, Retype, Rewriting, Template
from librarian_agents.sweep.classify import ACCEPTED, STRONG_CONFIDENCE, Verdict
from librarian_agents.sweep.components import components, specs
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import Templated, templated
from librarian_agents.sweep.type_head import Embedding, head_for

_UNTYPED = (None, str(MemoryType.UNKNOWN))
_MAX_TAGS = 100


async def embeddings_of(
    executor: Executor, namespace: str, uids: Sequence[str], space: SpaceRecord | None
) -> Mapping[str, Embedding]:
    """Return the stored vectors of memories, if a head was trained on vectors of this space."""
    if space is None or head_for(space.space).space is None:
        return {}
    found = await graph.vectors(executor, namespace, uids, space.space)
    return {uid: Embedding(space.space, vector) for uid, vector in found.items()}


def plan_text(memory: SweptMemory, verdict: Verdict, model: str | None = None) -> tuple[list[Change], bool]:
    """Return the changes of one memory, and whether sections could not be written without loss.

    They are its type if nobody has stated one, and sections if its type is known. A stated type stays; if the text
    clearly indicates another, that is proposed and the text waits for the decision. `model` is the language model's
    name if the verdict is its.
    """
    stated = memory.item.type
    typing = _typing(memory, verdict, model)
    after = typing.new_type if isinstance(typing, Retype) else stated
    changes: list[Change] = [] if typing is None else [typing]
    if after in _UNTYPED or isinstance(typing, Flag):
        return changes, False
    made = templated(memory.item.text, MemoryType.parse(str(after)), circumstances(memory.item))
    if made.changed:
        changes.append(_template(memory, made))
    return changes, bool(made.losses)


def circumstances(memory: Memory) -> list[str]:
    """Return the known time and domain of a memory."""
    day = [f"date:{memory.occurred_at:%Y-%m-%d}"] if memory.occurred_at else []
    return day + ([f"domain:{memory.domain}"] if memory.domain else [])


def undecided(memory: SweptMemory, verdict: Verdict) -> bool:
    """Return whether the type is open to advice: nobody has stated or reviewed it, and the rules are unsure."""
    return not memory.reviewed and memory.item.type in _UNTYPED and verdict.confidence < ACCEPTED


def rewritten(changes: Sequence[Rewriting], stored: Memory) -> NewItem:
    """Return the stored memory with a new type, a new text, or both; everything else, including name and origin, stays.

    Its vectors also stay: sections hold the same sentences. New vectors of reordered sentences would differ slightly,
    and let the next sweep add edges between memories that were already compared.
    """
    wanted = stored
    for change in changes:
        if isinstance(change, Retype):
            wanted = replace(wanted, type=change.new_type, type_confidence=change.confidence)
        else:
            tags = tuple(dict.fromkeys([*stored.tags, *change.tags]))[:_MAX_TAGS]
            wanted = replace(wanted, text=change.text, tags=tags)
    return replace(rows.rewritten(wanted), same_words=True)


def restored(stored: Memory, before: Memory) -> NewItem:
    """Return the memory with everything that a sweep changes, directly or by derivation, restored.

    The earlier values come from the revision that the sweep kept.
    """
    return rows.rewritten(
        replace(
            stored,
            text=before.text,
            name=before.name,
            type=before.type,
            type_confidence=before.type_confidence,
            tags=before.tags,
        )
    )


def _typing(memory: SweptMemory, verdict: Verdict, model: str | None) -> Retype | Flag | None:
    """Return a new type, a flag for a human, or nothing if a human has decided or been asked."""
    stated = memory.item.type
    if memory.reviewed:
        return None
    # Only a label or tag clearly indicates another type: words of another type occur in many texts.
    disputed = verdict.method == "marker" and verdict.confidence >= STRONG_CONFIDENCE and verdict.type != stated
    if stated not in _UNTYPED and not disputed:
        return None
    retype = stated in _UNTYPED and verdict.accepted
    if not retype and "flag" in memory.proposed:
        return None
    reason = verdict.reason if stated in _UNTYPED else f"stated is {stated}, but {verdict.reason}"
    by_model = verdict.method == "llm"
    return (Retype if retype else Flag)(
        memory_id=memory.item.uid,
        version=memory.item.version,
        old_type=cast("TypeName | None", stated),
        new_type=cast("TypeName", str(verdict.type)),
        confidence=round(verdict.confidence, 3),
        reason=reason,
        method="llm" if by_model else "rule",
        model=model if by_model else None,
    )


def _template(memory: SweptMemory, made: Templated) -> Template:
    text = memory.item.text
    named = [*(f"component:{name}" for name in components(text)), *(f"spec:{name}" for name in specs(text))]
    known = memory.item.tags
    added = [tag for tag in named if tag not in known]
    return Template(memory.item.uid, memory.item.version, made.text, added, made.warnings)
