from hypothesis import given
from hypothesis import strategies as st

from graph.tokens import item_tokens, required_clause, token


@given(st.text(), st.text())
def test_tokens_are_equal_only_for_equal_values(entry: str, other: str):
    assert (token("namespace", entry) == token("namespace", other)) == (entry == other)


@given(st.text())
def test_tokens_hold_no_vowel_plural_or_digit_for_a_stemmer_to_touch(value: str):
    assert set(token("author", value)) <= set("bcdfghjkmnpqrtvw")


def test_one_value_of_two_fields_is_two_tokens():
    assert token("kind", "memory") != token("author", "memory")


def test_an_item_meets_the_clause_of_its_own_values():
    tokens = item_tokens("team", "message", "Mia").split()
    clause = required_clause("team", ["message"], ["Mia"])
    assert all(f"tokens:{word}" in clause for word in tokens)
    assert clause.count("+") == 3
