"""Encodes the changes of a transaction for the change feed, without any text of an item."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from graph.types import Change

_ENDS = frozenset({"forgotten", "deleted"})


def encoded_changes(changes: Iterable[Change]) -> list[str]:
    """Return the changes of one transaction as JSON texts, in order and without duplicates.

    Of a removed item only the removal is reported; a plain "changed" is dropped where another change says more.
    """
    unique = list(dict.fromkeys(changes))
    by_thing: dict[tuple[str, str], set[str]] = {}
    for change in unique:
        by_thing.setdefault((change.kind, change.uid), set()).add(change.action)
    return [_encoded(change) for change in unique if _counts(change, by_thing[change.kind, change.uid])]


def decoded_changes(texts: Sequence[str]) -> list[Change]:
    """Return the changes that `encoded_changes` encoded."""
    return [Change(**json.loads(text)) for text in texts]


def _counts(change: Change, actions: set[str]) -> bool:
    if actions & _ENDS:
        return change.action in _ENDS and not (change.action == "deleted" and "forgotten" in actions)
    if change.action == "changed":
        return len(actions) == 1
    return change.action != "reopened" or "superseded" not in actions


def _encoded(change: Change) -> str:
    payload = {name: value for name, value in asdict(change).items() if value is not None}
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
