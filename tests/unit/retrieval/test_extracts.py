"""Extracts: answers that quote."""

from datetime import UTC, datetime

import pytest

from librarian import MemoryHit
from librarian.search.contracts import Cause
from retrieval.extractive import extracts, supporting
from retrieval.readings import asks_for_all

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)


def hit(content, *, uid="m", score=0.5, relevance=0.8, support=0.8, verdict="answers", passage=None, **fields):
    return MemoryHit(
        uid=uid,
        kind="message",
        content=content,
        score=score,
        relevance=relevance,
        support=support,
        verdict=verdict,
        passage=passage,
        **fields,
    )


def test_of_a_long_text_the_sentence_that_answers_is_quoted():
    long = "The office was repainted. " * 20
    told = hit(
        f"{long}The rollback took 16 minutes in total. Nobody noticed. See you.",
        passage="The rollback took 16 minutes in total.",
    )
    (extract,) = extracts([told], "how long did the rollback take?", NOW)
    assert extract.text == "The rollback took 16 minutes in total."


def test_a_sentence_that_says_little_is_quoted_with_the_next():
    told = hit(f"{'The office was repainted. ' * 20}And the winner? The Kellers. Bye.", passage="And the winner?")
    assert extracts([told], "who won?", NOW)[0].text == "And the winner? The Kellers."


def test_a_text_without_blanks_is_long_sooner():
    told = hit("集会所の窓を直しました。" * 12 + "鍵は酒井商店で受け取ります。", passage="鍵は酒井商店で受け取ります。")
    assert extracts([told], "鍵はどこ？", NOW)[0].text == "鍵は酒井商店で受け取ります。"


def test_what_asks_knows_nothing_or_gives_orders_supports_no_answer():
    silent = [
        hit("?", verdict=verdict) for verdict in ("repeats the question", "says that nobody knows", "gives orders")
    ]
    told = hit("It was over after 16 minutes.")
    assert supporting([*silent, told], "how long?", NOW) == [told]


def test_nothing_is_quoted_where_the_best_is_not_backed():
    assert supporting([hit("Lunch is at noon.", support=0.1)], "who won?", NOW) == []


def test_what_led_to_a_backed_hit_supports_a_reason_whatever_its_words():
    """Step by step; for a question of another kind only what backs it does."""

    def led_by(uid):
        return [Cause(uid=uid, kind="memory", type="CAUSES", text="…", confidence=0.9)]

    hits = [
        hit("Two lines of the chart were lost.", uid="root", support=0.1),
        hit("Lunch is at noon.", uid="other", support=0.1),
        hit("The report held a lock at 14:06.", uid="lock", support=0.1, led_by=led_by("root")),
        hit("The deploy failed.", uid="outcome", led_by=led_by("lock")),
    ]
    assert [one.uid for one in supporting(hits, "why did the deploy fail?", NOW)] == ["root", "lock", "outcome"]
    assert supporting(hits, "when did the deploy fail?", NOW) == []


def test_one_hit_answers_a_question_and_all_that_are_nearly_as_good_one_for_a_list():
    hits = [hit("One."), hit("Two.", relevance=0.7), hit("Three.", relevance=0.3)]
    assert [extract.hit for extract in extracts(hits, "when was the first?", NOW)] == [0]
    assert [extract.hit for extract in extracts(hits, "list all of them", NOW)] == [0, 1]


def test_a_long_sentence_is_cut():
    assert len(extracts([hit("regatta " * 500)], "regatta", NOW)[0].text) <= 400


def test_what_was_replaced_gives_way_to_its_replacement():
    """Unless it is the past that is asked for."""
    hits = [
        hit("The password is mussel.", superseded_by="new"),
        hit("The boat is blue."),
        hit("The password is samphire now.", uid="new"),
    ]
    assert [part.hit for part in extracts(hits, "What is the password?", NOW)] == [2]
    assert [part.hit for part in extracts(hits, "What was the old password?", NOW)] == [0]


