"""The reasoner without a language model: what it searches for, what it takes for evidence, and what it leaves alone."""

import time

import pytest

from librarian_agents.search.limits import Budget, Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.kinds import kind_of, kinds, without_kinds
from librarian_agents.search.reasoners.passages import heading_of, read_all
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Findings, Need, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from tests.unit.librarian_agents.scripted import ScriptedTool

REASONER = HeuristicReasoner(Scoring(terms, is_question, answering))
LECTURE = [
    "決定係数 R2 とは、回帰モデルの当てはまりの良さを表す指標の定義である。",
    "決定係数の計算式は R2 = 1 - SS_res / SS_tot である。",
    "R2 が 1 に近いほど当てはまりが良く、0 は平均で予測するのと同じと解釈する。",
    "今日の授業では出席を取りました。",
    "次回の講義は11月です。",
]
FILMS = [
    "When a Man's a Man\nWhen a Man's a Man is a 1935 American Western film directed by Edward F. Cline.",
    "Edward F. Cline\nEdward Francis Cline (November 4, 1891) was an American screenwriter and director.",
    "The Man from Utah\nThe Man from Utah is a 1934 American Western film starring John Wayne.",
    "The Dawn Rider\nThe Dawn Rider is a 1935 Western film about a man who seeks revenge.",
    "Krudt og klunker\nKrudt og klunker is a 1958 Danish comedy film.",
    "Grandi magazzini\nGrandi magazzini is a 1986 Italian comedy film.",
]


def budget():
    return Budget(Limits(), time)


def task(query, *items, max_retries=5, context=None):
    return EvidenceTask(query, items or (query,), max_retries, context=context)


def findings(*texts, query="question"):
    return Findings((Search(query, tuple(Candidate(place, text) for place, text in enumerate(texts))),))


async def selected(asked, *texts):
    tool = ScriptedTool([[Candidate(place, text) for place, text in enumerate(texts)]])
    return await SearchAgent(REASONER, Limits(), time).run(asked, tool)


def indexes(found):
    return {one.temp_index for one in found.selected_evidence}


async def test_each_item_of_the_lecture_gets_the_sentence_that_says_it():
    asked = task("決定係数の計算式を教えて", "definition", "formula", "interpretation_0_1", context="Lecture 03")
    found = await selected(asked, *LECTURE)
    assert found.status == "COMPLETED"
    assert found.coverage == {"definition": (0,), "formula": (1,), "interpretation_0_1": (2,)}


async def test_a_page_that_says_it_all_of_something_else_is_no_evidence():
    """Words that were searched for stand in most of what was found, and still tell the topics apart."""
    other = "相関係数 r とは、二つの変数の関係を表す指標である。計算式は r = S_xy / √(S_xx · S_yy) と書ける。"
    definition = "決定係数 R² とは、目的変数の変動のうち回帰モデルで説明できる割合を表す指標である。"
    formula = "決定係数の計算式は R² = 1 − RSS / TSS である。"
    found = await selected(task("決定係数の計算式を教えて", "definition", "formula"), formula, other, definition)
    assert found.coverage == {"definition": (2,), "formula": (0,)}


async def test_a_rare_word_of_the_question_is_not_its_topic():
    """One page alone "teaches"; what all the others speak of still is the topic."""
    others = [f"決定係数の宿題、その{number}。" for number in range(8)]
    found = await selected(
        task("決定係数の計算式を教えて", "definition", "formula"), *LECTURE[:2], "次回は分散を教える。", *others
    )
    assert found.coverage == {"definition": (0,), "formula": (1,)}


async def test_items_may_be_named_in_japanese():
    found = await selected(task("決定係数について教えて", "定義", "計算式"), *LECTURE)
    assert found.coverage == {"定義": (0,), "計算式": (1,)}


async def test_a_kind_that_nothing_shows_is_missing_and_searched_for_in_the_language_of_the_question():
    asked = task("決定係数の計算式を教えて", "example")
    evaluation = await REASONER.evaluate(asked, findings(*LECTURE), budget())
    assert evaluation.missing(asked.target_items) == ("example",)
    refined = await REASONER.refine(asked, findings(*LECTURE), evaluation, budget())
    assert len(refined) == 2
    assert refined[0].startswith("決定係数")
    assert all("例" in query.split() for query in refined)


async def test_the_right_kind_of_sentence_about_something_else_is_no_evidence():
    other = "The definition of a monad is as follows: a monad is a monoid in the category of endofunctors."
    found = await selected(task("What is overfitting?", "definition"), other, "Lunch is at noon.")
    assert found.status == "NO_EVIDENCE"


async def test_a_question_that_takes_two_documents_gets_both():
    found = await selected(task("When is the director of film When A Man'S A Man 's birthday?"), *FILMS)
    assert indexes(found) == {0, 1}


async def test_a_comparison_gets_both_of_what_it_names():
    found = await selected(
        task("Which film was released earlier, Grandi Magazzini or Krudt Og Klunker?"), *reversed(FILMS)
    )
    assert indexes(found) == {0, 1}


async def test_a_question_about_nothing_that_was_found_gets_no_evidence():
    found = await selected(task("Who won the chess tournament in Wijk aan Zee?"), "Bread needs flour and salt.")
    assert found.status == "NO_EVIDENCE"


async def test_a_name_that_leads_further_is_searched_for():
    asked = task("When is the director of film When A Man'S A Man 's birthday?")
    seen = findings(FILMS[0], FILMS[2], FILMS[3], query=asked.user_query)
    evaluation = await REASONER.evaluate(asked, seen, budget())
    assert evaluation.missing(asked.target_items)
    (query,) = await REASONER.refine(asked, seen, evaluation, budget())
    assert query.startswith("Edward F. Cline")


