from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.item import NewItem
from graph.types import FOREVER, EdgeType
from librarian.base.errors import InvalidInput
from librarian.items.contracts import EdgeIn, FactIn, MemoryIn, MessageIn
from librarian.items.rows import RowBuilder, new_edge


def built(*rows: Any, namespace: str = "n") -> list[NewItem]:
    builder = RowBuilder()
    return [builder.item(namespace, row) for row in rows]


def test_two_equal_anonymous_messages_stay_two_and_keep_their_uids_next_time():
    rows = [MessageIn(text="ok", author="Bo"), MessageIn(text="ok", author="Bo")]
    first, second = built(*rows)
    assert first.item.uid != second.item.uid
    assert [new.item.uid for new in built(*rows)] == [first.item.uid, second.item.uid]


def test_a_uid_depends_on_namespace_and_identity():
    message = MessageIn(text="hi", message_id="m1", conversation_id="c")
    assert (
        built(message)[0].item.uid == built(MessageIn(text="edited", message_id="m1", conversation_id="c"))[0].item.uid
    )
    assert built(message)[0].item.uid != built(message, namespace="other")[0].item.uid
    assert built(message)[0].item.uid != built(MessageIn(text="hi", message_id="m1", conversation_id="d"))[0].item.uid


@given(st.text(min_size=1).filter(lambda text: text.strip("\0").strip()), st.text(min_size=1))
def test_a_changed_text_changes_the_source_hash(text: str, other: str):
    entry, same, changed = built(MemoryIn(text=text), MemoryIn(text=text), MemoryIn(text=text + other, uid="x"))
    assert entry.item.source_hash == same.item.source_hash != changed.item.source_hash


def test_times_become_utc():
    tokyo = datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    for sent_at in (tokyo, datetime(2026, 3, 1)):
        new = built(MessageIn(text="x", sent_at=sent_at))[0]
        assert new.item.occurred_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert built(FactIn(text="x"))[0].item.valid_to == FOREVER


def test_a_fact_says_itself_in_words():
    fact = built(FactIn(subject="Mia", predicate="leads", object="platform"))[0].item
    assert (fact.text, fact.fact_object) == ("Mia leads platform", "platform")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (FactIn(subject="Mia", predicate="leads"), "$.text"),
        (FactIn(text="x", valid_from=datetime(2026, 2, 1), valid_to=datetime(2026, 2, 1)), "$.valid_to"),
        (MessageIn(text="x", author="Mia", author_name="Ken"), "$.author"),
        (MemoryIn(text=" \u0000\n"), "$.text"),
    ],
    ids=["no object", "empty validity", "two authors", "blank"],
)
def test_contradictions_name_their_field(row: Any, field: str):
    with pytest.raises(InvalidInput) as caught:
        built(row)
    assert caught.value.field == field


def test_relates_to_runs_from_the_lower_to_the_higher_uid_with_its_quotes():
    row = EdgeIn(source="z", target="a", type="RELATES_TO", source_quote="from z", target_quote="from a")
    edge = new_edge("n", row, line=7)
    assert (edge.source, edge.target, edge.type, edge.line) == ("a", "z", EdgeType.RELATES_TO, 7)
    assert (edge.source_quote, edge.target_quote) == ("from a", "from z")
    mirrored = msgspec.structs.replace(row, source="a", target="z", source_quote="from a", target_quote="from z")
    assert new_edge("n", mirrored, line=7) == edge


def test_cjk_texts_are_marked_for_their_index():
    assert [new.cjk for new in built(MemoryIn(text="決定: 予約する"), MemoryIn(text="decision"))] == [True, False]
