"""Replacement of values: by the words of a predicate, by the data, as declared and as decided."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graph.facts import Habit, OpenFact, OpenFacts
from librarian.items import succession
from librarian.items.contracts import FactIn
from librarian.items.rows import RowBuilder
from librarian.items.succession import Declared, proposals, remarks, with_successions

JANUARY, MARCH, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 3, 5))


def fact(uid: str, object_: str, since: datetime | None, predicate: str = "lives in", **fields: Any) -> Any:
    row = FactIn(uid=uid, subject="Ada", predicate=predicate, object=object_, valid_from=since, **fields)
    return RowBuilder().item("ns", row)


@pytest.fixture
def successions(monkeypatch):
    """Return the outcome for new facts beside stored ones; of a predicate the subjects, and those with several."""

    async def run(*items: Any, stored: Any = (), habit: tuple[int, ...] = (1, 0), declared: Any = None) -> Any:
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
        ({"habit": (5, 0, 3)}, "made"),
        ({"habit": (50, 0, 2)}, "proposed"),
        ({"habit": (5, 0, 3, 1)}, "proposed"),
        ({"habit": (5, 0, 1, 2)}, None),
        ({"habit": (10, 2)}, None),
        ({"declared": Declared(single=frozenset({"drinks"}))}, "made"),
        ({"declared": Declared(multi=frozenset({"drinks"})), "habit": (50, 0)}, None),
    ],
    ids=[
        "learnt",
        "not sure",
        "doubted",
        "decided to have many",
        "learnt to have many",
        "declared",
        "declared to have many",
    ],
)
async def test_what_the_words_do_not_say_the_data_do(successions, given, outcome):
    """Values that were replaced before make one, not that nobody has two yet; what is not sure is proposed."""
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


@pytest.mark.parametrize(("decided", "made"), [("accepted", [("b", "a")]), ("rejected", [])])
async def test_what_was_decided_holds_when_the_row_comes_changed(successions, decided, made):
    """Whatever the words say."""
    for predicate in ("drinks", "lives in", "likes"):
        found = await successions(fact("b", "tea", MARCH, predicate), stored=[("a", "coffee", JANUARY, decided)])
        assert (found.made, found.proposed) == (made, [])


async def test_unsure_values_of_one_moment_or_more_than_two_are_no_changes(successions):
    """Only a pair one after the other may be one."""
    at_once = await successions(fact("b", "a bike", MARCH, "has"), fact("c", "a dog", MARCH, "has"))
    three = (fact("b", "a bike", MARCH, "has"), fact("c", "a dog", MAY, "has"))
    several = await successions(*three, stored=[("a", "a boat", JANUARY)])
    assert at_once.proposed == several.proposed == at_once.made == several.made == []


async def test_a_proposal_says_what_it_hangs_on(successions):
    """Its id is that of the pair."""
    found = await successions(fact("b", "a bike", MARCH, "has"), stored=[("a", "a dog", JANUARY)])
    (one,), (again,) = proposals("ns", found), proposals("ns", found)
    assert (one.newer, one.older, one.reason) == ("b", "a", '"has" may have one value at a time')
    assert one.edge_id == again.edge_id


def test_the_report_names_the_pairs():
    """And says how to decide what is proposed."""
    done, asked = remarks([("b", "a")], [("d", "c")])
    assert done == "1 facts were superseded by newer values of the same: a by b"
    assert asked == "1 facts may be superseded (decide with: librarian review --sort supersede): c by d"
    assert remarks([], []) == []
