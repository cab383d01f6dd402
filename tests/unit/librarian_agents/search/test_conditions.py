"""When enough is found, as stop conditions and intent say."""

import time

import pytest

from librarian_agents.search.conditions import StopRule
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.types import Candidate, EvidenceTask
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from tests.unit.librarian_agents.scripted import ScriptedTool

REASONER = HeuristicReasoner(Scoring(terms, is_question, answering))


def task(stop_conditions=None, items=("definition",), retries=2):
    return EvidenceTask("What is overfitting?", items, retries, stop_conditions=stop_conditions)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (None, StopRule()),
        ("All target_items are found with specific references.", StopRule(specific=True)),
        ("Stop when any of the items is found", StopRule(any_item=True)),
        ("いずれかの項目が見つかったら終了", StopRule(any_item=True)),
        ("At least two independent sources for each item", StopRule(references=2)),
        ("それぞれ三つの資料がそろったら終了", StopRule(references=3)),
        ("Stop when definition and formula are both found", StopRule()),
        ("理由が一つ見つかれば終了", StopRule()),
    ],
)
def test_the_words_of_a_task_say_when_enough_is_found(words, rule):
    assert StopRule.of(task(words)) == rule


async def found(asked, *texts, named=True):
    """With texts of books of their own; where it is not `named`, the first says no source."""
    sources = [f"Book {number}" if named or number > 1 else None for number in range(1, len(texts) + 1)]
    given = zip(texts, sources, strict=True)
    tool = ScriptedTool([[Candidate(number, *each, "1") for number, each in enumerate(given, start=1)]])
    return await SearchAgent(REASONER, Limits(), time).run(asked, tool)


TEXTS = (
    "Overfitting means that a model learns the noise of its training data instead of the pattern behind it.",
    "Overfitting is the state of a model that fits its training data well and new data badly.",
)


async def test_as_many_references_are_given_as_are_wanted():
    once, twice = await found(task(), *TEXTS), await found(task("at least two sources"), *TEXTS)
    assert (len(once.selected_evidence), len(twice.selected_evidence)) == (1, 2)


async def test_a_reference_that_is_lacking_leaves_the_item_open():
    alone = await found(task("at least two sources"), TEXTS[0])
    assert (alone.status, alone.missing_items) == ("PARTIAL", ("definition",))


async def test_one_item_is_enough_where_the_conditions_say_so():
    result = await found(task("any of the items is enough", ("definition", "proof")), *TEXTS)
    assert (result.stopped_by, result.searches_used <= 2) == ("enough", True)


async def test_all_items_are_looked_for_where_the_conditions_do_not_say_that_one_is_enough():
    result = await found(task("All target_items are found.", ("definition", "proof")), *TEXTS)
    assert (result.status, result.missing_items, result.searches_used > 2) == ("PARTIAL", ("proof",), True)


async def test_specific_references_are_preferred_where_they_are_wanted():
    """Of two texts that define the term, the one that names its source."""
    wanted = task("All target_items are found with specific references.")
    specific = await found(wanted, *TEXTS, named=False)
    assert [piece.temp_index for piece in specific.selected_evidence] == [2]
    alone = await found(wanted, TEXTS[0], named=False)
    assert [piece.temp_index for piece in alone.selected_evidence] == [1]
