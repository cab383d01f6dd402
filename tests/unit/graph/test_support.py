"""Which items are unsupported: worlds of citations against the definition, worked out the slow way."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from graph.support import Resting, Source, judged
from graph.types import Loss, LossReason

DAY_0 = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = 99


def loss(day: int, *way: str) -> Loss:
    return Loss(DAY_0 + timedelta(days=day), LossReason.ENDED, way)


def world(cites: dict[str, list[str]], ends: dict[str, int]) -> dict[str, Resting]:
    """Items that cite others; `ends` says on which day some of them cease to stand."""
    return {
        uid: Resting(uid, sources=[Source(to, loss(ends[to]) if to in ends else None) for to in others])
        for uid, others in cites.items()
    }


def days(found: dict[str, Loss | None]) -> dict[str, int]:
    return {uid: (lost.since - DAY_0).days for uid, lost in found.items() if lost is not None}


def test_chains_diamonds_and_several_supports():
    """The last source that stands decides, and the way leads to what ceased."""
    cites = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["d", "x"], "x": [], "f": ["e"]}
    found = judged(world(cites, {"a": 3}))
    assert days(found) == {"b": 3, "c": 3, "d": 3}
    assert found["d"].way == ("b", "a")
    both = judged(world(cites, {"a": 3, "x": 5}))
    assert (days(both)["e"], both["f"].way) == (5, ("e", "x"))
    assert days(judged(world(cites, {"b": 1}))) == {}


def test_what_cites_only_each_other_was_never_supported():
    """No mark without something that ceased; and none of a circle holds itself up."""
    circle = {"a": ["b"], "b": ["a"]}
    assert days(judged(world(circle, {}))) == {}
    assert days(judged(world({**circle, "b": ["a", "c"], "c": []}, {"c": 2}))) == {"a": 2, "b": 2}


def test_what_was_forgotten_and_what_stands_in_files():
    """A source that is gone counts as one that ceased; lines of files that stand support all the same."""
    gone = Loss(DAY_0, LossReason.FORGOTTEN, ("m",))
    items = {
        "a": Resting("a", forgotten=gone),
        "b": Resting("b", forgotten=gone, stands=True),
        "c": Resting("c", sources=[Source("a")]),
        "d": Resting("d", sources=[Source("outside", None, loss(4, "further"))]),
    }
    found = judged(items)
    assert {uid: lost.way for uid, lost in found.items() if lost} == {
        "a": ("m",),
        "c": ("a", "m"),
        "d": ("outside", "further"),
    }


NAMES = [f"i{number}" for number in range(9)]


@given(
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=4, unique=True)),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 6), max_size=5),
)
def test_any_world_is_judged_as_defined(cites, ends):
    """Support lasts as long as some source stands and is supported, in whatever shape the citations have."""
    cites = {uid: [to for to in cites.get(uid, []) if to != uid] for uid in NAMES}
    lasts = {uid: -1 if cites[uid] else NEVER for uid in NAMES}
    for _ in NAMES:
        for uid, others in cites.items():
            if others:
                lasts[uid] = max(min(ends.get(to, NEVER), lasts[to]) for to in others)
    expected = {uid: day for uid, day in lasts.items() if 0 <= day < NEVER}
    found = judged(world(cites, ends))
    assert days(found) == expected
    for uid in expected:
        assert found[uid].way[0] in cites[uid]
        assert found[uid].way[-1] in ends
