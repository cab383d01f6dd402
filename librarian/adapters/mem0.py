"""A client for programs written for mem0's Python API: `from librarian.adapters.mem0 import Memory`. mem0 itself is not
needed; arguments and results have the shapes of mem0 2 (`mem0/memory/main.py`).
"""

import hashlib
import json
import operator
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from librarian.adapters.connection import Connected, Connection, Steps, ask
from librarian.adapters.records import MAX_HITS, delete, field_tags, item_or_none, keep, listed
from librarian.items.contracts import Filters, ItemOut, ItemQuery, MemoryIn
from librarian.search.contracts import Hit, SearchInput

_SCOPES = ("user_id", "agent_id", "run_id")
_IDENTITY = (*_SCOPES, "actor_id")
_PROMOTED = (*_IDENTITY, "role", "expiration_date")
_TAGGED = (("user", "user_id"), ("run", "run_id"))
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "in": lambda value, others: value in others,
    "nin": lambda value, others: value not in others,
    "contains": lambda value, other: other in value,
    "icontains": lambda value, other: str(other).casefold() in str(value).casefold(),
}
_UNSET: Any = object()
_SOURCE = "mem0"


class Memory(Connected):
    """mem0's `Memory` in `namespace` of a service; `url`, `api_key` and `options` are those of `LibrarianClient`.

    It uses no language model: `add` keeps each message unchanged, whatever `infer` says, and leaves retrieval to
    Librarian. `search` and `get_all` take the scopes in `filters` or, as in older programs, as `user_id`, `agent_id`
    and `run_id`.
    """

    def __init__(
        self, namespace: str = "mem0", *, url: str | None = None, api_key: str | None = None, **options: Any
    ) -> None:
        self._namespace = namespace
        self._connection = Connection(url, api_key, **options)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> "Memory":
        """Create it from `{"librarian": {"namespace": …, "url": …, "api_key": …}}`; mem0's own settings are ignored."""
        return cls(**config_dict.get("librarian", {}))

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | None = None,
        infer: bool = True,
        **_options: Any,
    ) -> dict[str, Any]:
        """Keep each message except the system's as a memory of its own, all or none.

        Returns `{"results": [{"id", "memory", "event": "ADD", "actor_id", "role"}, …]}`. Raises ValueError without a
        scope.
        """
        del infer
        payload = {name: value for name, value in (metadata or {}).items() if name not in _IDENTITY}
        payload |= _scopes(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if expiration_date is not None:
            payload["expiration_date"] = _day(expiration_date)
        added = [(str(uuid.uuid4()), message) for message in _messages(messages)]
        rows = [(uid, _row(message["content"], payload | _said_by(message))) for uid, message in added]
        if rows:
            self._connection.run(keep(self._namespace, rows))
        results = [
            {
                "id": uid,
                "memory": message["content"],
                "event": "ADD",
                "actor_id": message.get("name") or None,
                "role": message["role"],
            }
            for uid, message in added
        ]
        return {"results": results}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        show_expired: bool = False,
        limit: int | None = None,
        **scopes: Any,
    ) -> dict[str, Any]:
        """Find memories by meaning and by words: `{"results": [memory, …]}`, each with its `score` (0 to 1).

        At most 50. Memories less similar than `threshold` are left out; those without a vector yet stay, with score 0.
        Raises ValueError without a scope.
        """
        wanted = _filters(filters, scopes)
        asked = SearchInput(queries=[query.strip()], limit=MAX_HITS, filters=Filters(**_selection(wanted)))
        hits = self._connection.run(ask("search", self._namespace, asked)).results
        found = [_memory(hit) | {"score": hit.similarity_score or 0.0} for hit in hits if _unless_low(hit, threshold)]
        return {"results": _shown(found, wanted, limit or top_k, show_expired=show_expired)}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return one memory, or None."""
        item = self._connection.run(item_or_none(self._namespace, memory_id))
        return None if item is None else _memory(item)

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        limit: int | None = None,
        **scopes: Any,
    ) -> dict[str, Any]:
        """Return the newest memories: `{"results": [memory, …]}`. Raises ValueError without a scope."""
        wanted = _filters(filters, scopes)
        most = limit or top_k
        steps = listed(
            self._namespace,
            ItemQuery(**_selection(wanted)),
            most=most,
            accept=lambda item: bool(_shown([_memory(item)], wanted, 1, show_expired=show_expired)),
        )
        found = [_memory(item) for item in self._connection.run(steps)]
        return {"results": [{name: value for name, value in each.items() if name != "score"} for each in found]}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | None = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Replace a memory's text and add to its metadata; scopes stay. Raises ValueError for an unknown id."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        changes = {name: value for name, value in (metadata or {}).items() if name not in _IDENTITY}
        if expiration_date is not _UNSET:
            changes["expiration_date"] = None if expiration_date is None else _day(expiration_date)
        self._connection.run(self._updated(memory_id, text, changes))
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete one memory. Raises ValueError for an unknown id."""
        self._connection.run(self._deleted(memory_id))
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete all memories of the scopes. Raises ValueError without a scope."""
        wanted = _scopes(user_id=user_id, agent_id=agent_id, run_id=run_id)
        self._connection.run(self._deleted_all(wanted))
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the history of a memory, oldest change first: `old_memory`, `new_memory`, `event` (ADD, UPDATE) and
        time. A deleted memory has no history.
        """
        return self._connection.run(self._history(memory_id))

    def _updated(self, memory_id: str, text: str | None, changes: Mapping[str, Any]) -> Steps[None]:
        item = yield from self._known(memory_id)
        payload = {name: value for name, value in {**_payload(item), **changes}.items() if value is not None}
        row = _row(item.text if text is None else text, payload)
        patch = {"text": row.text, "tags": row.tags, "attributes": row.attributes}
        yield from ask("patch_item", self._namespace, memory_id, patch)

    def _deleted(self, memory_id: str) -> Steps[None]:
        yield from self._known(memory_id)
        yield from delete(self._namespace, [memory_id])

    def _deleted_all(self, wanted: Mapping[str, Any]) -> Steps[None]:
        items = yield from listed(self._namespace, ItemQuery(**_selection(wanted)))
        yield from delete(self._namespace, [item.uid for item in items if passes(wanted, _payload(item))])

    def _history(self, memory_id: str) -> Steps[list[dict[str, Any]]]:
        item = yield from item_or_none(self._namespace, memory_id)
        if item is None:
            return []
        revisions = (yield from ask("revisions", self._namespace, memory_id)).revisions
        texts = [*(revision.text for revision in reversed(revisions)), item.text]
        changed = [item.created_at, *(revision.revised_at for revision in reversed(revisions))]
        payload = _payload(item)
        return [
            {
                "id": f"{memory_id}-{number}",
                "memory_id": memory_id,
                "old_memory": texts[number - 1] if number else None,
                "new_memory": text,
                "event": "UPDATE" if number else "ADD",
                "created_at": _time(item.created_at),
                "updated_at": _time(changed[number]),
                "is_deleted": False,
                "actor_id": payload.get("actor_id"),
                "role": payload.get("role"),
            }
            for number, text in enumerate(texts)
        ]

    def _known(self, memory_id: str) -> Steps[ItemOut]:
        item = yield from item_or_none(self._namespace, memory_id)
        if item is None:
            raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        return item


