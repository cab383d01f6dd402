"""Every statement, on the real server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cypher
from cypher.loader import Statement, load
from graph.executor import Executor
from librarian.app import Librarian

PROJECT = Path(cypher.__file__).parents[1]
STATEMENTS = sorted(load().values(), key=lambda statement: statement.name)
# Commands cannot be explained, and the probe names a missing index on purpose. All of them run in other tests.
PLANNABLE = [
    s for s in STATEMENTS if s.access != "schema" and s.name != "probe_server" and not s.text.startswith("SHOW")
]
# What reads all of a namespace, or items of it by name.
THROUGH_THE_KEY = {
    *("items_of_small_namespace", "turns_beside", "list_latest", "count_traits", "select_items", "sweep_count"),
    *("sweep_domains", "fact_contradictions", "lift_tombstones", "search_vector_exact"),
}
_OF_ITEMS = re.compile(r":(?:Item|Message|Fact|Memory|FileChunk)\b")
# A node variable of these labels carries a tenant's data.
_GUARDED = re.compile(r"\((?P<name>[a-z_]*)(?P<labels>(?::[A-Za-z_{}]+)+)(?P<rest>[^()]*)\)")
_TENANT_LABELS = {
    "Item",
    "Message",
    "Fact",
    "Memory",
    "FileChunk",
    "File",
    "Symbol",
    "Citation",
    "Tombstone",
    "TombstoneMark",
    "TombstoneSalts",
    "ChangeLog",
    "ChangeSet",
    "Webhook",
    "Relinked",
    "Embedding",
    "UnresolvedReferences",
    "Unlinked",
    "PendingFacts",
}


def rendered(statement: Statement, librarian: Librarian) -> str:
    space = librarian.parts.space
    assert space is not None
    values = {"space": space.space, "dimension": space.dimension}
    return statement.render(**{name: values[name] for name in statement.template})


@pytest.mark.parametrize("statement", PLANNABLE, ids=lambda statement: statement.name)
async def test_the_server_plans_every_statement_without_a_warning(
    statement: Statement, librarian: Librarian, executor: Executor
):
    """EXPLAIN of each statement succeeds and the server has nothing to remark."""
    text = f"EXPLAIN {rendered(statement, librarian)}"
    _, summary, _ = await executor.driver.execute_query(text, given=dict.fromkeys(statement.params))
    remarks = [status.gql_status for status in summary.gql_status_objects]
    assert [status for status in remarks if not status.startswith(("00", "02"))] == []


@pytest.mark.parametrize(
    "statement", [s for s in PLANNABLE if s.name in THROUGH_THE_KEY], ids=lambda statement: statement.name
)
async def test_a_namespace_is_read_without_its_neighbours(
    statement: Statement, librarian: Librarian, executor: Executor
):
    """No plan walks all items there are: a small namespace costs as little beside a large one."""
    text = f"EXPLAIN {rendered(statement, librarian)}"
    _, summary, _ = await executor.driver.execute_query(text, given=dict.fromkeys(statement.params))
    assert [step for step in _scans(summary.plan) if _OF_ITEMS.search(step)] == []


def _scans(plan: Any) -> Iterator[str]:
    if plan is not None:
        if plan["operatorType"].startswith("NodeByLabelScan"):
            yield str(plan["args"]["Details"])
        for child in plan.get("children", ()):
            yield from _scans(child)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_the_header_names_exactly_the_parameters_used(statement: Statement):
    """A parameter that the header does not name would be refused at run time, one too many would be asked for."""
    assert set(re.findall(r"\$([a-z_]+)", statement.text)) == statement.params


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s.scope == "namespace"], ids=lambda s: s.name)
def test_every_item_and_embedding_is_filtered_by_namespace(statement: Statement):
    """Each node variable with a tenant's label is bound to $namespace, in its pattern or by a condition."""
    for match in _GUARDED.finditer(statement.text):
        labels = {
            "Embedding" if label.startswith("Embedding_") else label for label in match["labels"].split(":") if label
        }
        if not labels & _TENANT_LABELS:
            continue
        name = match["name"]
        inside = "namespace: $namespace" in match["rest"]
        beside = name and re.search(rf"\b{name}\.namespace = \$namespace", statement.text)
        assert inside or beside, f"{match[0]} is not filtered by namespace"


def test_admin_statements_are_the_known_ones():
    """A statement that crosses namespaces is added here on purpose."""
    admin = {statement.name for statement in STATEMENTS if statement.scope == "admin"}
    assert admin == ADMIN_STATEMENTS


ADMIN_STATEMENTS = {
    # embedding spaces and the worker that fills them
    "activate_space", "count_pending", "count_refused", "count_vectors", "create_space_index", "drop_space_index",
    "drop_vectors", "forget_space", "list_spaces", "mark_pending", "measure_without_vector", "next_pending",
    "next_without_vector", "put_calibrations", "put_embeddings", "put_space", "put_space_languages", "refuse_vectors",
    "sample_noise", "space_index_state",
    # answers to requests that may be sent twice
    "delete_expired_idempotency_keys",
    # the worker that reads messages for facts
    "namespaces_to_read",
    # changes that nobody asks for any more
    "delete_old_changes",
    # changes that are sent
    "due_webhooks", "paused_webhooks",
    # which namespaces there are, and what runs and waits in all of them
    "list_namespaces", "export_namespaces", "list_imports", "namespaces_of_tombstones", "running_transactions",
    # the server itself
    "ping", "probe_server", "show_constraints", "show_indexes",
    # copies for analysts
    "settle_copy", "stamp_copy",
    # doctor
    "adopt_edges", "adoptable_edges", "count_drawn_edges", "count_unread_files", "server_clock",
    # migrations
    "begin_migration", "create_lock_constraint", "create_migration_constraint", "finish_migration", "list_migrations",
    "release_lock", "renew_lock", "take_lock",
}  # fmt: skip


def test_no_statement_is_unused_or_doubled():
    """Every name occurs as a literal in the code, and no two statements have one text."""
    packages = ("graph", "migrations", "retrieval", "librarian")
    code = "\n".join(path.read_text() for package in packages for path in (PROJECT / package).rglob("*.py"))
    assert [s.name for s in STATEMENTS if f'"{s.name}"' not in code and f"'{s.name}'" not in code] == []
    texts = [" ".join(statement.text.split()) for statement in STATEMENTS]
    assert len(set(texts)) == len(texts)
