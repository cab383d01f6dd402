import numpy as np
import pytest

from retrieval.evaluation.tuning import Judged, leave_one_out


def judged(group: str, seed: int) -> Judged:
    """Ten candidates: the second signal finds the relevant one, the first is noise."""
    noise = np.random.default_rng(seed).random(10)
    signal = np.zeros(10)
    signal[3] = 1.0
    return Judged(group, frozenset({"c3"}), [f"c{i}" for i in range(10)], np.stack([noise, signal], axis=1))


def test_what_helps_in_the_others_helps_in_the_one_left_out():
    questions = [judged(f"g{group}", 10 * group + number) for group in range(3) for number in range(10)]
    folds = leave_one_out(questions, {"noise": 0.7, "signal": 0.1})
    assert [fold.left_out for fold in folds] == ["g0", "g1", "g2"]
    for fold in folds:
        assert fold.tuned["ndcg@10"] > fold.as_is["ndcg@10"]
        assert fold.weights["signal"] > 0.1
        assert fold.questions == 10


def test_one_conversation_cannot_be_left_out():
    with pytest.raises(ValueError, match="two"):
        leave_one_out([judged("only", 1)], {"noise": 1.0, "signal": 1.0})
