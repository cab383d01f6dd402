"""Which passages hold an item about the subject asked, and which only look as if they did."""

import time

import pytest

from agents.search.limits import Limits
from agents.search.loop import SearchAgent
from agents.search.ports import Scoring
from agents.search.reasoners.heuristic import HeuristicReasoner
from agents.search.testing import ScriptedTool
from agents.search.types import Candidate, EvidenceTask
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms

REASONER = HeuristicReasoner(Scoring(terms, is_question, answering))


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
            "How many days of annual leave do I get?",
            "number of days",
            (
                "Leave policy 2015 (superseded) | Employees receive 25 days of annual leave per year.",
                "Leave policy 2024 | Employees receive 28 days of annual leave per year.",
            ),
            [2],
        ),
        (
            "中間レポートと期末レポートの締切を教えて",
            "期末レポートの期限",
            ("中間レポートは5月10日までに提出すること。", "レポートは図書館でも書ける。"),
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
