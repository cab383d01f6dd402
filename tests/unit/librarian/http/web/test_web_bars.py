"""Bars of explanations."""

from hypothesis import given
from hypothesis import strategies as st

from librarian.http.web.bars import ArmRank, arm_ranks, bars, longest_share
from librarian.search.contracts import ArmExplanation, Explanation, SignalExplanation

SHARES = st.floats(-1, 1, allow_nan=False).map(lambda share: round(share, 6))
ARMS = st.builds(
    ArmExplanation,
    query=st.integers(0, 2),
    arm=st.sampled_from(["vector", "keyword"]),
    rank=st.integers(1, 60),
    score=st.none(),
    share=SHARES,
)
SIGNALS = st.builds(
    SignalExplanation,
    query=st.integers(0, 2),
    signal=st.sampled_from(["vector", "author", "date"]),
    value=SHARES,
    share=SHARES,
)
EXPLAINED = st.builds(
    Explanation,
    arms=st.lists(ARMS, max_size=4),
    signals=st.lists(SIGNALS, max_size=4),
    fused_score=SHARES,
    merged_duplicates=st.just([]),
)


@given(st.lists(EXPLAINED, min_size=1, max_size=5))
def test_one_scale_for_all_hits(explained):
    """The longest bar of all hits fills the width, none is longer, and each that is drawn can be seen."""
    longest = longest_share(explained)
    widths = [bar.width for why in explained for bar in bars(why, longest)]
    assert all(1 <= width <= 100 for width in widths)
    assert not widths or max(widths) == 100


@given(EXPLAINED)
def test_bars_add_up_to_the_shares(why):
    """Every arm and signal counts once, over all queries."""
    total = sum(entry.share for entry in (*why.arms, *why.signals))
    assert abs(sum(bar.share for bar in bars(why, longest_share([why]))) - total) < 1e-9


def test_the_best_rank_of_an_arm_is_shown():
    """Of several queries, the one that had the hit highest."""
    arms = [
        ArmExplanation(query=query, arm=arm, rank=rank, score=None, share=0.0)
        for query, arm, rank in ((0, "vector", 7), (1, "vector", 2), (0, "keyword", 9))
    ]
    why = Explanation(arms=arms, signals=[], fused_score=0.0, merged_duplicates=[])
    assert arm_ranks(why) == [ArmRank("vector", 2), ArmRank("keyword", 9)]
    assert bars(why, longest_share([why])) == []
