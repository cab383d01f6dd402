import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.distinctive import distinctive, holds_distinctive


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what was HRB-412 about?", "Decision: set the pool to 50, see hrb-412"),
        ("what does getUserById return", "getUserById throws"),
        ("where is pool.size set", "pool.size goes into the file"),
        ("the lock_timeout of it", "lost the lock_timeout line"),
        ("does anything use port 8765", "it listens on 8765."),
        ("the k8s upgrade", "after that k8s was down"),
        ('who said "blue harbor line"?', "We take the Blue Harbor line, always."),
        ("請求書「丸め処理」とは", "金額の丸め処理が原因だった"),
        ("noodles for lunch", "Lunch at noon? Noodles again"),
        ("Melanie's pottery", "Melanie: my pottery is drying"),
        ("backup", "the nightly backup is full"),
        ("会議", "次の会議は水曜日に移った"),
        ("猫", "猫がいる"),
    ],
)
def test_a_text_that_holds_what_is_distinctive_is_right(query, text):
    """Identifiers, long numbers, quoted phrases; else every word that carries the topic."""
    assert holds_distinctive(text, [distinctive(query)])


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what was HRB-412 about?", "see HRB-4127"),
        ("what happened in 2023?", "In 2023 we moved"),
        ("who came on the 8th of May, or 12 of them?", "12 eggs, 8 of them bad"),
        ("a long follow-up with him", "no follow-up yet"),
        ("e.g. what he/she said", "e.g. he/she"),
        ("noodles for lunch", "Lunch at noon"),
        ("why was it?", "why was it"),
        ("why was there no backup?", "the nightly backup is full"),
        ("🙂", "🙂 nice"),
        ("", "anything"),
    ],
)
def test_what_many_texts_hold_is_not_distinctive(query, text):
    """Years, small numbers, hyphenated plain words, function words, half of the words, the one topical word of a
    sentence.
    """
    assert not holds_distinctive(text, [distinctive(query)])


def test_any_of_several_queries_will_do():
    queries = [distinctive("who won the regatta"), distinctive("HRB-412")]
    assert holds_distinctive("closed with HRB-412", queries)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_it(query, text):
    """User text is data; a query that has a topic is held by itself."""
    found = distinctive(query)
    holds_distinctive(text, [found])
    assert holds_distinctive(query, [found]) or not found.words
