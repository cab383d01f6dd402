"""The memory file of the MCP memory server: a knowledge graph of entities with observations, and relations.

Shape, from modelcontextprotocol/servers (`src/memory/index.ts`): JSON Lines, also in files named `memory.json`::

    {"type":"entity","name":"Mara","entityType":"person","observations":["Works on the export job"]}
    {"type":"relation","from":"Mara","to":"Initech","relationType":"works_at"}

Newer forks write an observation as `{"content": …, "timestamp": …}`. Observations and relations become facts. The file
is streamed.
"""

from collections.abc import Iterator
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.items.importers import jsontext
from librarian.items.importers.entries import Entry, Fault, Row, Skip
from librarian.items.importers.fields import iso_time, text_of, time_remarks, without_nothing
from librarian.items.importers.source import Source, decoded

_NAMES = frozenset({"memory.jsonl", "memory.json"})


def recognises(source: Source) -> bool:
    """Return whether there is a file whose first line is an entity or a relation."""
    path = _file(source)
    if path is None:
        return False
    first = source.head(path).lstrip().partition(b"\n")[0]
    try:
        record = jsontext.value(decoded(first))
    except InvalidInput:
        return False
    return isinstance(record, dict) and (_is_entity(record) or _is_relation(record))


def entries(source: Source) -> Iterator[Entry]:
    """Yield facts, line by line. Raises InvalidInput if there is no such file."""
    path = _file(source)
    if path is None:
        raise InvalidInput(f"{source.name} holds no memory.jsonl of an MCP memory server")
    return _lines(source, path)


def _lines(source: Source, path: str) -> Iterator[Entry]:
    try:
        for number, line in source.lines(path):
            if line.strip():
                yield from _line(f"{path} line {number}", line)
    except InvalidInput as error:
        yield Fault(path, str(error))


def _file(source: Source) -> str | None:
    return source.paths[0] if source.single else source.shallowest(_NAMES.__contains__)


def _line(where: str, line: bytes) -> Iterator[Entry]:
    try:
        record = jsontext.value(decoded(line))
    except InvalidInput as error:
        yield Fault(where, str(error))
        return
    if not isinstance(record, dict):
        yield Fault(where, "not an object")
    elif _is_entity(record):
        yield from _entity(where, record)
    elif _is_relation(record):
        yield _relation(where, record)
    else:
        yield Fault(where, "neither an entity (name, observations) nor a relation (from, to, relationType)")


def _is_entity(record: dict[str, Any]) -> bool:
    is_named = record.get("type") == "entity" and text_of(record.get("name")) is not None
    return is_named and isinstance(record.get("observations"), list)


def _is_relation(record: dict[str, Any]) -> bool:
    return record.get("type") == "relation" and all(text_of(record.get(key)) for key in ("from", "to", "relationType"))


def _entity(where: str, entity: dict[str, Any]) -> Iterator[Entry]:
    if not entity["observations"]:
        yield Skip("Left out, entities without observations")
    for number, observation in enumerate(entity["observations"], start=1):
        yield _observation(f"{where} observation {number}", entity, observation)


def _observation(where: str, entity: dict[str, Any], observation: Any) -> Entry:
    stated = observation if isinstance(observation, dict) else {"content": observation}
    text = text_of(stated.get("content"))
    if text is None:
        return Fault(where, "neither a text nor an object with a content")
    name, valid_from = text_of(entity["name"]), iso_time(stated.get("timestamp"))
    values = {
        "subject": name,
        "person_id": name,
        "fact_type": text_of(entity.get("entityType")),
        "text": text,
        "valid_from": valid_from,
    }
    remarks = time_remarks(stated.get("timestamp"), valid_from)
    return Row(where, {"kind": "fact", **without_nothing(values)}, remarks)


def _relation(where: str, relation: dict[str, Any]) -> Entry:
    subject, predicate, target = (text_of(relation[key]) for key in ("from", "relationType", "to"))
    text = f"{subject} {predicate} {target}".replace("_", " ")  # works_at would be one word to the keyword index
    return Row(where, {"kind": "fact", "subject": subject, "predicate": predicate, "object": target, "text": text})
