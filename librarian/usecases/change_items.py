"""Changing one item: put, patch, remember, correct. Each is a decision about the item, taken under its lock."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from agents.memory_types import MemoryType
from agents.sections import retagged
from graph import items as graph
from graph.executor import Executor
from graph.ingest import finish_ingest
from graph.types import AsIs, Changed, Kind, NewItem, Provenance, StoredItem
from librarian import strictjson
from librarian.audit import actor
from librarian.contracts.changes import Correction, CorrectOutput, PutOutput, RememberInput
from librarian.contracts.fields import Uid
from librarian.contracts.items import FactIn, ItemIn, ItemOut, MemoryIn
from librarian.corrections import corrected_fact, corrected_memory
from librarian.errors import Conflict, InvalidInput, PreconditionFailed
from librarian.rows import RowBuilder
from librarian.stored_rows import row_of, whole
from librarian.usecases.items import item_out, no_item

_ITEM = cast("type[ItemIn]", ItemIn)  # a union of classes decodes like one


async def put(executor: Executor, namespace: str, uid: str, row: ItemIn, if_version: int | None) -> PutOutput:
    """Make the item what `row` says, whatever it was; the same row again changes nothing."""
    _check_uid(uid)
    if row.uid not in (None, uid):
        raise InvalidInput("the row names another uid than the request", field="$.uid")
    if row.namespace not in (None, namespace):
        raise InvalidInput("the row names another namespace than the request", field="$.namespace")
    new = RowBuilder().item(namespace, msgspec.structs.replace(row, uid=uid))

    def decide(stored: StoredItem | None) -> NewItem | AsIs:
        _check_version(stored, if_version)
        if stored is None:
            return new
        _check_kind(stored, new)
        same = stored.source_hash == new.source_hash and row_of(stored.properties) == row_of(whole(new))
        return AsIs(uid) if same else new

    return _put_output(await _change(executor, namespace, uid, decide, "put"))


async def remember(executor: Executor, namespace: str, what: RememberInput) -> PutOutput:
    """Keep a memory or fact. What was remembered before is left as it is, with whatever was changed of it since."""
    new = RowBuilder().item(namespace, _row_to_remember(what))

    def decide(stored: StoredItem | None) -> NewItem | AsIs:
        if stored is None:
            return new
        _check_kind(stored, new)
        return AsIs(new.uid) if stored.source_hash == new.source_hash else new

    return _put_output(await _change(executor, namespace, new.uid, decide, "remember"))


async def patch(
    executor: Executor, namespace: str, uid: str, changes: Mapping[str, Any], if_version: int | None
) -> ItemOut:
    """Apply a JSON merge patch (RFC 7396) to the item's row. It keeps its source_hash, so that ingesting again the row
    it came from does not undo the patch.
    """

    def decide(stored: StoredItem | None) -> NewItem | AsIs:
        if stored is None:
            raise no_item(namespace)
        _check_version(stored, if_version)
        return _rebuilt(namespace, stored, _patched(namespace, stored, changes))

    return item_out((await _change(executor, namespace, uid, decide, "patch")).item)


async def correct(executor: Executor, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
    """Store what is true instead: a fact is superseded by a new one, a memory's text replaced."""
    now = datetime.now(UTC)

    def decide(stored: StoredItem | None) -> NewItem | AsIs:
        if stored is None:
            raise no_item(namespace)
        match stored.kind:
            case Kind.FACT:
                return corrected_fact(namespace, stored, correction, now)
            case Kind.MEMORY:
                return _rebuilt(namespace, stored, corrected_memory(stored, correction))
            case _:
                raise Conflict(
                    f"a {stored.kind} is a record of what was said and is not corrected",
                    remedy="Remember what is true as a fact or a memory.",
                )

    changed = await _change(executor, namespace, uid, decide, correction.reason or "correct")
    return CorrectOutput(item=item_out(changed.item), superseded=None if changed.item.uid == uid else uid)


async def _change(executor: Executor, namespace: str, uid: str, decide: graph.Decide, reason: str) -> Changed:
    changed = await graph.change_item(executor, namespace, uid, decide, Provenance(reason, actor.get()))
    if changed.outcome != "unchanged":
        await finish_ingest(executor, namespace)
    return changed


def _put_output(changed: Changed) -> PutOutput:
    return PutOutput(outcome=changed.outcome, item=item_out(changed.item))


def _check_uid(uid: str) -> None:
    """Refuse what no row may have as its uid."""
    try:
        strictjson.convert(uid, Uid)
    except InvalidInput as fault:
        raise InvalidInput(str(fault), field="uid") from None


def _check_version(stored: StoredItem | None, if_version: int | None) -> None:
    version = stored.version if stored else 0
    if if_version is not None and version != if_version:
        now = f"is at version {version}" if stored else "does not exist"
        raise PreconditionFailed(f"the item {now}", remedy="Read it again and decide anew.")


def _check_kind(stored: StoredItem, new: NewItem) -> None:
    if stored.kind is not new.kind:
        raise Conflict(f"a {stored.kind} has this uid", field="$.uid", remedy="Choose another uid, or delete it first.")


def _patched(namespace: str, stored: StoredItem, changes: Mapping[str, Any]) -> ItemIn:
    """The item's row with the patch applied. Raises InvalidInput naming the field."""
    fixed = {"kind": stored.kind.value, "uid": stored.uid, "namespace": namespace}
    for name in fixed.keys() & changes.keys():
        if changes[name] != fixed[name]:
            raise InvalidInput(f"the {name} of an item cannot be changed", field=f"$.{name}")
    row = msgspec.to_builtins(row_of(stored.properties))
    patched = strictjson.convert(_merged(row, changes) | {"kind": stored.kind.value}, _ITEM)
    return _retagged(patched, stored) if isinstance(patched, MemoryIn) else patched


def _retagged(row: MemoryIn, stored: StoredItem) -> MemoryIn:
    """A memory that gets another type gets it in the tags of its sections too, unless its text is a new one."""
    before = stored.properties
    if row.type in (None, before.get("type")) or row.text != before["text"]:
        return row
    return msgspec.structs.replace(row, text=retagged(row.text, MemoryType(row.type)))


def _merged(target: Any, changes: Any) -> Any:
    """RFC 7396: null removes, objects merge, everything else replaces."""
    if not isinstance(changes, Mapping):
        return changes
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in changes.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _rebuilt(namespace: str, stored: StoredItem, row: ItemIn) -> NewItem | AsIs:
    """The stored item with the content of `row`, and with the identity and source it has."""
    new = RowBuilder().item(namespace, msgspec.structs.replace(row, uid=stored.uid, namespace=None))
    if row_of(whole(new)) == row_of(stored.properties):
        return AsIs(stored.uid)
    properties = dict(new.properties)
    if properties.get("type") == stored.properties.get("type"):
        properties.pop("type_confidence", None)  # who has left the type alone has not confirmed it
    return replace(new, source_hash=stored.source_hash or new.source_hash, properties=properties)


def _row_to_remember(what: RememberInput) -> ItemIn:
    """The row for what is to be remembered. Raises InvalidInput naming a field that its kind does not have."""
    given = {name: value for name in what.__struct_fields__ if (value := getattr(what, name)) not in (None, [])}
    known = (FactIn if what.kind == "fact" else MemoryIn).__struct_fields__
    if strange := [name for name in given if name not in known and name != "kind"]:
        raise InvalidInput(f"a {what.kind} has no {strange[0]}", field=f"$.{strange[0]}")
    return strictjson.convert(given, _ITEM)
