"""Extracts: answers that quote."""

from librarian import MemoryHit
from retrieval.extractive import extracts, supporting


def hit(content, score=0.5):
    return MemoryHit(uid="m", kind="message", content=content, score=score)


def test_the_sentence_with_the_question_s_words_is_quoted():
    told = hit("Good morning. The rollback took 16 minutes in total. See you.")
    assert [one.sentence for one in extracts([hit("Lunch?"), told], "how long did the rollback take")] == [
        "The rollback took 16 minutes in total."
    ]


def test_what_tells_goes_before_what_asks():
    hits = [hit("How long did the rollback take?"), hit("The rollback was over after 16 minutes.")]
    best = extracts(hits, "how long did the rollback take?")[0]
    assert (best.hit, best.sentence) == (1, "The rollback was over after 16 minutes.")


def test_nothing_is_quoted_where_nothing_fits():
    assert extracts([hit("Lunch is at noon."), hit("")], "who won the regatta") == []
    assert supporting([hit("Lunch is at noon.", 0.2)], "who won the regatta") == []


def test_a_very_similar_hit_is_quoted_without_a_common_word():
    assert [one.sentence for one in extracts([hit("毎日のレポートは午前5時です。", 0.8)], "when does it run")] == [
        "毎日のレポートは午前5時です。"
    ]


def test_a_long_sentence_is_cut():
    assert len(extracts([hit("regatta " * 500)], "regatta")[0].sentence) <= 400
