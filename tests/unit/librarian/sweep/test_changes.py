"""The changes of a sweep in the form of reports and plans."""

from dataclasses import fields
from datetime import UTC

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.sweep import Edge, StatedFact
from librarian.base.errors import InvalidInput
from librarian.sweep.changes import Expire, Flag, Merge, Retype, Template, from_wire, to_wire
from librarian.sweep.contracts import SweepChange

text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
times = st.datetimes(timezones=st.just(UTC))
forms = {
    "confidence": st.floats(0, 1),
    "expires_at": times,
    "valid_from": st.none() | times,
    "tags": st.lists(text).map(tuple),
    "warnings": st.lists(text).map(tuple),
}
changes = st.one_of(
    st.builds(kind, **{field.name: forms[field.name] for field in fields(kind) if field.name in forms})
    for kind in (Retype, Flag, Template, Edge, Merge, Expire, StatedFact)
)


@given(changes)
def test_a_change_comes_back_from_a_saved_plan_as_it_was(change):
    """Whatever kind it is: a plan is applied as the dry run found it, all fields of it."""
    saved = msgspec.json.encode(to_wire(change))
    assert from_wire(msgspec.json.decode(saved, type=SweepChange)) == change


@given(st.builds(Edge, confidence=forms["confidence"]))
def test_a_plan_without_the_state_of_an_edge_is_refused(edge):
    """The error names the field and what to apply instead."""
    wire = to_wire(edge)
    wire.edge_state = None
    with pytest.raises(InvalidInput, match="has no edge_state") as refusal:
        from_wire(wire)
    assert refusal.value.field == "$.plan.changes[].edge_state"
