"""How many passages answer a question together."""

import time
from itertools import product

import pytest

from librarian_agents.search.limits import Budget, Limits
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.chain import MOST, SetModel, SetQuestion, expected_f1, together
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.passages import read_all
from librarian_agents.search.types import Candidate, EvidenceTask, Findings, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms

SCORING = Scoring(terms, is_question, answering)
ASKED = "Which pets does Anna have?"
TURNS = (
    ("Anna", "I have a cat now, a real pet at last!", 0.9),
    ("Anna", "My other pet is a parrot called Ivo.", 0.88),
    ("Ben", "The weather was awful on Sunday.", 0.2),
    ("Ben", "I saw a film about trains.", 0.15),
    ("Anna", "The train was late again.", 0.1),
)


def found(turns=TURNS):
    candidates = tuple(Candidate(at, text, who, score=score) for at, (who, text, score) in enumerate(turns))
    return Findings((Search(ASKED, candidates),))


def question(turns=TURNS):
    return SetQuestion.of(ASKED, read_all(found(turns), (ASKED,), terms), SCORING)


def chosen(weights, turns=TURNS):
    return [link.passage.index for link in together(question(turns), {"messages": SetModel(weights)})]


def f1_by_every_case(likely, size):
    total = 0.0
    for case in product((0, 1), repeat=len(likely)):
        chance = 1.0
        for each, right in zip(likely, case, strict=True):
            chance *= each if right else 1 - each
        total += chance * 2 * sum(case[:size]) / (size + sum(case))
    return total


@pytest.mark.parametrize("likely", [[0.9, 0.4, 0.1], [0.5, 0.5, 0.5, 0.5], [1.0, 0.0], [0.3]])
def test_the_expected_f1_is_the_mean_over_all_cases(likely):
    for size in range(1, len(likely) + 1):
        assert expected_f1(likely, size) == pytest.approx(f1_by_every_case(likely, size))


def test_a_set_of_messages_is_as_large_as_there_are_probable_ones():
    assert chosen({"relevance": 8.0, "one": -4.0}) == [0, 1]


def test_whoever_the_question_names_counts_as_said_by():
    turns = [("Ben", "A pet at last!", 0.5), ("Anna", "A pet at last!", 0.5)]
    assert chosen({"said_by": 8.0, "one": -4.0}, turns) == [1]


def test_one_message_is_chosen_even_if_none_is_probable():
    assert chosen({"rank": 9.0, "one": -12.0}) == [0]


def test_a_set_has_at_most_a_few_members():
    assert len(chosen({"one": 9.0}, [("Anna", f"Pet number {at}.", 0.5) for at in range(9)])) == MOST


def test_nothing_found_is_no_set():
    assert chosen({"one": 9.0}, ()) == []


async def test_a_question_about_a_conversation_gets_the_turns_of_whom_it_names():
    others = tuple((who.replace("Anna", "Ben"), text, score) for who, text, score in TURNS)
    asked = EvidenceTask(ASKED, (ASKED,), 0)

    async def supports(turns):
        evaluation = await HeuristicReasoner(SCORING).evaluate(asked, found(turns), Budget(Limits(), time))
        return [(each.temp_index, each.score) for need in evaluation.needs for each in need.supports]

    hers, his = await supports(TURNS), await supports(others)
    assert [index for index, _ in hers] == [0, 1]
    assert hers[0][1] > his[0][1]
