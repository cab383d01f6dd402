from dataclasses import dataclass

import pytest

from retrieval.answerness import is_question, score_hit_for_query


@dataclass
class Message:
    content: str
    score: float = 0.5
    role: str | None = "user"


@pytest.mark.parametrize(
    "text",
    [
        "Which port does it use?",
        "決定係数の計算式は？",
        "Where is the key",
        "どこで会いますか。",
        "いつ始まる",
        "Hm. Really?",
    ],
)
def test_questions_are_recognised(text):
    """By their mark, their first word, or their ending; English and Japanese."""
    assert is_question(text)


@pytest.mark.parametrize("text", ["The port is 8765.", "会議は三時です。", "Whatever you like.", "Island life."])
def test_statements_are_no_questions(text):
    """A word that merely starts like a question word does not make one."""
    assert not is_question(text)


def test_an_answer_beats_the_question_it_answers():
    """Equal similarity: the message that tells stands above the one that asks."""
    asks, tells = Message("What is the port of the service?"), Message("The port of the service is 8765.")
    assert score_hit_for_query(tells, "port of the service") > score_hit_for_query(asks, "port of the service")


def test_each_adjustment_is_as_documented():
    """-0.05 question, +0.05 assistant, +0.03 for all query words, +0.02 direct answer of an assistant."""
    assert score_hit_for_query(Message("zzz"), "port") == pytest.approx(0.5)
    assert score_hit_for_query(Message("zzz?"), "port") == pytest.approx(0.45)
    assert score_hit_for_query(Message("zzz", role="assistant"), "port") == pytest.approx(0.55)
    assert score_hit_for_query(Message("port 8765"), "port") == pytest.approx(0.53)
    assert score_hit_for_query(Message("port 8765"), "port number") == pytest.approx(0.515)
    assert score_hit_for_query(Message("Yes, port 8765.", role="assistant"), "port") == pytest.approx(0.6)
    assert score_hit_for_query(Message("Yes, it does."), "port") == pytest.approx(0.5)


def test_japanese_words_count_inside_running_text():
    """Japanese has no blanks: a query's word is looked for in the text itself."""
    assert score_hit_for_query(Message("決定係数は0.9です。"), "決定係数") == pytest.approx(0.53)
