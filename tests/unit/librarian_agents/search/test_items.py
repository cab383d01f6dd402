"""Which passages hold an item about the subject asked, and which only look as if they did."""

import math
import time

import pytest

from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.items import choices, features_of
from librarian_agents.search.reasoners.passages import read_all
from librarian_agents.search.reasoners.questions import read_task
from librarian_agents.search.reasoners.readings import read_passages
from librarian_agents.search.types import Candidate, EvidenceTask, Findings, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from tests.unit.librarian_agents.scripted import ScriptedTool

REASONER = HeuristicReasoner(Scoring(terms, is_question, answering))
FAIR = ("The spring fair takes place on 4 May.", "A stall costs a deposit of 40 francs.")


def read(question, items):
    """The task and the passages of FAIR, as the reasoner reads them."""
    seen = tuple(Candidate(at, text, "Notes", str(at)) for at, text in enumerate(FAIR, start=1))
    found = read_all(Findings((Search(question, seen),)), (question, *items), terms)
    return read_task(EvidenceTask(question, items, 1), terms), read_passages(found, terms)


async def covered(question, item, *texts):
    """The texts that are selected for one item; a text may begin with its source and a bar."""
    candidates = []
    for number, text in enumerate(texts, start=1):
        source, _, body = text.rpartition(" | ")
        candidates.append(Candidate(number, body, source or "Notes", str(number)))
    asked = EvidenceTask(question, (item,), 1)
    result = await SearchAgent(REASONER, Limits(), time).run(asked, ScriptedTool([candidates]))
    return list(result.coverage.get(item, ()))


@pytest.mark.parametrize(
    ("question", "item", "texts", "right"),
    [
        (
            "呼吸商とは何ですか",
            "定義",
            ("呼吸商の定義は実習の前に説明する。", "外呼吸とは、肺で酸素と二酸化炭素を交換することをいう。"),
            [],
        ),
        (
            "What did the council decide about the bridge?",
            "decision",
            ("It has been proposed to widen the bridge. The council will discuss it in autumn.",),
            [],
        ),
        (
            "Why did the deploy fail and what was decided after?",
            "decision",
            ("The deploy showed a timeout at 14:02.", "The team decided to buy new chairs for the office."),
            [],
        ),
        (
            "How many days of annual leave do I get?",
            "number of days",
            (
                "Leave policy 2015 (superseded) | Employees receive 25 days of annual leave per year.",
                "Leave policy 2024 | Employees receive 28 days of annual leave per year.",
            ),
            [2],
        ),
        (
            "What is the price of the F2 pump?",
            "price",
            (
                "The price of the F2 pump is listed in the catalogue.",
                "The F2 pump is listed at 3,150 euros, excluding tax.",
            ),
            [2],
        ),
        (
            "What is the price of the F2 pump?",
            "price",
            ("The price of the F2 pump is announced at 10:00.", "The price of the F2 pump is listed at the end."),
            [],
        ),
        (
            "標準誤差の公式を教えて",
            "公式",
            ("標準偏差 s の公式は s = √(V) である。", "標準誤差の公式は SE = σ / √n である。"),
            [2],
        ),
    ],
)
async def test_near_misses_do_not_count(question, item, texts, right):
    assert await covered(question, item, *texts) == right


def test_the_model_of_answering_reads_each_passage_for_the_item_and_for_its_clause():
    """It is given, with sources, the item's own words, what the clause that asks for it is about, and both together
    with what the question is about.
    """
    asked = []

    def noting(question, texts):
        asked.append((question, list(texts)))
        return answering(question, texts)

    reading, passages = read("When is the spring fair, and how much is the deposit for a stall?", ("deposit amount",))
    (rows,) = [features_of(spec, reading, passages, noting, {}) for spec in reading.items]
    assert [question for question, _ in asked] == [
        "deposit",
        "how is the deposit for a stall",
        "When is the spring fair how deposit for a stall amount",
    ]
    assert asked[0][1] == [("Notes", FAIR[0]), ("Notes", FAIR[1])]
    assert rows[0][1]["item_coverage"] == 0
    assert rows[1][1]["item_coverage"] == 1


def test_the_best_of_an_item_are_seen_beside_the_best_of_the_others():
    """A passage that is best for another item is claimed; another page of its source is near what is best."""
    _, passages = read("When is the spring fair, and how much is the deposit for a stall?", ("date", "deposit"))
    first, second = choices([[{}, {}], [{}, {}]], [[0.9, 0.2], [0.3, 0.8]], passages)
    assert [at for at, _ in first] == [0, 1]
    assert [at for at, _ in second] == [1, 0]
    claims = [(values["claimed"], values["claim"], values["near_page"]) for _, values in first]
    assert claims == [(0.0, 0.0, 0.8), (1.0, 0.8, 0.0)]
    assert first[0][1]["lead"] == pytest.approx(math.log(9) - math.log(0.25))


async def test_no_item_starves_while_others_stay_open():
    """With ten items that nothing carries, each is asked for by its own words."""
    items = tuple(
        f"{name} deadline" for name in ("tax", "visa", "rent", "exam", "grant", "loan", "lease", "bonus", "fee")
    )
    tool = ScriptedTool([[Candidate(1, "Nothing of that kind.")]])
    asked = EvidenceTask("Which deadlines are there?", items, 8)
    await SearchAgent(REASONER, Limits(), time).run(asked, tool)
    for item in items:
        assert any(item.split()[0] in query for query in tool.queries), item
