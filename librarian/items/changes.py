"""Changes one item: put, patch, remember, correct. Each decides under the item's lock."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from graph import items as graph
from graph.deletion import versions_of
from graph.executor import Executor
from graph.facts import Succession
from graph.ingest import finish_ingest
from graph.item import Fact, Item, Memory, NewItem, Unchanged
from graph.items import Changed, StoredItem
from graph.types import Provenance
from librarian.base import strictjson
from librarian.base.audit import actor
from librarian.base.errors import Conflict, InvalidInput, PreconditionFailed
from librarian.base.fields import Uid
from librarian.items.contracts import (
    Correction,
    CorrectOutput,
    FactIn,
    ItemIn,
    ItemOut,
    MemoryIn,
    PutOutput,
    RememberInput,
)
from librarian.items.reading import item_out, no_item
from librarian.items.rows import RowBuilder, as_utc, correction_uid, fact_row, memory_row, row_of
from librarian.items.succession import Declared, audited, proposals, with_successions
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.sections import retagged

_READ_AGAIN = "Read it again before you retry."
_ITEM = cast("type[ItemIn]", ItemIn)  # a union of classes decodes like one


async def put(
    executor: Executor, namespace: str, uid: str, row: ItemIn, if_version: int | None, *, read_for_facts: bool = False
) -> PutOutput:
    """Create or replace the item by `row`; repeating a row changes nothing."""
    _check_uid(uid)
    await refuse_stale(executor, namespace, uid, if_version)
    if row.uid not in (None, uid):
        raise InvalidInput("the row names another uid than the request", field="$.uid")
    if row.namespace not in (None, namespace):
        raise InvalidInput("the row names another namespace than the request", field="$.namespace")
    new = RowBuilder(read=read_for_facts).item(namespace, msgspec.structs.replace(row, uid=uid))

    def decide(stored: StoredItem | None) -> NewItem | Unchanged:
        _check_version(stored, if_version)
        if stored is None:
            return new
        _check_kind(stored, new)
        same = stored.item.source_hash == new.item.source_hash and row_of(stored.item) == row_of(new.item)
        return Unchanged(uid) if same else new

    return _put_output(await _change(executor, namespace, uid, decide, "put"))


async def remember(executor: Executor, namespace: str, what: RememberInput, declared: Declared) -> PutOutput:
    """Keep a memory or fact. One remembered before is left alone, including later changes to it."""
    row = RowBuilder().item(namespace, _row_to_remember(what))
    found = await with_successions(executor, namespace, [row], declared)
    (new,) = found.items

    def decide(stored: StoredItem | None) -> NewItem | Unchanged:
        if stored is None:
            return new
        _check_kind(stored, new)
        return Unchanged(new.item.uid) if stored.item.source_hash == new.item.source_hash else new

    proposed = proposals(namespace, found)
    put = _put_output(await _change(executor, namespace, new.item.uid, decide, "remember", proposed))
    if put.outcome != "unchanged":
        audited(namespace, found)
    return put


async def patch(
    executor: Executor, namespace: str, uid: str, changes: Mapping[str, Any], if_version: int | None
) -> ItemOut:
    """Apply a JSON merge patch (RFC 7396) to the item's row. The source_hash stays, so that ingesting the original row
    again does not undo the patch.
    """
    await refuse_stale(executor, namespace, uid, if_version)

    def decide(stored: StoredItem | None) -> NewItem | Unchanged:
        if stored is None:
            raise no_item(namespace)
        _check_version(stored, if_version)
        return _rebuilt(namespace, stored.item, _patched(namespace, stored.item, changes))

    return item_out((await _change(executor, namespace, uid, decide, "patch")).item)


async def correct(executor: Executor, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
    """Store a correction: a fact is superseded by a new one, a memory's text replaced."""
    now = datetime.now(UTC)

    def decide(stored: StoredItem | None) -> NewItem | Unchanged:
        if stored is None:
            raise no_item(namespace)
        match stored.item:
            case Fact() as fact:
                return corrected_fact(namespace, fact, stored.superseded_by, correction, now)
            case Memory() as memory:
                return _rebuilt(namespace, memory, corrected_memory(memory, correction))
            case item:
                raise Conflict(
                    f"a {item.kind} is a record of what was said and is not corrected",
                    remedy="Remember what is true as a fact or a memory.",
                )

    changed = await _change(executor, namespace, uid, decide, correction.reason or "correct")
    return CorrectOutput(item=item_out(changed.item), superseded=None if changed.item.uid == uid else uid)


