"""Graphiti and Zep: edges, nodes and episodes in the JSON of their Python classes and of Zep's API.

Shapes, from getzep/graphiti (`graphiti_core/edges.py`, `graphiti_core/nodes.py`) and Zep's reference of its graph:

- edge: `{uuid, group_id, source_node_uuid, target_node_uuid, name, fact, episodes, valid_at, invalid_at, expired_at,
  created_at}`; Zep adds `source_node_name` and `target_node_name`.
- node: `{uuid, name, group_id, labels, summary, created_at}`.
- episode: `{uuid, name, group_id, source: message | text | json, source_description, content, valid_at, created_at}`;
  Zep adds `role`, `role_type`, `thread_id`.

They are read from lists, from objects that hold such lists (`{"edges": […], "nodes": […]}`), and from JSON Lines, in
one file or several; a record is recognised by its fields. Edges become facts with the episodes as evidence, episodes
become messages, and summaries of nodes memories. Files are read whole, as edges need the names of nodes.
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip
from librarian.items.importers.fields import (
    iso_time,
    short,
    tags_of,
    text_of,
    texts_of,
    time_remarks,
    uid,
    without_nothing,
)
from librarian.items.importers.source import Source

_PREFIX = "graphiti"
_SUFFIXES = (".json", ".jsonl")
_SIGNS = (b'"source_node_uuid"', b'"source_description"', b'"fact_embedding"', b'"name_embedding"')
_Placed = tuple[str, dict[str, Any]]


def recognises(source: Source) -> bool:
    """Return whether one of its files begins with Graphiti records."""
    return any(
        b'"uuid"' in head and any(sign in head for sign in _SIGNS)
        for head in map(source.head, source.files(*_SUFFIXES))
    )


def entries(source: Source) -> Iterator[Entry]:
    """Yield messages, memories, then facts. Raises InvalidInput if there is no JSON file."""
    if not source.files(*_SUFFIXES):
        raise InvalidInput(f"{source.name} holds no JSON file of a Graphiti or Zep graph")
    return _all(source)


def _all(source: Source) -> Iterator[Entry]:
    records: list[_Placed] = []
    for path in source.files(*_SUFFIXES):
        try:
            records += _records(path, jsontext.records(source.text(path)))
        except InvalidInput as error:
            yield Fault(path, str(error))
    names = {str(node["uuid"]): str(node["name"]) for _, node in records if _is_node(node)}
    yield from (_episode(*placed) for placed in records if _is_episode(placed[1]))
    yield from (_node(*placed) for placed in records if _is_node(placed[1]))
    yield from (_edge(*placed, names) for placed in records if _is_edge(placed[1]))
    yield from (
        Fault(where, "neither an edge (fact), nor a node (name, summary), nor an episode (content)")
        for where, record in records
        if not (_is_edge(record) or _is_node(record) or _is_episode(record))
    )


def _records(path: str, values: list[Any]) -> list[_Placed]:
    """Return the objects of a file, including those in lists of objects."""
    found: list[_Placed] = []
    for number, value in enumerate(values, start=1):
        lists = [inner for inner in value.values() if _is_list_of_objects(inner)] if isinstance(value, dict) else []
        inside = list(chain.from_iterable(lists)) if lists and "uuid" not in value else [value]
        found += [(f"{path} record {number}", each) for each in inside if isinstance(each, dict)]
    return found


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _is_edge(record: dict[str, Any]) -> bool:
    return text_of(record.get("fact")) is not None


def _is_episode(record: dict[str, Any]) -> bool:
    return not _is_edge(record) and "content" in record and "uuid" in record


def _is_node(record: dict[str, Any]) -> bool:
    is_other = _is_edge(record) or _is_episode(record) or "source_node_uuid" in record
    return not is_other and text_of(record.get("name")) is not None and "uuid" in record


def _episode(where: str, episode: dict[str, Any]) -> Entry:
    text = text_of(episode.get("content"))
    if text is None:
        return Skip("Left out, episodes without text")
    given = episode.get("valid_at") or episode.get("created_at")
    sent_at, source_id = iso_time(given), text_of(episode.get("uuid"))
    author, role = text_of(episode.get("role")), text_of(episode.get("role_type"))
    values = {
        "uid": source_id and uid(_PREFIX, source_id),
        "message_id": source_id,
        "text": text,
        "author_name": short(author or text_of(episode.get("source_description"))),
        "role": short(role),
        "conversation_id": short(text_of(episode.get("thread_id")) or _group(episode)),
        "sent_at": sent_at,
        "tags": tags_of(_group_tags(episode)),
    }
    return Row(where, {"kind": "message", **without_nothing(values)}, time_remarks(given, sent_at))


def _node(where: str, node: dict[str, Any]) -> Entry:
    summary, name = text_of(node.get("summary")), str(node["name"])
    if summary is None:
        return Skip("Left out, nodes without a summary; facts name them")
    source_id, given = text_of(node.get("uuid")), node.get("created_at")
    occurred_at = iso_time(given)
    labels = [label for label in texts_of(node.get("labels") or []) if label != "Entity"]
    values = {
        "uid": source_id and uid(_PREFIX, source_id),
        "name": short(name),
        "text": summary if name in summary else f"{name}: {summary}",
        "tags": tags_of([*labels, *_group_tags(node)]),
        "source": "graphiti",
        "occurred_at": occurred_at,
    }
    return Row(where, {"kind": "memory", **without_nothing(values)}, time_remarks(given, occurred_at))


def _edge(where: str, edge: dict[str, Any], names: dict[str, str]) -> Entry:
    source_id, given = text_of(edge.get("uuid")), edge.get("valid_at")
    subject = text_of(edge.get("source_node_name")) or names.get(str(edge.get("source_node_uuid")))
    target = text_of(edge.get("target_node_name")) or names.get(str(edge.get("target_node_uuid")))
    episodes = edge.get("episodes") or edge.get("episode_uuids") or []
    valid_from, valid_to = _validity(edge)
    values = {
        "uid": source_id and uid(_PREFIX, source_id),
        "text": text_of(edge["fact"]),
        "subject": short(subject),
        "predicate": short(_predicate(edge)),
        "object": short(target),
        "valid_from": valid_from,
        "valid_to": valid_to,
        "evidence": [uid(_PREFIX, episode) for episode in texts_of(episodes)],
        "tags": tags_of(_group_tags(edge)),
    }
    return Row(where, {"kind": "fact", **without_nothing(values)}, time_remarks(given, iso_time(given)))


def _validity(edge: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Return the start and end of a fact's validity; if they are equal, the start is unknown."""
    valid_from = iso_time(edge.get("valid_at"))
    valid_to = iso_time(edge.get("invalid_at")) or iso_time(edge.get("expired_at"))
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        return None, valid_to
    return valid_from, valid_to


def _predicate(edge: dict[str, Any]) -> str | None:
    """Return `WORKS_AT` as "works at": the keyword index would read the underscored form as one word."""
    name = text_of(edge.get("name"))
    return name and name.replace("_", " ").casefold()


def _group(record: dict[str, Any]) -> str | None:
    return text_of(record.get("group_id")) or text_of(record.get("graph_id")) or text_of(record.get("user_id"))


def _group_tags(record: dict[str, Any]) -> list[str]:
    group = _group(record)
    return [f"group:{group}"] if group else []
