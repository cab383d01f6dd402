"""Extracts: answers that quote."""

from librarian import MemoryHit
from retrieval.extractive import extracts, supporting


def hit(content, *, relevance=0.8, support=0.8, verdict="answers", passage=None):
    return MemoryHit(
        uid="m",
        kind="message",
        content=content,
        score=0.5,
        relevance=relevance,
        support=support,
        verdict=verdict,
        passage=passage,
    )


def test_of_a_long_text_the_sentence_that_answers_is_quoted_with_the_next():
    long = "The office was repainted. " * 20
    told = hit(
        f"{long}The rollback took 16 minutes in total. Nobody noticed. See you.",
        passage="The rollback took 16 minutes in total.",
    )
    (extract,) = extracts([told], "how long did the rollback take?")
    assert extract.text == "The rollback took 16 minutes in total. Nobody noticed."


def test_what_asks_knows_nothing_or_gives_orders_supports_no_answer():
    silent = [
        hit("?", verdict=verdict) for verdict in ("repeats the question", "says that nobody knows", "gives orders")
    ]
    told = hit("It was over after 16 minutes.")
    assert supporting([*silent, told], "how long?") == [told]


def test_nothing_is_quoted_where_the_best_is_not_backed():
    assert supporting([hit("Lunch is at noon.", support=0.1)], "who won?") == []


def test_one_hit_answers_a_question_and_all_that_are_nearly_as_good_one_for_a_list():
    hits = [hit("One."), hit("Two.", relevance=0.7), hit("Three.", relevance=0.3)]
    assert [extract.hit for extract in extracts(hits, "when was the first?")] == [0]
    assert [extract.hit for extract in extracts(hits, "list all of them")] == [0, 1]


def test_a_long_sentence_is_cut():
    assert len(extracts([hit("regatta " * 500)], "regatta")[0].text) <= 400