async def refuse_stale(executor: Executor, namespace: str, uid: str, if_version: int | None) -> None:
    """Raise PreconditionFailed if the item has another version, without waiting for its lock."""
    if if_version is None:
        return
    found = await versions_of(executor, namespace, [uid])
    if found.get(uid, if_version) != if_version:
        raise _changed_meanwhile(found[uid])


async def _change(
    executor: Executor,
    namespace: str,
    uid: str,
    decide: graph.Decide,
    reason: str,
    proposed: Sequence[Succession] = (),
) -> Changed:
    changed = await graph.change_item(executor, namespace, uid, decide, Provenance(reason, actor.get()), proposed)
    if changed.outcome != "unchanged":
        await finish_ingest(executor, namespace)
    return changed


def _put_output(changed: Changed) -> PutOutput:
    return PutOutput(outcome=changed.outcome, item=item_out(changed.item))


def _check_uid(uid: str) -> None:
    """Refuse a uid that no row may have."""
    try:
        strictjson.convert(uid, Uid)
    except InvalidInput as fault:
        raise InvalidInput(str(fault), field="uid") from None


def _check_version(stored: StoredItem | None, if_version: int | None) -> None:
    version = stored.item.version if stored else 0
    if if_version is not None and version != if_version:
        raise (
            _changed_meanwhile(version) if stored else PreconditionFailed("the item does not exist", remedy=_READ_AGAIN)
        )


def _changed_meanwhile(version: int) -> PreconditionFailed:
    return PreconditionFailed(f"the item is at version {version}", remedy=_READ_AGAIN)


def _check_kind(stored: StoredItem, new: NewItem) -> None:
    kind = stored.item.kind
    if kind is not new.item.kind:
        raise Conflict(f"a {kind} has this uid", field="$.uid", remedy="Choose another uid, or delete it first.")


def _patched(namespace: str, stored: Item, changes: Mapping[str, Any]) -> ItemIn:
    """Return the item's row with the patch applied. Raises InvalidInput naming the field."""
    fixed = {"kind": stored.kind.value, "uid": stored.uid, "namespace": namespace}
    for name in fixed.keys() & changes.keys():
        if changes[name] != fixed[name]:
            raise InvalidInput(f"the {name} of an item cannot be changed", field=f"$.{name}")
    row = msgspec.to_builtins(row_of(stored))
    patched = strictjson.convert(_merged(row, changes) | {"kind": stored.kind.value}, _ITEM)
    if isinstance(patched, MemoryIn) and isinstance(stored, Memory):
        return _retagged(patched, stored)
    return patched


def _retagged(row: MemoryIn, stored: Memory) -> MemoryIn:
    """Return a memory whose section tags follow its new type, unless its text is new."""
    if row.type in (None, stored.type) or row.text != stored.text:
        return row
    return msgspec.structs.replace(row, text=retagged(row.text, MemoryType(row.type)))


def _merged(target: Any, changes: Any) -> Any:
    """Apply RFC 7396: null removes, objects merge, everything else replaces."""
    if not isinstance(changes, Mapping):
        return changes
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in changes.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _rebuilt(namespace: str, stored: Item, row: ItemIn) -> NewItem | Unchanged:
    """Return the stored item with the content of `row`, keeping its identity and source."""
    new = RowBuilder().item(namespace, msgspec.structs.replace(row, uid=stored.uid, namespace=None))
    if row_of(new.item) == row_of(stored):
        return Unchanged(stored.uid)
    item = replace(new.item, source_hash=stored.source_hash or new.item.source_hash)
    if isinstance(item, Memory) and isinstance(stored, Memory) and item.type == stored.type:
        # Leaving the type unchanged does not confirm it.
        item = replace(item, type_confidence=stored.type_confidence)
    return replace(new, item=item)


