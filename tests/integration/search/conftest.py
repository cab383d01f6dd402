"""Rows in which every filter has something to tell apart, and the same filters in plain Python."""

import json
import random
import unicodedata
import uuid
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import msgspec
import pytest

from graph.executor import Executor
from graph.tokens import item_tokens
from librarian.app import Librarian

UNKNOWN = datetime(1, 1, 1, tzinfo=UTC)
FOREVER = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)
# Of all rows only some made-up ones hold them, whole and in part.
WORD = "zebra"

_ABOUT = ("the deploy", "the invoice export", "the cache", "a flaky test", "the harbor berth", "the on-call rota")
_JAPANESE = ("請求書の丸め処理を直した", "麒麟の絵を送った", "会議は水曜日に移った")
_TYPES = ("Pattern", "Decision", "Problem", "Insight", "Exception", "Reference", "Unknown", None)


@dataclass(frozen=True, slots=True)
class Expected:
    """An item as the filters see it."""

    uid: str
    kind: str
    text: str
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime
    superseded: bool
    same_as: Hashable
    own: Mapping[str, Any]

    def told(self, name: str) -> Any:
        """Return the value of a filter of this name that finds the item; None or empty if nothing could."""
        if name in ("occurred_from", "occurred_to", "as_of"):
            return self.occurred_at if self.occurred_at > UNKNOWN else None
        field = {"kinds": "kind", "types": "type", "authors": "author", "path_prefix": "path"}.get(name, name)
        return self.own.get(field)

    def passes(self, filters: Mapping[str, Any]) -> bool:
        """Whether every filter holds (the wire's names, times as datetime)."""
        return (
            self.kind in filters.get("kinds", [self.kind])
            and all(self.own.get(name) == filters[name] for name in _EQUAL & filters.keys())
            and all(self.own.get(name[:-1]) in filters[name] for name in ("types", "authors") if name in filters)
            and set(filters.get("tags", [])) <= set(self.own.get("tags", []))
            and ("path_prefix" not in filters or self.own.get("path", "").startswith(filters["path_prefix"]))
            and filters.get("occurred_from", UNKNOWN) <= self.occurred_at <= filters.get("occurred_to", FOREVER)
            and self.occurred_at <= filters.get("as_of", FOREVER)
            and (self.kind != "fact" or self._holds(filters.get("as_of")))
        )

    def _holds(self, as_of: datetime | None) -> bool:
        return not self.superseded if as_of is None else self.valid_from <= as_of < self.valid_to


_EQUAL = {"conversation_id", "session_id", "person_id", "domain", "agent"}
_TURNED = ("author_name", "conversation_id", "session_id", "person_id", "domain", "tags", "agent", "type")


class World:
    """One namespace and what is in it, by uid. No dataclass: a falsified example would show all its items."""

    def __init__(self, namespace: str, items: Mapping[str, Expected]) -> None:
        self.namespace = namespace
        self.items = items

    def matching(self, filters: Mapping[str, Any], word: str | None = None) -> dict[str, Expected]:
        """The items that pass the filters and, if given, hold the word."""
        return {
            uid: item
            for uid, item in self.items.items()
            if item.passes(filters) and (word is None or word in item.text)
        }


@pytest.fixture(scope="session")
async def worlds(librarian: Librarian, executor: Executor) -> AsyncIterator[list[World]]:
    """Two namespaces with equal uids and texts of which the filters tell other things: a leak between them shows."""
    original, name = _rows(), f"filters-{uuid.uuid4().hex[:12]}"
    made = []
    for namespace, own in ((name, original), (f"{name}s", _turned(original))):
        await _store(librarian, executor, namespace, own)
        made.append(World(namespace, _expected_items([*own, *_chunks()])))
    await librarian.embed_pending()
    yield made
    await executor.driver.execute_query(
        "MATCH (n) WHERE n.namespace IN $names DETACH DELETE n", {"names": [world.namespace for world in made]}
    )


async def _store(librarian: Librarian, executor: Executor, namespace: str, own: Sequence[dict[str, Any]]) -> None:
    async def lines() -> AsyncIterator[tuple[int, bytes]]:
        for number, row in enumerate(own, start=1):
            yield number, msgspec.json.encode(row)

    assert (await librarian.ingest(lines(), namespace=namespace)).failed == 0
    common = {
        "namespace": namespace,
        "source_hash": "",
        "version": 1,
        "tokens": item_tokens(namespace, "file_chunk", None),
    }
    await executor.driver.execute_query(
        "UNWIND $rows AS row CREATE (m:Item:FileChunk:PendingEmbedding) SET m = row",
        {"rows": [common | chunk | {"search_text": chunk["text"]} for chunk in _chunks()]},
    )