def test_a_circle_of_replacements_ends():
    hits = [hit("One.", uid="a", superseded_by="b"), hit("Two.", uid="b", superseded_by="a")]
    assert len(extracts(hits, "What is it?", NOW)) == 1


def test_a_question_of_what_is_not_so_takes_the_hit_that_denies():
    hits = [hit("We ship wheels for macOS."), hit("There are no wheels for Alpine.", relevance=0.7)]
    assert [part.hit for part in extracts(hits, "For what do we not ship wheels?", NOW)] == [1]
    assert [part.hit for part in extracts(hits, "For what do we ship wheels?", NOW)] == [0]


def test_a_reranker_s_order_counts_where_there_is_one():
    hits = [hit("One.", relevance=0.2, rerank_score=0.9), hit("Two.", relevance=0.9, rerank_score=0.1)]
    assert [part.hit for part in extracts(hits, "list all of them", NOW)] == [0]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("I went to the support group yesterday.", ["yesterday: 2023-05-07"]),
        ("We painted it last week.", ["last week: 2023-05-01 to 2023-05-07"]),
        ("先月から始めました。", ["先月: 2023-04-01 to 2023-04-30"]),
        ("It was on 7 May 2023.", []),
        ("It took 16 minutes.", []),
    ],
)
def test_words_seen_from_the_day_of_a_text_are_told_as_days(text, times):
    told = hit(text, sent_at=datetime(2023, 5, 8, 13, tzinfo=UTC))
    assert list(extracts([told], "when?", NOW)[0].times) == times


@pytest.mark.parametrize(
    ("query", "wants_all"),
    [
        ("Which nuts may Ivy still eat?", True),
        ("Which endings does the game have?", True),
        ("Which children have an allergy?", True),
        ("every hearing that was put off", True),
        ("解約したお客様を全部", True),
        ("What time does Leo have to be at the dentist?", False),
        ("In which folder do saves lie on Linux?", False),
        ("How much do we pay for it each month?", False),
        ("Which address do we use?", False),
        ("What does this cost?", False),
    ],
)
def test_a_list_is_asked_for(query, wants_all):
    assert asks_for_all(query) == wants_all


@pytest.mark.parametrize(
    ("query", "told", "backed"),
    [
        ("Which company does Ravi work for?", hit("Ravi was late today.", support=0.6, score=0.4), False),
        ("Which company does Ravi work for?", hit("Ravi works for Nordkai.", support=0.6, score=0.4), True),
        ("Who won the regatta in Ulm?", hit("Ann won the regatta in Bregenz.", score=0.78), False),
        ("How do I reset my VPN password?", hit("If you forgot the passphrase for remote access.", score=0.76), True),
        ("How much do we pay for AWS?", hit("We pay 40 euros for the fax.", support=0.6, score=0.6), False),
        ("Who gave us money last month?", hit("The fund gives us 40,000.", support=0.5, relevance=0.8), True),
        ("What did Rosa complain about last week?", hit("The scanner eats pages.", support=0.42, relevance=0.7), True),
        ("Who won the regatta?", hit("The regatta is in May.", support=0.45, relevance=0.7), True),
        ("Who won the regatta?", hit("Lunch is at noon.", support=0.45, relevance=0.7), False),
        ("Who won the regatta?", hit("The regatta is in May.", support=0.45, relevance=0.5), False),
    ],
)
def test_a_hit_backs_what_it_is_about(query, told, backed):
    """Not what only names somebody of the question, or lacks whom it names; a weak one has to be about its words or
    its time.
    """
    assert bool(supporting([told], query, NOW)) == backed


def test_items_of_a_list_need_less_each():
    """The best has to be backed; the others are named by few words of the question."""
    hits = [hit("All ideas for the day out: canoes."), hit("Or the zoo?", support=0.35, relevance=0.5)]
    assert len(supporting(hits, "all ideas for the day out", NOW)) == 2
    assert len(supporting(hits, "what for the day out", NOW)) == 1
