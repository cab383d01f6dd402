import pytest

from librarian_agents.sweep.duplicates import common_words, says_the_same

TOTAL = "Invoices of the shop are rounded once, on the total of each month."


@pytest.mark.parametrize(
    "fuller",
    [
        TOTAL,
        "All invoices of the shop are rounded once, on the total of each month.",
        "Invoices of the shop were rounded once, on the total of each month.",
    ],
)
def test_the_fuller_wording_of_one_statement_says_the_same(fuller):
    assert says_the_same(TOTAL, fuller)


@pytest.mark.parametrize(
    "other",
    [
        "Invoices of the shop are rounded twice, on the total of each month.",
        "Invoices of the shop are not rounded once, on the total of each month.",
        "Invoices of the shop are rounded once, on the total of each quarter.",
        "Invoices are rounded.",
    ],
)
def test_what_says_another_thing_in_nearly_the_same_words_does_not(other):
    assert not says_the_same(TOTAL, other)
    assert not says_the_same(other, TOTAL)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana approves the budget of Ben in spring.", "Ben approves the budget of Ana in spring."),
        ("The queue is first in, first out today.", "The queue is last in, first out today."),
        ("The team moved from Oslo to Bergen in May.", "The team moved to Oslo from Bergen in May."),
    ],
)
def test_the_same_words_in_another_order_may_say_another_thing(one, other):
    """Most of what they have in common is equal, word for word."""
    assert common_words(one, other) > 0.8
    assert not says_the_same(one, other)
    assert not says_the_same(other, one)


def test_texts_of_few_words_are_too_short_to_tell():
    assert common_words("All is well here", "All is well there") == 0.0
    assert common_words("Same", "Same") == 1.0