async def test_the_first_hit_for_a_lead_is_trusted_less_than_that_for_the_question():
    asked = task("Which film was released earlier, Grandi Magazzini or Krudt Og Klunker?")
    (first, second), other = [Candidate(place, FILMS[5 - place]) for place in (0, 1)], Candidate(2, FILMS[2])
    both = Findings((Search(asked.user_query, (first, second)), Search("John Wayne", (other,))))
    once = Findings((Search(asked.user_query, (first, second, other)),))
    read = [{one.index: one for one in read_all(each, [asked.user_query], terms)} for each in (both, once)]
    assert [passages[0].rank for passages in read] == [1.0, 1.0]
    assert read[0][2].rank == 0.5
    evaluation = await REASONER.evaluate(asked, both, budget())
    assert [one.temp_index for need in evaluation.needs for one in need.supports] == [0, 1]


async def test_without_refinements_each_item_is_searched_for_at_once():
    asked = task("What is R2?", "definition", "formula", max_retries=0)
    planned = await REASONER.plan(asked, budget())
    assert [query.split()[:2] for query in planned] == [["R2", "definition"], ["R2", "formula"]]


async def test_a_hundred_items_are_planned_and_refined_within_bounds():
    asked = task("What?", *(f"item number {place} of many more" for place in range(100)), max_retries=0)
    assert len(await REASONER.plan(asked, budget())) == 4
    evaluation = Evaluation(tuple(Need(item, "") for item in asked.target_items))
    assert len(await REASONER.refine(asked, findings(), evaluation, budget())) == 4


async def test_quotes_stand_in_their_candidates():
    asked = task(
        "決定係数の計算式を教えて", "definition", "formula", "When is the director of When a Man's a Man born?"
    )
    seen = findings(*LECTURE, *FILMS)
    evaluation = await REASONER.evaluate(asked, seen, budget())
    quotes = [(one.temp_index, one.quote) for need in evaluation.needs for one in need.supports]
    assert quotes == [(0, LECTURE[0]), (1, LECTURE[1])]
    assert all(quote in seen.candidates[index].text for index, quote in quotes)


@pytest.mark.parametrize("texts", [(), ("",), ("\n\n",), ("?!.",), (" " * 5_000,), ("word " * 3_000,)])
async def test_odd_texts_are_read_without_harm(texts):
    asked = task("Who is it?", "definition", "Who is it?", "two words")
    await REASONER.evaluate(asked, findings(*texts), budget())


@pytest.mark.parametrize(
    ("beside", "right"), [("The ship sank in a storm.", [0]), ("The ship sank because of a storm.", [])]
)
async def test_similarity_stands_in_for_the_words_of_the_subject(beside, right):
    """Where another reason stands beside it, similarity alone is not enough."""

    async def similarity(queries, texts):
        return [[0.9 if "plumage" in text else 0.0 for text in texts] for _ in queries]

    seen = findings("Seabirds shed worn plumage in autumn because it leaks.", beside)
    asked = task("Why do gannets moult?", "reason")
    with_words = await REASONER.evaluate(asked, seen, budget())
    similar = HeuristicReasoner(Scoring(terms, is_question, answering, similarity))
    evaluation = await similar.evaluate(asked, seen, budget())
    assert with_words.missing(asked.target_items) == ("reason",)
    assert [support.temp_index for support in evaluation.needs[0].supports] == right


async def test_similarity_is_not_asked_where_words_find_something():
    """Encoding takes most of a step's time."""

    async def similarity(_queries, _texts):
        raise AssertionError("it was asked")

    asked = task("When is the director of film When A Man'S A Man 's birthday?")
    reasoner = HeuristicReasoner(Scoring(terms, is_question, answering, similarity))
    evaluation = await reasoner.evaluate(asked, findings(FILMS[0], FILMS[2]), budget())
    assert evaluation.missing(asked.target_items)


async def nothing(_queries, _texts):
    return None


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("definition", "definition"),
        ("formula", "formula"),
        ("interpretation_0_1", "interpretation"),
        ("birthDate", "date"),
        ("計算式", "formula"),
        ("how_to_compute", "procedure"),
        ("closing time", "date"),
        ("time until the answer", "duration"),
        ("phone number", "contact"),
        ("compensation for players", "number"),
        ("必要書類", "condition"),
        ("residual plot", None),
    ],
)
def test_the_name_of_an_item_tells_its_kind(item, kind):
    told, _ = kind_of(item)
    assert (told.name if told else None) == kind


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("決定係数の計算式を教えて", "決定係数の を教えて"),
        ("What is the definition of a formula?", "What is the   of a  ?"),
        ("年金の数え方", "年金の数え方"),
    ],
)
def test_the_topic_of_a_question_is_not_the_kind_that_it_asks_for(question, topic):
    assert without_kinds(question).split() == topic.split()


@pytest.mark.parametrize("kind", kinds().values(), ids=lambda kind: kind.name)
def test_every_kind_can_be_asked_for_in_both_languages(kind):
    assert len(kind.ask["en"]) == len(kind.ask["ja"]) == 2
    assert kind.named


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Bardney\nBardney is a village.", "Bardney"),
        ("Bardney is a village and civil parish.", "Bardney"),
        ("The Hong Kong Museum (HKM) is a museum.", "The Hong Kong Museum"),
        ("I was there yesterday.", ""),
        ("what it is nobody knows", ""),
        ("A long sentence that ends.\nAnother one.", ""),
        ("決定係数とは指標である。", "決定係数"),
    ],
)
def test_a_heading_is_a_title_line_or_the_name_that_something_is_said_of(text, heading):
    assert heading_of(text, terms) == heading
