"""The declared schema: migrations create it, and the server is compared with it.

Vector indexes are not declared here: each embedding space creates its own (graph.spaces).
"""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from graph.errors import SchemaMismatch
from graph.executor import Executor

_POLL_S = 0.2
_RECREATE = "run `librarian migrate apply`, or `librarian migrate repair` where its migration is applied"
_NO_OPTIONS: Mapping[str, str | bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint or index, as SHOW CONSTRAINTS or SHOW INDEXES describes it.

    `labels` are relationship types for a RELATIONSHIP_PROPERTY_UNIQUENESS; the order of `properties` matters; of the
    server's index options only those in `options` are compared.
    """

    name: str
    type: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    options: Mapping[str, str | bool] = field(default_factory=lambda: _NO_OPTIONS)


def _unique(name: str, label: str, *properties: str) -> Rule:
    return Rule(name, "NODE_PROPERTY_UNIQUENESS", (label,), properties)


def _unique_edge(name: str, edge_type: str) -> Rule:
    return Rule(name, "RELATIONSHIP_PROPERTY_UNIQUENESS", (edge_type,), ("edge_id",))


def _range(name: str, label: str, *properties: str) -> Rule:
    return Rule(name, "RANGE", (label,), properties)


def _fulltext(name: str, analyzer: str, *labels: str, text: str = "search_text") -> Rule:
    options: dict[str, str | bool] = {"fulltext.analyzer": analyzer, "fulltext.eventually_consistent": False}
    return Rule(name, "FULLTEXT", labels, (text, "tokens"), MappingProxyType(options))


CONSTRAINTS: tuple[Rule, ...] = (
    _unique("item_uid", "Item", "namespace", "uid"),
    _unique("file_path", "File", "namespace", "path"),
    _unique("person_id", "Person", "namespace", "person_id"),
    _unique("conversation_id", "Conversation", "namespace", "conversation_id"),
    _unique("citation_ref", "Citation", "namespace", "uid", "ref"),
    _unique("revision_id", "Revision", "namespace", "revision_id"),
    _unique("sweep_run_id", "SweepRun", "namespace", "sweep_id"),
    _unique("idempotency_key", "IdempotencyRecord", "namespace", "key"),
    _unique("tombstone_identity", "Tombstone", "namespace", "identity"),
    _unique("tombstone_mark", "TombstoneMark", "namespace", "mark"),
    _unique("tombstone_salts", "TombstoneSalts", "namespace"),
    _unique("change_log", "ChangeLog", "namespace"),
    _unique("webhook_id", "Webhook", "namespace", "webhook_id"),
    _unique("webhook_url", "Webhook", "namespace", "url"),
    _unique("embedding_space_id", "EmbeddingSpace", "space"),
    _unique("migration_version", "Migration", "version"),
    _unique("lock_name", "Lock", "name"),
    _unique_edge("causes_edge_id", "CAUSES"),
    _unique_edge("blocks_edge_id", "BLOCKS"),
    _unique_edge("enables_edge_id", "ENABLES"),
    _unique_edge("relates_to_edge_id", "RELATES_TO"),
    _unique_edge("proposed_edge_id", "PROPOSED"),
)

INDEXES: tuple[Rule, ...] = (
    _range("message_order", "Message", "namespace", "conversation_id", "sent_at", "position", "uid"),
    _range("message_id", "Message", "namespace", "message_id"),
    _range("message_author", "Message", "namespace", "author_name"),
    _range("item_order", "Item", "namespace", "created_at", "uid"),
    _range("item_expiry", "Item", "namespace", "expires_at"),
    _range("item_kind_time", "Item", "namespace", "kind", "occurred_at"),
    _range("fact_key", "Fact", "namespace", "person_id", "fact_type", "relationship_type"),
    _range("chunk_lines", "FileChunk", "namespace", "path", "start_line"),
    _range("fact_attribute", "Fact", "namespace", "predicate", "subject"),
    _range("memory_type", "Memory", "namespace", "type"),
    _range("file_name", "File", "namespace", "name_key"),
    _range("file_stem", "File", "namespace", "stem_key"),
    _range("symbol_key", "Symbol", "namespace", "key"),
    _range("citation_path", "Citation", "namespace", "path"),
    _range("citation_state", "Citation", "namespace", "state"),
    _range("tombstone_order", "Tombstone", "namespace", "forgotten_at", "identity"),
    _range("change_order", "ChangeSet", "namespace", "last"),
    _range("sweep_change", "CHANGED", "namespace", "sweep_id", "seq"),
    Rule("chunk_substrings", "TEXT", ("FileChunk",), ("search_text",)),
    _fulltext("item_text", "english", "Memory", "Fact", "Message"),
    _fulltext("item_text_cjk", "cjk", "CjkText"),
    _fulltext("chunk_text", "standard-no-stop-words", "FileChunk"),
    _fulltext("file_words", "standard-no-stop-words", "File"),
    _fulltext("file_outline", "english", "File", text="outline"),
)


async def differences(executor: Executor, names: Collection[str] | None = None) -> list[str]:
    """Return how the server's schema differs from the declared one, one line each with its remedy.

    With `names` only those rules are compared. Additions by others are ignored.
    """
    constraints, indexes = await asyncio.gather(
        executor.fetch_all("show_constraints"), executor.fetch_all("show_indexes")
    )
    found: list[str] = []
    for rule in CONSTRAINTS:
        if names is None or rule.name in names:
            found += compare(rule, "constraint", constraints) or _state_fault(rule.name, indexes)
    for rule in INDEXES:
        if names is None or rule.name in names:
            found += compare(rule, "index", indexes) or _state_fault(rule.name, indexes)
    return found


async def wait_until_online(executor: Executor, *, timeout_s: float = 3600.0) -> None:
    """Wait until no index is being built. Raises SchemaMismatch when the time is up.

    Polls, since the server ends `db.awaitIndexes` at the time limit of its transaction.
    """
    give_up_at = time.monotonic() + timeout_s
    while building := await _building(executor):
        if time.monotonic() >= give_up_at:
            names = ", ".join(building)
            raise SchemaMismatch(f"after {timeout_s:g} s still being built: {names}; try again when they are online")
        await asyncio.sleep(_POLL_S)


def compare(rule: Rule, what: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how the server's constraint or index (`what`) of the rule's name differs from the rule."""
    row = next((row for row in rows if row["name"] == rule.name), None)
    if row is None:
        return [f"{what} {rule.name} is missing; {_remedy_for_missing(rule, what, rows)}"]
    options = (row.get("options") or {}).get("indexConfig", {})
    aspects: list[tuple[str, object, object]] = [
        ("type", rule.type, row["type"]),
        ("labels", sorted(rule.labels), sorted(row["labels"] or ())),
        ("properties", list(rule.properties), list(row["properties"] or ())),
        *((key, value, options.get(key)) for key, value in rule.options.items()),
    ]
    return [
        f"{what} {rule.name} has {aspect} {actual}, declared is {declared}; drop it and {_RECREATE}"
        for aspect, declared, actual in aspects
        if declared != actual
    ]


def _remedy_for_missing(rule: Rule, what: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the remedy; it names an equal index of another name, beside which IF NOT EXISTS creates nothing."""
    twins = [row["name"] for row in rows if not compare(replace(rule, name=row["name"]), what, [row])]
    return f"drop its equal {', '.join(twins)} and {_RECREATE}" if twins else _RECREATE


def _state_fault(name: str, indexes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fault of an index, a constraint's own included, that is not ONLINE and so does not serve."""
    row = next((row for row in indexes if row["name"] == name), None)
    if row is None or row["state"] == "ONLINE":
        return []
    reason = f" ({row['failure']})" if row["failure"] else ""
    return [
        f"index {name} is {row['state']}{reason}; wait until it is built, or drop it and run `librarian migrate repair`"
    ]


async def _building(executor: Executor) -> list[str]:
    rows = await executor.fetch_all("show_indexes")
    return [row["name"] for row in rows if row["state"] == "POPULATING"]
