"""What a correction makes of a fact or memory. Pure decisions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from graph.types import AsIs, NewItem, StoredItem
from librarian.contracts.changes import Correction
from librarian.contracts.items import FactIn, ItemIn
from librarian.errors import Conflict, InvalidInput
from librarian.rows import RowBuilder, as_utc, correction_uid
from librarian.stored_rows import row_of, whole

_TRIPLE = ("subject", "predicate", "object")
_CONTENT = ("text", *_TRIPLE, "attributes", "confidence")
_FOR_FACTS = (*_TRIPLE, "attributes", "confidence", "valid_from", "evidence")


def corrected_fact(namespace: str, stored: StoredItem, correction: Correction, now: datetime) -> NewItem | AsIs:
    """The fact that supersedes `stored`; the one that does already where the same was said before.

    Raises Conflict when another fact supersedes it, InvalidInput when nothing is corrected or the time is too early.
    """
    for newer in stored.superseded_by:
        if _says(newer, namespace, stored, correction):
            return AsIs(newer["uid"])
    if stored.superseded_by:
        uid = stored.superseded_by[-1]["uid"]
        raise Conflict(f"the fact is superseded by {uid} already", remedy=f"Correct {uid} instead.")
    valid_from = as_utc(correction.valid_from) or now
    before = stored.properties.get("valid_from")
    if before is not None and valid_from <= before:
        raise InvalidInput("the correction must hold from a later time on than the fact", field="$.valid_from")
    return RowBuilder().item(namespace, _superseding(namespace, stored, correction, valid_from))


def corrected_memory(stored: StoredItem, correction: Correction) -> ItemIn:
    """The memory's row with another text. Raises InvalidInput for what a memory does not have."""
    if strange := [name for name in _FOR_FACTS if getattr(correction, name) not in (None, [])]:
        raise InvalidInput(f"a memory has no {strange[0]}", field=f"$.{strange[0]}")
    if correction.text is None:
        raise InvalidInput("the text that is true instead is needed", field="$.text")
    return msgspec.structs.replace(row_of(stored.properties), text=correction.text)


def _superseding(namespace: str, stored: StoredItem, correction: Correction, valid_from: datetime | None) -> FactIn:
    given: dict[str, Any] = {name: value for name in _CONTENT if (value := getattr(correction, name)) is not None}
    if not given:
        raise InvalidInput("say what is true instead", field="$.text")
    if any(name in given for name in _TRIPLE):
        given.setdefault("text", None)
    elif "text" in given:
        given["object"] = None
    if "object" in given:
        given["fact_object"] = None
    if "predicate" in given:
        given["relationship_type"] = None
    return msgspec.structs.replace(
        _fact_row(stored.properties),
        uid=correction_uid(namespace, stored.uid),
        name=None,
        valid_from=valid_from,
        valid_to=None,
        evidence=correction.evidence,
        supersedes=[stored.uid],
        **given,
    )


def _says(newer: Mapping[str, Any], namespace: str, stored: StoredItem, correction: Correction) -> bool:
    """Whether the fact `newer` says what the correction says; a time that the correction leaves open may be any."""
    there = _fact_row(newer)
    valid_from = as_utc(correction.valid_from) or there.valid_from
    wanted = _superseding(namespace, stored, correction, valid_from)
    built = _fact_row(whole(RowBuilder().item(namespace, wanted)))
    return built == msgspec.structs.replace(there, valid_to=None)


def _fact_row(properties: Mapping[str, Any]) -> FactIn:
    row = row_of(properties)
    if not isinstance(row, FactIn):
        raise TypeError(f"{properties['uid']} is no fact")
    return row
