"""What a transaction tells the change feed, as texts without the words of any item."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from graph.types import Change

_ENDS = frozenset({"forgotten", "deleted"})


def encoded_changes(changes: Iterable[Change]) -> list[str]:
    """Return the changes of one transaction as JSON texts, each once, in their order.

    Of a thing that goes only that is told, and that it changed only where nothing tells how.
    """
    told = list(dict.fromkeys(changes))
    by_thing: dict[tuple[str, str], set[str]] = {}
    for change in told:
        by_thing.setdefault((change.kind, change.uid), set()).add(change.action)
    return [_encoded(change) for change in told if _counts(change, by_thing[change.kind, change.uid])]


def decoded_changes(texts: Sequence[str]) -> list[Change]:
    """Return what `encoded_changes` made of changes."""
    return [Change(**json.loads(text)) for text in texts]


def _counts(change: Change, actions: set[str]) -> bool:
    if actions & _ENDS:
        return change.action in _ENDS and not (change.action == "deleted" and "forgotten" in actions)
    if change.action == "changed":
        return len(actions) == 1
    return change.action != "reopened" or "superseded" not in actions


def _encoded(change: Change) -> str:
    said = {name: value for name, value in asdict(change).items() if value is not None}
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))
