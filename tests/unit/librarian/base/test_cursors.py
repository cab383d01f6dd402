import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base import cursors
from librarian.base.errors import InvalidInput
from librarian.items.contracts import EdgeQuery
from librarian.sweep.contracts import ReviewQuery, SweepQuery

HERE = "here"
TEXTS = st.text(st.characters(exclude_categories=("Cs",)))


@given(st.lists(TEXTS), st.integers(1, 500))
def test_a_cursor_brings_its_position_back_whatever_the_page_size(position: list[str], limit: int):
    cursor = cursors.encode(HERE, EdgeQuery(uid="a"), position)
    assert cursors.decode(HERE, EdgeQuery(uid="a", limit=limit, cursor=cursor), cursor) == position


def test_a_cursor_of_other_conditions_is_refused():
    cursor = cursors.encode(HERE, EdgeQuery(uid="a"), ["e"])
    for query in (EdgeQuery(), EdgeQuery(uid="b"), EdgeQuery(uid="a", types=["CAUSES"]), EdgeQuery(source="a")):
        with pytest.raises(InvalidInput) as fault:
            cursors.decode(HERE, query, cursor)
        assert fault.value.field == "$.cursor"


def test_a_cursor_of_another_namespace_or_list_is_refused():
    cursor = cursors.encode(HERE, SweepQuery(), ["sweep-20260101-001"])
    for scope, query in (("there", SweepQuery()), (HERE, ReviewQuery())):
        with pytest.raises(InvalidInput, match="another namespace or query") as fault:
            cursors.decode(scope, query, cursor)
        assert "no cursor for the first page" in (fault.value.remedy or "")


@given(TEXTS | st.binary().map(lambda junk: junk.decode("latin-1")))
def test_an_invalid_cursor_is_the_callers_fault(junk: str):
    with pytest.raises(InvalidInput):
        cursors.decode(HERE, EdgeQuery(), junk)


@pytest.mark.parametrize("plain", ["W10", "WzFd", "e30", "WyJcdWQ4MDAiXQ", "bnVsbA"])
def test_other_json_is_an_invalid_cursor(plain: str):
    with pytest.raises(InvalidInput):
        cursors.decode(HERE, EdgeQuery(), plain)


def test_a_position_of_the_longest_uid_fits_what_a_query_may_send():
    cursor = cursors.encode(HERE, EdgeQuery(), ["2026-01-01T00:00:00.123456789Z", "\U0001f4da" * 200])
    assert len(cursor) <= 2000


def test_a_page_names_the_next_one_only_where_rows_are_left():
    query = EdgeQuery(uid="a")
    rows, cursor = cursors.page(HERE, query, ["a", "b", "c"], 2, lambda row: [row])
    assert (rows, cursors.decode(HERE, query, cursor)) == (["a", "b"], ["b"])
    assert cursors.page(HERE, query, ["a", "b"], 2, lambda row: [row]) == (["a", "b"], None)
    assert cursors.page(HERE, query, [], 2, lambda row: [row]) == ([], None)
