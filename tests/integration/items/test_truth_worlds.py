"""A small run of benchmarks/truth.py: worlds of citations that change, and values that are updated."""

from benchmarks.truth import Tally, cascades, updates


async def test_generated_worlds_are_judged_as_the_model_does(librarian):
    """Chains, diamonds, several supports, corrections of corrections and what is taken back: every mark is right."""
    tally = Tally()
    await cascades(librarian, 7, 2, tally)
    assert tally.right == tally.asked
    assert sum(tally.asked.values()) > 15


async def test_updated_values_are_found_now_then_and_as_known(librarian):
    """The new value now, the old one as of before and as it was known before. With one subject each, the words of one
    predicate ("uses plan") do not say whether it has one value: that pair is only proposed.
    """
    tally = Tally()
    await updates(librarian, 7, 10, tally)
    assert tally.right.pop("new value above the message that states the old one") >= 9
    assert tally.right == {
        "new value found": 10,
        "old value not served as current": 9,
        "as_of": 10,
        "known_at": 10,
    }
