"""How many values a predicate has, by its words, by the data and as declared; and what replaces what then."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graph.facts import Habit, OpenFact, OpenFacts
from librarian.items import succession
from librarian.items.contracts import FactIn
from librarian.items.rows import RowBuilder
from librarian.items.succession import Declared, remarks, values_of, with_successions

JANUARY, MARCH, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 5))


@pytest.mark.parametrize(
    "predicate",
    ["lives in", "lives_in", "works at", "is located in", "job title", "has pool size", "costs", "email", "is owned by",
     "goes to school at", "exposes metrics on port", "favourite colour", "料金", "担当"],
)  # fmt: skip
def test_predicates_with_one_value(predicate):
    """States and attributes."""
    assert values_of(predicate) == "one"


@pytest.mark.parametrize(
    "predicate",
    ["likes", "knows", "speaks", "has child", "is a friend of", "visited", "worked at", "趣味", "is allergic to",
     "depends on", "is member of", "works with", "read"],
)  # fmt: skip
def test_predicates_with_many_values(predicate):
    """Tastes, possessions, belongings and events."""
    assert values_of(predicate) == "many"


@pytest.mark.parametrize("predicate", ["drinks", "takes", "wears"])
def test_words_that_do_not_say(predicate):
    """A verb alone may be either."""
    assert values_of(predicate) is None


def fact(uid: str, object_: str, since: datetime | None, predicate: str = "lives in", **fields: Any) -> Any:
    row = FactIn(uid=uid, subject="Ada", predicate=predicate, object=object_, valid_from=since, **fields)
    return RowBuilder().item("ns", row)


@pytest.fixture
def successions(monkeypatch):
    """What becomes of new facts beside stored ones; of a predicate the subjects, and those with several values."""

    async def run(*items: Any, stored: Any = (), habit: tuple[int, int] = (1, 0), declared: Any = None) -> Any:
        async def open_facts(*_: Any) -> OpenFacts:
            return OpenFacts({new.item.uid: [OpenFact(*old) for old in stored] for new in items}, {})

        async def habits_of(*_: Any) -> Any:
            return {new.item.predicate: Habit(*habit) for new in items}

        monkeypatch.setattr(succession, "open_facts", open_facts)
        monkeypatch.setattr(succession, "habits_of", habits_of)
        return await with_successions(None, "ns", items, declared or Declared())

    return run


async def test_a_newer_value_replaces_the_one_before(successions):
    """Of one subject, in the order of time, also within one batch; the same value again replaces nothing."""
    found = await successions(
        fact("c", "Rome", MAY), fact("b", "Kyoto", MARCH), fact("d", "rome", MAY), stored=[("a", "Bonn", JANUARY)]
    )
    assert sorted(found.made) == [("b", "a"), ("c", "b")]
    assert {new.item.uid: new.item.supersedes_refs for new in found.items} == {"b": ("a",), "c": ("b",), "d": ()}


async def test_an_older_value_that_comes_late_has_ended(successions):
    """It ends where the stored one begins."""
    found = await successions(fact("late", "Bonn", JANUARY), stored=[("now", "Kyoto", MARCH)])
    assert found.made == [("now", "late")]
    assert found.items[0].item.valid_to == MARCH


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({"habit": (5, 0)}, "made"),
        ({"habit": (4, 0)}, "proposed"),
        ({"habit": (10, 2)}, None),
        ({"declared": Declared(one=frozenset({"drinks"}))}, "made"),
        ({"declared": Declared(many=frozenset({"drinks"})), "habit": (50, 0)}, None),
    ],
    ids=["learnt", "not sure", "learnt to have many", "declared", "declared to have many"],
)
async def test_what_the_words_do_not_say_the_data_do(successions, given, outcome):
    """Hardly any subject with two values makes one; what is not sure is proposed."""
    found = await successions(fact("b", "tea", MARCH, "drinks"), stored=[("a", "coffee", JANUARY)], **given)
    assert {"made": found.made, "proposed": found.proposed} == {
        "made": [("b", "a")] if outcome == "made" else [],
        "proposed": [("b", "a")] if outcome == "proposed" else [],
    }


async def test_measures_of_one_thing_replace_each_other(successions):
    """Whatever the verb."""
    found = await successions(fact("b", "10 mg", MARCH, "takes"), stored=[("a", "5 mg", JANUARY)])
    assert found.made == [("b", "a")]


async def test_what_is_left_alone(successions):
    """Facts with an end or a word of their own about it, values of one moment, and subjects that have several."""
    assert not (await successions(fact("b", "Kyoto", MARCH, valid_to=MAY), stored=[("a", "Bonn", JANUARY)])).made
    assert not (await successions(fact("b", "Kyoto", MARCH, supersedes=["x"]), stored=[("a", "Bonn", JANUARY)])).made
    both = await successions(fact("b", "Kyoto", MARCH), stored=[("a", "Bonn", MARCH)])
    assert (both.made, both.proposed) == ([], [("b", "a")])
    several = [("a", "Bonn", JANUARY), ("c", "Rome", JANUARY)]
    assert not (await successions(fact("b", "Kyoto", MARCH), stored=several)).made


def test_the_report_names_the_pairs():
    """And says how to accept what is proposed."""
    done, asked = remarks([("b", "a")], [("d", "c")])
    assert done == "1 facts were superseded by newer values of the same: a by b"
    assert asked == "1 facts may be superseded (to accept: librarian edit NEW --set supersedes=OLD): c by d"
    assert remarks([], []) == []