def _scopes(**given: str | None) -> dict[str, str]:
    """Return the given scopes, trimmed. Raises ValueError if there is none or one contains blanks."""
    scopes = {name: value.strip() for name, value in given.items() if value is not None}
    if not scopes:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    for name, value in scopes.items():
        if not value or any(letter.isspace() for letter in value):
            raise ValueError(f"{name} must be a text without blanks")
    return scopes


def _filters(filters: Mapping[str, Any] | None, scopes: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {**(filters or {}), **{name: value for name, value in scopes.items() if name in _SCOPES}}
    named = {name: wanted[name] for name in _SCOPES if wanted.get(name) is not None}
    if not named:
        raise ValueError(
            "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
        )
    texts = {name: value for name, value in named.items() if isinstance(value, str) and value != "*"}
    return wanted | (_scopes(**texts) if texts else {})


def _messages(given: str | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the messages to keep."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    messages = [given] if isinstance(given, Mapping) else list(given)
    return [
        message
        for message in messages
        if message.get("role") not in (None, "system") and isinstance(message.get("content"), str)
    ]


def _said_by(message: Mapping[str, Any]) -> dict[str, str]:
    actor = {"actor_id": message["name"]} if message.get("name") else {}
    return {"role": message["role"], **actor}


def _row(text: str, payload: Mapping[str, Any]) -> MemoryIn:
    """Return the memory of a text, with the tags that an import of a mem0 export would give it."""
    own = {name: value for name, value in payload.items() if name not in _SCOPES}
    return MemoryIn(
        text=text,
        agent=payload.get("agent_id"),
        source=_SOURCE,
        tags=[*_scope_tags(payload), *field_tags(own)],
        attributes={"payload": json.dumps(payload, default=str)},
    )


def _scope_tags(payload: Mapping[str, Any]) -> list[str]:
    return [f"{tag}:{payload[name]}" for tag, name in _TAGGED if isinstance(payload.get(name), str)]


def _selection(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return service filters that keep at least everything wanted."""
    equal = {name: value for name, value in wanted.items() if value != "*"}
    own = {name: value for name, value in equal.items() if name not in _SCOPES}
    selection: dict[str, Any] = {"kinds": ["memory"]}
    if tags := [*_scope_tags(equal), *field_tags(own)]:
        selection["tags"] = tags
    if isinstance(equal.get("agent_id"), str):
        selection["agent"] = equal["agent_id"]
    return selection


def _payload(item: ItemOut | Hit) -> dict[str, Any]:
    """Return scopes and metadata of a memory; if it was not added here, those given by its tags and agent."""
    if isinstance(item, Hit):
        said: Mapping[str, Any] = {"tags": item.tags, "agent": item.agent, "attributes": item.attributes}
    else:
        said = item.properties
    if "payload" in said.get("attributes", ()):
        payload: dict[str, Any] = json.loads(said["attributes"]["payload"])
        return payload
    tags = dict(tag.split(":", 1) for tag in said.get("tags", ()) if ":" in tag)
    scopes = {name: tags.pop(tag) for tag, name in _TAGGED if tag in tags}
    return {**scopes, **({"agent_id": said["agent"]} if said.get("agent") else {}), **tags}


def _memory(item: ItemOut | Hit) -> dict[str, Any]:
    """Return a memory in mem0's shape."""
    text = item.text if isinstance(item, ItemOut) else item.content
    updated = item.properties.get("updated_at") if isinstance(item, ItemOut) else item.updated_at
    payload = _payload(item)
    return {
        "id": item.uid,
        "memory": text,
        "hash": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": {name: value for name, value in payload.items() if name not in _PROMOTED} or None,
        "score": None,
        "created_at": _time(item.created_at),
        "updated_at": _time(updated or item.created_at),
        **{name: payload[name] for name in _PROMOTED if name in payload},
    }


def _shown(
    found: Sequence[dict[str, Any]], wanted: Mapping[str, Any], most: int, *, show_expired: bool
) -> list[dict[str, Any]]:
    today = datetime.now(UTC).date().isoformat()
    passing = (each for each in found if passes(wanted, {**(each["metadata"] or {}), **each}))
    return [each for each in passing if show_expired or (each.get("expiration_date") or today) >= today][:most]


def passes(wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    """Return whether the fields of a memory pass mem0's filters: equality, `*`, comparisons, AND, OR, NOT."""
    return all(_passes(name, condition, fields) for name, condition in wanted.items())


def _passes(name: str, condition: Any, fields: Mapping[str, Any]) -> bool:
    match name:
        case "AND":
            return all(passes(each, fields) for each in condition)
        case "OR":
            return any(passes(each, fields) for each in condition)
        case "NOT":
            return not any(passes(each, fields) for each in condition)
    value = fields.get(name)
    if isinstance(condition, Mapping):
        return all(_compares(value, word, other) for word, other in condition.items())
    return value is not None if condition == "*" else bool(value == condition)


def _compares(value: Any, word: str, other: Any) -> bool:
    if word not in _COMPARISONS:
        raise ValueError(f"Unsupported metadata filter operator: {word}")
    try:
        return bool(_COMPARISONS[word](value, other))
    except TypeError:  # values of different types are not comparable
        return False


def _unless_low(hit: Hit, threshold: float | None) -> bool:
    return hit.similarity_score is None or threshold is None or hit.similarity_score >= threshold


def _time(moment: datetime | str | None) -> str | None:
    return moment.isoformat() if isinstance(moment, datetime) else moment


def _day(given: str | date) -> str:
    """Return a day as YYYY-MM-DD. Raises ValueError."""
    day = given.date() if isinstance(given, datetime) else given
    return (day if isinstance(day, date) else date.fromisoformat(day)).isoformat()
