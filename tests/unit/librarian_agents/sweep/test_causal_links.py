"""Pairs of memories that no sentence joins in a known form are judged beside all others."""

from datetime import UTC, datetime

import pytest

from librarian_agents.sweep.causal import CausalReader, infer_relationship, read_relations
from librarian_agents.sweep.causal_arguments import Memories
from librarian_agents.sweep.causal_links import RELATIONS, Judge, Ties, trained_judge
from librarian_agents.sweep.causal_types import ACCEPTED_FROM, Direction, Note, Relation

# Not one of them is among the memories that the judge was fitted on.
TEXTS = {
    "k1": (3, "The kiln controller was replaced by model KX2 on 3 May, with other default ramps."),
    "k2": (
        4,
        "Eleven mugs cracked in the kiln. Rita says the controller KX2 heats three times as fast as the old one.",
    ),
    "p1": (6, "The parking lot gets new lines in June."),
    "p2": (9, "Pattern: glaze buckets are stirred before every class and covered after it."),
    "p3": (11, "Where the order forms are: drawer 3, folder blue."),
    "p4": (14, "Rita teaches the evening class while Tom is on leave."),
    "p5": (16, "Is it the new clay that shrinks so much?"),
    "p6": (18, "Insight: students who draw first waste half as much porcelain."),
    "p7": (21, "Decision: the summer market stall moves next to the fountain."),
}
NOTES = [Note(text, uid, datetime(2026, 5, day, tzinfo=UTC)) for uid, (day, text) in TEXTS.items()]


def verdict_on(first: str, second: str):
    found = {(pair.first, pair.second): verdict for pair, verdict in read_relations(NOTES, [], TEXTS)}
    return found.get((first, second))


def test_what_two_share_that_no_other_has_joins_them():
    verdict = verdict_on("k1", "k2")
    assert verdict is not None
    assert (verdict.relation, verdict.direction) == (Relation.CAUSES, Direction.FORWARD)
    assert verdict.source_quote in TEXTS["k1"][1]
    assert verdict.target_quote in TEXTS["k2"][1]
    assert '"controller"' in verdict.reason
    assert verdict.reason.startswith("the two read like a cause and its effect: both tell of ")
    assert verdict.reason.endswith(", 1 day apart")


def test_nothing_else_is_accepted():
    accepted = {(pair.first, pair.second) for pair, one in read_relations(NOTES, [], TEXTS) if one.accepted}
    assert accepted <= {("k1", "k2")}


def test_two_memories_alone_are_not_judged():
    assert infer_relationship(NOTES[0], NOTES[1]).relation is None


@pytest.mark.parametrize("speakers", [["k1"], ["k2"]])
def test_a_pair_is_judged_alike_from_either_end(speakers):
    found = {(pair.first, pair.second): one for pair, one in read_relations(NOTES, [], speakers)}
    assert found["k1", "k2"] == verdict_on("k1", "k2")


def test_a_tie_is_the_sentence_that_shares_most():
    ties = Ties(Memories(NOTES))
    assert ties.tie("k2", "k1").sentence.startswith("Rita says the controller KX2")
    assert ties.tie("k2", "k1").share > ties.tie("k2", "p2").share
    assert ("k1", "k2") in set(ties.pairs())


def test_both_ways_of_a_pair_differ_in_time():
    ways = {(way.cause, way.effect): way.values for way in CausalReader(NOTES).ways()}
    assert ways["k1", "k2"]["order"] == 1.0
    assert ways["k2", "k1"]["order"] == -1.0


def test_an_edge_is_as_likely_as_its_kind():
    judge = Judge([0.0, 1.0, 0.0, 0.0], {"share": [2.0, 0.0, 4.0, 0.0]}, accepted=0.6, proposed=0.3)
    relation, sure = judge.verdict({"share": 1.0, "unknown": 9.0})
    assert relation is Relation.BLOCKS
    assert sure == pytest.approx(0.8808 * 0.9362, abs=1e-3)


def test_what_the_judge_is_sure_of_is_accepted():
    judge = trained_judge()
    assert judge.confidence(judge.accepted) == ACCEPTED_FROM
    assert judge.confidence(judge.accepted - 0.001) < ACCEPTED_FROM
    assert judge.confidence(1.0) > judge.confidence(judge.accepted)
    assert {len(weights) for weights in judge.weights.values()} == {1 + len(RELATIONS)}
