"""Property values survive JSON exactly."""

import math
from datetime import UTC, timedelta, timezone

import msgspec
import pytest
import pytz
from hypothesis import given
from hypothesis import strategies as st
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from graph.portable import from_json, properties_from_json, to_json, vector_from_json, vector_to_json

texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts | st.binary()
moments = st.builds(
    lambda moment, ns, offset: DateTime(
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, ns, tzinfo=offset
    ),
    st.datetimes(),
    st.integers(0, 999_999_999),
    st.just(UTC) | st.integers(-1080, 1080).map(lambda minutes: timezone(timedelta(minutes=minutes))) | st.none(),
)


def through_json(value):
    return from_json(msgspec.json.decode(msgspec.json.encode(to_json(value))))


@given(plain | st.lists(plain, max_size=4))
def test_values_come_back_as_they_were(value):
    """Whole numbers stay whole, decimals decimals, and bytes are no text."""
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)


@given(moments)
def test_times_keep_nanoseconds_and_offset(moment):
    """The driver is sent what it had sent, to the nanosecond, offset included."""
    back = through_json(moment)
    assert back == moment
    assert (back.nanosecond, back.utcoffset()) == (moment.nanosecond, moment.utcoffset())


@pytest.mark.parametrize("summer", [True, False])
def test_the_hour_that_a_zone_repeats_is_told_apart(summer):
    """A time of a named zone keeps the name and the instant."""
    moment = pytz.timezone("Europe/Berlin").localize(DateTime(2026, 10, 25, 2, 30, 0, 7), is_dst=summer)
    back = through_json(moment)
    assert (back, back.utcoffset(), back.tzinfo.zone) == (moment, moment.utcoffset(), "Europe/Berlin")


@pytest.mark.parametrize(
    "value",
    [
        Date(2026, 1, 2),
        Time(1, 2, 3, 4),
        Time(1, 2, 3, 4, tzinfo=timezone(timedelta(hours=2))),
        Duration(months=1, days=-2, seconds=3, nanoseconds=4),
        WGS84Point((1.5, 2.0)),
        CartesianPoint((1.0, 2.0, 3.0)),
        math.inf,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_else_a_property_holds(value):
    """Dates, durations and points, which analysts may have stored."""
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)
    assert to_json(back) == to_json(value)


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=8))
def test_vectors_keep_every_bit(vector):
    """The graph holds 32-bit floats, and so does the file."""
    assert vector_from_json(vector_to_json(Vector.from_native(vector, "f32"))).to_native() == vector


@pytest.mark.parametrize(
    "value",
    [
        {"$datetime": "yesterday"},
        {"$datetime": 5},
        {"$datetime": "2026-01-01T00:00:00+01:00[Nowhere/Land]"},
        {"$unknown": 1},
        {"a": 1, "b": 2},
        {"$point": [1, 2]},
        {"$duration": "P1D"},
        2**63,
    ],
    ids=str,
)
def test_json_that_stands_for_no_value_is_refused(value):
    """With the property's name, and nothing but ValueError."""
    with pytest.raises(ValueError, match="property 'p'"):
        properties_from_json({"p": value})