def _rows() -> list[dict[str, Any]]:
    """Some of the shipped sample and made-up rows, 380 in all."""
    messages, facts, memories = (_sample(name) for name in ("messages", "facts", "memories"))
    return [*messages[::3], *facts, *memories[::2], *_made_up(random.Random(11))]


def _turned(original: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same uids and texts; what the filters look at comes from the next row of the kind."""
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in original:
        by_kind.setdefault(row["kind"], []).append(row)
    return [
        {name: value for name, value in row.items() if name not in _TURNED}
        | {name: value for name, value in following.items() if name in _TURNED}
        for same in by_kind.values()
        for row, following in zip(same, [*same[1:], same[0]], strict=True)
    ]


def _chunks() -> list[dict[str, Any]]:
    """File chunks, which nothing ingests yet: properties of their nodes."""
    return [
        {
            "kind": "file_chunk",
            "uid": f"chunk-{i}",
            "path": f"{('src/api', 'src/db', 'docs')[i % 3]}/part{i // 3}.md",
            "text": f"part {i} of the file on {_ABOUT[i % 6]}{f' with a {WORD}' if i % 4 == 0 else ''}",
            "start_line": 1 + i,
            "end_line": 9 + i,
        }
        for i in range(21)
    ]


def _expected_items(original: Sequence[dict[str, Any]]) -> dict[str, Expected]:
    """Return the rows and chunks as the filters see them, by uid."""
    superseded: dict[str, list[datetime]] = {}
    for row in original:
        for older in row.get("supersedes", []):
            superseded.setdefault(older, []).append(_time(row, "valid_from", FOREVER))
    return {row["uid"]: _expected(row, superseded.get(row["uid"])) for row in original}


def _expected(row: dict[str, Any], closed_at: list[datetime] | None) -> Expected:
    own = dict(row) | {"author": row.get("author_name")}
    when = {"message": "sent_at", "fact": "valid_from", "memory": "occurred_at", "file_chunk": "occurred_at"}
    text = row.get("text") or f"{row['subject']} {row['predicate']} {row['object']}"
    return Expected(
        uid=row["uid"],
        kind=row["kind"],
        text=text,
        occurred_at=_time(row, when[row["kind"]], UNKNOWN),
        valid_from=_time(row, "valid_from", UNKNOWN),
        valid_to=min([_time(row, "valid_to", FOREVER), *(closed_at or [])]),
        superseded=closed_at is not None,
        same_as=_identity(row, text),
        own=own,
    )


def _identity(row: dict[str, Any], text: str) -> Hashable:
    told = row.get("fact_object") or row.get("object")
    if row["kind"] == "fact" and told:
        about = row.get("person_id") or row.get("subject")
        return ("fact", about, row.get("fact_type"), told, row.get("relationship_type") or row.get("predicate"))
    return (row["kind"], row.get("author_name"), " ".join(unicodedata.normalize("NFKC", text).casefold().split()))


def _time(row: Mapping[str, Any], name: str, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(row[name]) if row.get(name) else otherwise


def _sample(name: str) -> list[dict[str, Any]]:
    lines = files("librarian.items").joinpath("sample", f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _made_up(source: random.Random) -> Iterator[dict[str, Any]]:
    for i in range(60):
        yield _given(
            kind="message",
            uid=f"gm{i}",
            text=_text(source, i),
            author_name=source.choice(["Ken", "Mia", "Kens", None]),
            conversation_id=source.choice(["ops", "fun", None]),
            session_id=source.choice(["s1", "s2", "s3", None]),
            domain=source.choice(["backend", None]),
            sent_at=_moment(source),
        )
    for i in range(60):
        yield _given(
            kind="memory",
            uid=f"gk{i}",
            text=_text(source, i // 2),
            type=source.choice(_TYPES),
            agent=source.choice(["scribe", "watch", None]),
            domain=source.choice(["backend", "people", None]),
            tags=source.sample(["db", "pool", "ci", "rare"], source.choice([0, 1, 2])),
            occurred_at=_moment(source),
        )
    for i in range(36):
        yield _given(
            kind="fact",
            uid=f"gf{i}",
            text=f"{_text(source, i)}, says person {i % 5}",
            person_id=f"p{i % 5}",
            domain=source.choice(["people", None]),
            valid_from=_moment(source),
            supersedes=[f"gf{i - 3}"] if i % 3 == 2 and i > 3 else [],
        )


def _text(source: random.Random, i: int) -> str:
    if i % 5 == 4:
        return source.choice(_JAPANESE)
    return f"note {i} on {source.choice(_ABOUT)}{source.choice(['', f' and a {WORD}'])}"


def _moment(source: random.Random) -> str | None:
    return (START + timedelta(days=source.randrange(120))).isoformat() if source.random() < 0.8 else None


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != []}
