import pytest

from graph.reviews import ReasonCount
from librarian.sweep.lessons import ENOUGH, kind_of, lessons_of, lowered


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ('with "because of" it names the other ("ADR-12") as the cause of what it tells', 'with "because of"'),
        ("the texts are close (0.71), both name adr-12", "the texts are close"),
        ('it reads like Problem: "failed", "late"', "it reads like Problem"),
        ('the text says Decision: "decided"', "the text says Decision"),
        ("both say the same; the other one is the fuller", None),
        (None, None),
    ],
)
def test_a_reason_is_of_a_kind_up_to_what_it_says_of_the_memories(reason, kind):
    assert kind_of(reason) == kind


@pytest.mark.parametrize(
    ("rejected", "accepted", "taught"), [(ENOUGH - 1, 0, False), (ENOUGH, 0, True), (ENOUGH, 1, False)]
)
def test_three_rejections_more_than_acceptances_teach(rejected, accepted, taught):
    reason = 'with "since" it names the other ("the move") as the cause of what it tells'
    counts = [
        ReasonCount("edge", reason, "rejected", rejected),
        ReasonCount("flag", reason, "accepted", accepted),
        ReasonCount("edge", reason, "open", 9),
        ReasonCount("merge", reason, "rejected", 9),
    ]
    found = lessons_of(counts)
    assert found == ({'with "since"': rejected} if taught else {})
    assert lowered(found, reason, 0.9) == (0.65 if taught else None)
    assert lowered(found, 'with "because" it names the other', 0.9) is None
