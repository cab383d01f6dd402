from itertools import pairwise

import pytest

from agents.sweep.causal_cues import cues, find_cues, hypothetical, negated
from agents.sweep.causal_types import Relation


def only(text):
    (hit,) = find_cues(text, weak=False)
    return hit


@pytest.mark.parametrize(
    ("text", "relation", "cause_follows"),
    [
        ("It stopped because of the heat.", Relation.CAUSES, True),
        ("The heat led to a stop.", Relation.CAUSES, False),
        ("It was caused by the heat.", Relation.CAUSES, True),
        ("The lock prevents a double run.", Relation.BLOCKS, False),
        ("The run was blocked by the lock.", Relation.BLOCKS, True),
        ("The flag enables a slow start.", Relation.ENABLES, False),
        ("The start depends on the flag.", Relation.ENABLES, True),
        ("鍵が二重実行を防ぐ", Relation.BLOCKS, False),
        ("由于高温，服务停止", Relation.CAUSES, True),
    ],
)
def test_a_cue_says_the_relation_and_on_which_side_the_cause_stands(text, relation, cause_follows):
    cue = only(text).cue
    assert (cue.relation, cue.cause_follows) == (relation, cause_follows)


@pytest.mark.parametrize(
    "text", ["The soap is so far away.", "becausehe", "a causeway", "so-called", "the Spark cluster"]
)
def test_a_cue_inside_another_word_or_phrase_is_none(text):
    assert find_cues(text, weak=False) == []


def test_of_overlapping_cues_the_longest_counts():
    assert [hit.words for hit in find_cues("It failed as a result of the heat.")] == ["as a result of"]


def test_cues_come_in_order_and_do_not_overlap():
    hits = find_cues("Because it was hot, the fan failed, so the board, made by us, led to a fire in May.")
    assert [hit.start for hit in hits] == sorted(hit.start for hit in hits)
    assert all(one.end <= two.start for one, two in pairwise(hits))


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It is not because of the heat.", True),
        ("The heat didn't cause it.", True),
        ("The heat never directly led to a stop.", True),
        ("原因は熱ではない", True),
        ("It is not only because of the heat.", False),
        ("They cannot go on because of the heat.", False),
        ("No fan was on, because of the heat.", False),
    ],
)
def test_a_denial_counts_only_where_it_is_the_cause_that_is_denied(text, denied):
    assert negated(text, only(text)) is denied


@pytest.mark.parametrize(
    ("text", "supposed"),
    [
        ("The heat may well have caused it.", True),
        ("Did the heat lead to a stop?", True),
        ("熱が原因で止まった可能性がある", True),
        ("The heat led to a stop.", False),
        ("What could be done was done because of the heat.", False),
    ],
)
def test_a_supposition_is_told_from_a_statement(text, supposed):
    assert hypothetical(text, only(text)) is supposed


def test_every_cue_is_used_and_matches_no_empty_text():
    assert all(cue.pattern.search("") is None for cue in cues())
