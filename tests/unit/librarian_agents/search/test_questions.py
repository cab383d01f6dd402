"""The agent's reading of a task, and its queries for the search."""

import pytest

from librarian_agents.search.limits import Budget, Limits
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.cues import cue
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.kinds import kinds
from librarian_agents.search.reasoners.questions import queries_for, read_task
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Findings, Need, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from retrieval.words import in_the_other_language

SCORING = Scoring(terms, is_question, answering, translated=in_the_other_language)


class StandingClock:
    """No time passes."""

    def monotonic(self):
        return 0.0


def budget():
    return Budget(Limits(), StandingClock())


def read(question, *items, intent=None):
    return read_task(EvidenceTask(question, items, 5, intent=intent), terms)


def test_kinds_that_are_listed_are_asked_for_in_clauses_of_their_own():
    first, second = read("決定係数の定義と調整済み決定係数の計算式を教えて", "定義", "計算式").items
    assert (first.about, second.about) == ("決定係数の", "調整済み決定係数の を")


@pytest.mark.parametrize(
    ("intent", "about"),
    [
        ("動物の占有者の責任、免責、条文番号", "動物の占有者の責任"),
        ("日常の相談", ""),
        (None, ""),
    ],
)
def test_an_intent_that_asks_for_the_item_says_what_it_is_about(intent, about):
    """The question paraphrases; the intent has the word that the documents use."""
    task = EvidenceTask("飼い犬が人をかんだら？", ("条文番号",), 5, intent=intent)
    reading = read_task(task, terms)
    (spec,) = reading.items
    assert spec.intent == about
    assert any(about in query for query in queries_for(spec, reading, task, SCORING))


def test_an_item_is_read_with_what_the_question_is_about():
    _, deadline = read("How long is parental leave, and by when do I have to announce it?", "length", "deadline").items
    assert {"parental", "leave", "announce", "deadline"} <= set(deadline.whole.casefold().split())


async def refined(task, *searches):
    reasoner = HeuristicReasoner(SCORING)
    open_items = Evaluation(tuple(Need(item, "") for item in task.target_items))
    return await reasoner.refine(task, Findings(searches), open_items, budget())


async def test_the_other_language_comes_first_where_nothing_is_found_in_the_own():
    task = EvidenceTask("経費精算の期限", ("期限",), 5)
    english = Candidate(1, "Expense claims must be submitted within 30 days.")
    japanese = Candidate(1, "経費は月末に精算する。")
    (abroad, *_), (at_home, *_) = [await refined(task, Search("経費精算", (one,))) for one in (english, japanese)]
    assert {"reimbursement", "deadline"} <= set(abroad.split())
    assert "経費精算" in at_home


async def test_the_last_item_is_asked_for_twice_a_round():
    one, two = [EvidenceTask("Quartz: hardness, colour", items, 5) for items in (("hardness",), ("hardness", "colour"))]
    assert [len(await refined(task, Search("quartz", ()))) for task in (one, two)] == [2, 2]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("person", "It was found by Asaph Hall in 1877."),
        ("formula", "施肥量(kg)=必要な窒素量(kg)÷窒素の割合"),
        ("decision", "記録を電子化することが会議で承認された。"),
        ("reason", "The clinic does not act in criminal cases, since its insurance does not extend to them."),
        ("symptom", "患者は歯ぐきから出血し、傷が治りにくくなる。"),
        ("deadline", "Entries close on 1 April."),
        ("procedure", "Roll a release back with the tool."),
        ("exception", "管理監督者には、休日の規定が適用されない。"),
        ("contact", "Outside opening hours ring the night service."),
        ("formula", "The payout is the sum of payments minus fees."),
        ("remedy", "Since then only one region writes to the cache."),
        ("date", "午後の部は十三時から始まる。"),
    ],
)
def test_a_kind_is_known_by_the_shape_of_its_sentences(kind, text):
    assert kinds()[kind].strength(text) == 1


@pytest.mark.parametrize(
    ("name", "certain", "open_"),
    [
        ("plan", "平均に差があるかどうかを調べる手法である。", "時間を延ばすかどうかは、引き続き考える。"),
        ("defers", "The syrup must not be given to children.", "The proof will not be repeated."),
        ("defers", "新聞や教科書の文体も変わった。", "詳しくは教科書を読むこと。"),
        ("defers", "費用については区が半分を負担する。", "制動については第七章で扱う。"),
        ("outdated", "Fuses must be replaced by one of the same rating.", "The rule was replaced by another."),
    ],
)
def test_a_sentence_is_distrusted_for_what_it_leaves_open_alone(name, certain, open_):
    assert [bool(cue(name).search(text)) for text in (certain, open_)] == [False, True]
