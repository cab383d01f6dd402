"""How many values a predicate has at a time, by its words; of the held-out part only that nothing wrong is sure."""

import pytest

from benchmarks.predicates import DEVELOPMENT, HELD_OUT
from librarian.items.predicates import same_measure, values_of


@pytest.mark.parametrize(
    "predicate",
    ["lives_in", "costs", "email", "goes to school at", "exposes metrics on port", "currently works at", "uses plan",
     "date of birth", "preferred editor", "料金", "現在の住所", "に住んでいる", "住在", "전화번호"],
)  # fmt: skip
def test_predicates_with_one_value(predicate):
    """States and attributes."""
    assert values_of(predicate) == "one"


@pytest.mark.parametrize(
    "predicate",
    ["has child", "is a friend of", "worked at", "used to live in", "also lives in", "趣味", "is member of",
     "works with", "read", "knows phone number", "can speak", "喜欢"],
)  # fmt: skip
def test_predicates_with_many_values(predicate):
    """Tastes, possessions, belongings, abilities and events."""
    assert values_of(predicate) == "many"


@pytest.mark.parametrize("predicate", ["drinks", "takes", "wears", "has", "have", "is", "are", "担当", "ある"])
def test_words_that_do_not_say(predicate):
    """A verb alone may be either."""
    assert values_of(predicate) is None


@pytest.mark.parametrize("known", DEVELOPMENT, ids=lambda known: known.predicate)
def test_no_word_speaks_for_the_wrong_number(known):
    """One that has many values never counts as one that has one, nor the other way round."""
    assert values_of(known.predicate) in (known.values, None if known.values == "many" else known.values)


def test_what_is_held_out_is_never_surely_wrong():
    """A wrong supersession is worse than none."""
    sure = [known for known in HELD_OUT if values_of(known.predicate) == "one"]
    assert [known.predicate for known in sure if known.values == "many"] == []
    assert len(sure) >= 25


@pytest.mark.parametrize(
    ("objects", "same"),
    [(["5 mg", "10 mg"], True), (["3 gb", "1.5 gb"], True), (["30 €", "45 €"], True), (["5", "7"], False),
     (["2019", "2021"], False), (["3 may", "4 may"], False), (["10 am", "11 am"], False),
     (["2 dogs", "2 cats"], False)],
)  # fmt: skip
def test_amounts_of_one_thing(objects, same):
    """A number with its unit; years, dates and times of day are no amounts."""
    assert same_measure(objects) is same
