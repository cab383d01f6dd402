import pytest

from retrieval.names import authors_named, without_names

AUTHORS = ["Caroline Smith", "Melanie", "佐藤 美咲", "Will"]


@pytest.mark.parametrize(
    ("query", "named", "left"),
    [
        ("When did Caroline paint?", ["Caroline Smith"], "When did paint?"),
        ("What is Melanie's plan?", ["Melanie"], "What is plan?"),
        ("what did caroline smith say", ["Caroline Smith"], "what did say"),
        ("佐藤さんは何と言いましたか", ["佐藤 美咲"], "さんは何と言いましたか"),
        ("Carolines art", [], "Carolines art"),
        ("will it rain", [], "will it rain"),
    ],
)
def test_names_are_found_and_taken_out(query, named, left):
    """As whole words in scripts with blanks, anywhere in others; a name that is a common word is none."""
    expected = [author for author in AUTHORS if author in named]
    assert authors_named(query, [author for author in AUTHORS if author != "Will"]) == expected
    assert without_names(query, expected) == left


def test_a_query_that_is_only_a_name_stays():
    """There must be something to encode."""
    assert without_names("Melanie", ["Melanie"]) == "Melanie"
    assert without_names("Melanie?", ["Melanie"]) == "Melanie?"
