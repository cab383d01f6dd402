import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph.schema import CONSTRAINTS, INDEXES, Rule, compare
from migrations.plan import discover

DROPPED = re.compile(r"\bDROP INDEX (\w+) IF EXISTS")

TEXT_INDEX = next(rule for rule in INDEXES if rule.name == "item_text")
ORDER_INDEX = next(rule for rule in INDEXES if rule.name == "message_order")


def as_shown(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "type": rule.type,
        "labels": list(rule.labels),
        "properties": list(rule.properties),
        "options": {"indexConfig": {**rule.options, "something.else": 1}},
    }


@pytest.mark.parametrize("rule", [*CONSTRAINTS, *INDEXES], ids=lambda rule: rule.name)
def test_what_is_as_declared_differs_in_nothing(rule: Rule) -> None:
    assert compare(rule, "index", [as_shown(rule)]) == []


def test_labels_have_no_order() -> None:
    shown = as_shown(replace(TEXT_INDEX, labels=TEXT_INDEX.labels[::-1]))
    assert compare(TEXT_INDEX, "index", [shown]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "TEXT"}, "type TEXT"),
        ({"labels": ["Memory"]}, r"labels \['Memory'\]"),
        ({"properties": ["tokens", "search_text"]}, "properties"),
        (
            {"options": {"indexConfig": {"fulltext.analyzer": "cjk", "fulltext.eventually_consistent": False}}},
            "analyzer cjk",
        ),
        ({"options": {"indexConfig": {}}}, "analyzer None"),
    ],
)
def test_every_aspect_is_compared(change: Mapping[str, Any], said: str) -> None:
    found = compare(TEXT_INDEX, "index", [{**as_shown(TEXT_INDEX), **change}])
    assert found
    assert re.search(said, found[0])
    assert "drop it" in found[0]


def test_a_missing_index_names_its_equal_under_another_name() -> None:
    """IF NOT EXISTS would skip ours without a word."""
    (line,) = compare(ORDER_INDEX, "index", [as_shown(replace(ORDER_INDEX, name="my_index"))])
    assert "missing" in line
    assert "drop its equal my_index" in line


def test_the_migrations_create_what_is_declared() -> None:
    """A rule without a migration, or the other way round, is seen without a server (the two of the migrator apart)."""
    created = {name for migration in discover() for name in migration.created}
    dropped = {name for migration in discover() for text in migration.statements for name in DROPPED.findall(text)}
    declared = {rule.name for rule in (*CONSTRAINTS, *INDEXES)}
    assert created - dropped == declared - {"migration_version", "lock_name"}
