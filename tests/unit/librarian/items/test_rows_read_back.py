from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j.time import DateTime

from graph.item import Fact, FileChunk, Item, Memory, Message, NewItem, item_of, written_properties
from graph.types import FOREVER
from librarian.base.errors import Conflict
from librarian.items.contracts import FactIn, ItemIn, MemoryIn, MessageIn
from librarian.items.rows import RowBuilder, row_of, shared_fields

# Blanks, NUL, what looks derived, texts longer than a caption: each has been a way to lose something.
WORDS = st.sampled_from(["Ada", "owns", "billing", "Ada owns billing", "\0", " ", "", "x" * 70, "a  b\nc", "京都"])
SHORT = st.none() | WORDS | st.text(max_size=20)
TEXT = (WORDS | st.text(max_size=80)).filter(lambda text: text.replace("\0", " ").strip())
TIMES = st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
ATTRIBUTES = st.dictionaries(WORDS, st.none() | st.booleans() | st.integers(-9, 9) | WORDS, max_size=3)
COMMON = {"name": SHORT, "domain": SHORT, "tags": st.lists(WORDS, max_size=3), "attributes": ATTRIBUTES}
SHARE = st.none() | st.floats(0, 1)

MESSAGES = st.builds(
    MessageIn,
    text=TEXT,
    author_name=SHORT,
    **dict.fromkeys(("message_id", "author_id", "role", "conversation_id", "session_id", "caption"), SHORT),
    position=st.none() | st.integers(0, 9),
    sent_at=TIMES,
    **COMMON,
)
FACTS = st.builds(
    FactIn,
    text=TEXT,
    **dict.fromkeys(("subject", "predicate", "object", "person_id", "fact_type"), SHORT),
    **dict.fromkeys(("fact_object", "relationship_type"), SHORT),
    confidence=SHARE,
    valid_from=TIMES,
    valid_to=st.none() | st.just(datetime(2200, 1, 1, tzinfo=UTC)) | st.just(FOREVER),
    evidence=st.lists(WORDS, max_size=3),
    supersedes=st.lists(st.sampled_from(["f-1", "f-2", "u"]), max_size=3),
    **COMMON,
)
TRIPLES = st.builds(FactIn, subject=TEXT, predicate=TEXT, object=TEXT, name=SHORT)
MEMORIES = st.builds(
    MemoryIn,
    text=TEXT,
    type=st.none() | st.sampled_from(["Decision", "Unknown"]),
    importance=st.none() | st.integers(1, 10),
    agent=SHORT,
    source=SHORT,
    occurred_at=TIMES,
    **COMMON,
)


def stored(new: NewItem) -> Item:
    """As the graph gives an item back: null is absence."""
    properties = {"namespace": "n", "uid": new.item.uid, **written_properties(new.item)}
    times = {name: DateTime.from_native(value) for name, value in properties.items() if isinstance(value, datetime)}
    return item_of(properties | times)


@given(MESSAGES | FACTS | TRIPLES | MEMORIES)
def test_a_row_read_back_builds_the_same_item(row: ItemIn):
    built = RowBuilder().item("n", msgspec.structs.replace(row, uid="u"))
    again = row_of(stored(built))
    rebuilt = RowBuilder().item("n", msgspec.structs.replace(again, uid="u"))
    assert replace(rebuilt.item, source_hash=built.item.source_hash) == built.item
    assert (rebuilt.search_text, rebuilt.cjk) == (built.search_text, built.cjk)
    assert row_of(rebuilt.item) == again


@pytest.mark.parametrize(
    ("row", "item", "derived"),
    [
        (MemoryIn, Memory, {"evidence"}),
        (FactIn, Fact, {"evidence", "supersedes"}),
        (MessageIn, Message, {"author"}),
    ],
)
def test_every_field_of_a_row_reaches_its_item(row, item, derived):
    """A new field of a contract is stored under its name, or named here as one that something else is made of."""
    assert set(row.__struct_fields__) - {"namespace", "uid"} - set(shared_fields(row, item)) == derived


def test_what_is_derived_is_left_out():
    fact = RowBuilder().item("n", FactIn(subject="Mia", predicate="leads", object="platform"))
    assert row_of(stored(fact)) == FactIn(subject="Mia", predicate="leads", object="platform")
    message = RowBuilder().item("n", MessageIn(text="hi", author="Mia"))
    assert row_of(stored(message)) == MessageIn(text="hi", author_name="Mia")


def test_a_file_chunk_has_no_row():
    with pytest.raises(Conflict, match="follows its file"):
        row_of(FileChunk(namespace="n", uid="c", text="x", path="p"))
