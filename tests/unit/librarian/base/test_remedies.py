"""What a problem says that can be sent instead."""

import pytest

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import convert
from librarian.http.query import values_of
from librarian.items.contracts import ItemQuery, LinkInput, RowIn
from librarian.search.contracts import SearchInput
from librarian.sweep.contracts import RetentionRule

SEARCH = {"queries": ["a"]}
UID = "Stable id of an item: 1 to 200 characters without spaces, slashes or control characters."
EDGE = "One of: BLOCKS, CAUSES, ENABLES, RELATES_TO."


@pytest.mark.parametrize(
    ("value", "type_", "remedy"),
    [
        ({**SEARCH, "now": "gestern"}, SearchInput, "Write a date and time such as 2026-03-01T09:30:00Z."),
        ({**SEARCH, "filters": {"as_of": "2026-03-01"}}, SearchInput, "such as 2026-03-01T09:30:00Z."),
        (
            {**SEARCH, "filters": {"kinds": ["fact", "mesage"]}},
            SearchInput,
            "One of: fact, file_chunk, memory, message.",
        ),
        ({**SEARCH, "filters": {"kind": "fact"}}, SearchInput, "Fields: kinds, types, authors, conversation_id,"),
        ({**SEARCH, "k": 5}, SearchInput, "Fields: queries, limit, similarity_threshold,"),
        ({"source": "a", "target": "b", "type": "causes"}, LinkInput, EDGE),
        ({"kind": "memory", "text": "x", "uid": "a/b"}, RowIn, UID),
        ([{"older_than_days": 3, "kind": "x"}], list[RetentionRule], "older_than_days"),
    ],
)
def test_what_does_not_fit_is_told_with_what_does(value, type_, remedy):
    with pytest.raises(InvalidInput) as caught:
        convert(value, type_)
    assert remedy in (caught.value.remedy or "")


def test_where_several_types_are_possible_none_is_guessed():
    """A memory and an edge have other types."""
    with pytest.raises(InvalidInput) as caught:
        convert({"kind": "edge", "source": "a", "target": "b", "type": "LEADS"}, RowIn)
    assert caught.value.remedy is None


@pytest.mark.parametrize("value", [{}, {"queries": "x"}, {**SEARCH, "limit": 0}])
def test_a_message_that_says_it_needs_no_remedy(value):
    """What is missing, of another type or out of range is told by the message itself."""
    with pytest.raises(InvalidInput) as caught:
        convert(value, SearchInput)
    assert caught.value.remedy is None


def test_a_query_string_names_the_parameter_and_what_fits():
    """Parameters have no path."""
    with pytest.raises(InvalidInput) as caught:
        values_of([("kinds", "fact"), ("kinds", "mesage")], ItemQuery)
    assert (caught.value.field, caught.value.remedy) == ("kinds[1]", "One of: fact, file_chunk, memory, message.")