def _row_to_remember(what: RememberInput) -> ItemIn:
    """Return the row to remember. Raises InvalidInput for a field that its kind does not have."""
    given = {name: value for name in what.__struct_fields__ if (value := getattr(what, name)) not in (None, [])}
    fields = (FactIn if what.kind == "fact" else MemoryIn).__struct_fields__
    if unknown := [name for name in given if name not in fields and name != "kind"]:
        raise InvalidInput(f"a {what.kind} has no {unknown[0]}", field=f"$.{unknown[0]}")
    return strictjson.convert(given, _ITEM)


_TRIPLE = ("subject", "predicate", "object")
_CONTENT = ("text", *_TRIPLE, "attributes", "confidence")
_FOR_FACTS = (*_TRIPLE, "attributes", "confidence", "valid_from", "evidence")


def corrected_fact(
    namespace: str, stored: Fact, superseded_by: Sequence[Fact], correction: Correction, now: datetime
) -> NewItem | Unchanged:
    """Return the fact that supersedes `stored`; an existing one if the correction was made before.

    Raises Conflict if another fact supersedes it, InvalidInput if nothing is corrected or the time is too early.
    """
    for newer in superseded_by:
        if _says(newer, namespace, stored, correction):
            return Unchanged(newer.uid)
    if superseded_by:
        uid = superseded_by[-1].uid
        raise Conflict(f"the fact is already superseded by {uid}", remedy=f"Correct {uid} instead.")
    valid_from = as_utc(correction.valid_from) or now
    if stored.valid_from is not None and valid_from <= stored.valid_from:
        raise InvalidInput("the correction must become valid later than the fact", field="$.valid_from")
    return RowBuilder().item(namespace, _superseding(namespace, stored, correction, valid_from))


def corrected_memory(stored: Memory, correction: Correction) -> ItemIn:
    """Return the memory's row with the new text. Raises InvalidInput for a field that a memory does not have."""
    if unknown := [name for name in _FOR_FACTS if getattr(correction, name) not in (None, [])]:
        raise InvalidInput(f"a memory has no {unknown[0]}", field=f"$.{unknown[0]}")
    if correction.text is None:
        raise InvalidInput("the corrected text is missing", field="$.text")
    return msgspec.structs.replace(memory_row(stored), text=correction.text)


def _superseding(namespace: str, stored: Fact, correction: Correction, valid_from: datetime | None) -> FactIn:
    given: dict[str, Any] = {name: value for name in _CONTENT if (value := getattr(correction, name)) is not None}
    if not given:
        raise InvalidInput("the correction is missing", field="$.text")
    if any(name in given for name in _TRIPLE):
        given.setdefault("text", None)
    elif "text" in given:
        given["object"] = None
    if "object" in given:
        given["fact_object"] = None
    if "predicate" in given:
        given["relationship_type"] = None
    return msgspec.structs.replace(
        fact_row(stored),
        uid=correction_uid(namespace, stored.uid),
        name=None,
        valid_from=valid_from,
        valid_to=None,
        evidence=correction.evidence,
        supersedes=[stored.uid],
        **given,
    )


def _says(newer: Fact, namespace: str, stored: Fact, correction: Correction) -> bool:
    """Return whether `newer` equals the correction; any time matches if the correction leaves it open."""
    there = fact_row(newer)
    valid_from = as_utc(correction.valid_from) or there.valid_from
    wanted = _superseding(namespace, stored, correction, valid_from)
    built = RowBuilder().item(namespace, wanted).item
    return row_of(built) == msgspec.structs.replace(there, valid_to=None)
