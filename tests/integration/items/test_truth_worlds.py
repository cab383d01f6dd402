"""A small run of benchmarks/truth.py: worlds of citations that change, and values that are updated."""

from benchmarks.predicates import HELD_OUT
from benchmarks.truth import Tally, cascades, replacements, updates


async def test_generated_worlds_are_judged_as_the_model_does(librarian):
    """Chains, diamonds, several supports, corrections of corrections and what is taken back: every mark is right."""
    tally = Tally()
    await cascades(librarian, 7, 2, tally)
    assert tally.right == tally.asked
    assert sum(tally.asked.values()) > 15


async def test_updated_values_are_found_now_then_and_as_known(librarian):
    """The new value now, the old one as of before and as it was known before."""
    tally = Tally()
    await updates(librarian, 7, 10, tally)
    assert tally.right.pop("new value above the message that states the old one") >= 9
    assert tally.right == {
        "new value found": 10,
        "old value not served as current": 10,
        "as_of": 10,
        "known_at": 10,
    }


async def test_no_value_is_wrongly_replaced(librarian):
    """Of predicates that guided no rule: where there are many values all stay; where there is one, most go."""
    tally = Tally()
    await replacements(librarian, 7, HELD_OUT, 2, tally)
    assert tally.right["many values: kept"] == tally.asked["many values: kept"] >= 70
    assert tally.right["one value: replaced"] >= 0.9 * tally.asked["one value: replaced"]
