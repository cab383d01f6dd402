import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import PayloadTooLarge
from librarian.base.lines import numbered_lines


async def read(chunks, **limits):
    async def stream():
        for chunk in chunks:
            yield chunk

    return [row async for row in numbered_lines(stream(), **limits)]


async def test_numbers_count_blank_lines_and_a_last_line_needs_no_end():
    assert await read([b"a\r\n\n  \nb"]) == [(1, b"a"), (4, b"b")]


async def test_a_byte_order_mark_is_no_part_of_the_first_line():
    assert await read([b"\xef\xbb", b"\xbfa\n\xef\xbb\xbfb"]) == [(1, b"a"), (2, b"\xef\xbb\xbfb")]


async def test_a_line_that_never_ends_is_refused_by_number_and_what_came_before_is_not():
    with pytest.raises(PayloadTooLarge, match="line 2"):
        await read([b"a\n", b"x" * 60, b"y" * 60], max_line_bytes=100)


@given(st.lists(st.binary(max_size=30), max_size=8))
async def test_how_a_body_is_cut_into_chunks_does_not_matter(chunks):
    assert await read(chunks) == await read([b"".join(chunks)])
