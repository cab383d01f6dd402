from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.types import Calibration, Noise
from retrieval.calibration import ENOUGH, HIGH, LOW, VERSION, calibrated, cosine_of, needs_calibration, probe_noise

ENGLISH = Noise(0.385, 0.054, sampled=500)
# Another model's: everything is close to everything else.
NARROW = Noise(0.7, 0.035, sampled=500)

cosines = st.floats(-1, 1)
noises = st.builds(Noise, st.floats(-0.2, 0.9), st.floats(0.001, 0.2), st.just(500))
# Of spaces that tell texts apart: the highest bound is a cosine that there can be.
clear_noises = noises.filter(lambda noise: noise.mean + HIGH * noise.deviation < 0.99)
RECORDED = Calibration(0.4, 0.05, 500, vectors=1_000, version=VERSION, made_at=datetime(2026, 1, 1, tzinfo=UTC))
UNSAMPLED = replace(RECORDED, sampled=0)


@given(noises, cosines, cosines)
def test_a_nearer_text_never_has_the_lower_similarity(noise, one, other):
    """Similarity stays in 0..1 and orders texts as the cosine does, whatever the noise."""
    near, far = max(one, other), min(one, other)
    assert 0 <= calibrated(far, noise) <= calibrated(near, noise) <= 1


@given(clear_noises, st.floats(0.0, HIGH))
def test_one_similarity_means_the_same_everywhere(noise, z):
    """Up to the highest bound only the distance from the noise counts, in deviations; beyond, what is left up to 1."""
    cosine = noise.mean + z * noise.deviation
    assert calibrated(cosine, noise) == pytest.approx(calibrated(ENGLISH.mean + z * ENGLISH.deviation, ENGLISH))


@pytest.mark.parametrize("noise", [ENGLISH, NARROW])
def test_the_bounds_of_the_threshold_stand_where_they_were_measured(noise):
    """Noise itself is 0, the bounds are their deviations above it, only the same text is 1."""
    assert calibrated(noise.mean, noise) == 0
    assert calibrated(noise.mean + LOW * noise.deviation, noise) == pytest.approx(0.35)
    assert calibrated(noise.mean + HIGH * noise.deviation, noise) == pytest.approx(0.75)
    assert calibrated(0.99, noise) < calibrated(1.0, noise) == 1


@given(clear_noises, st.floats(0.0, 1.0))
def test_a_similarity_leads_back_to_its_cosine(noise, similarity):
    assert calibrated(cosine_of(similarity, noise), noise) == pytest.approx(similarity, abs=1e-6)


def test_a_space_too_noisy_to_tell_anything_never_reaches_the_highest_bound():
    """Where five deviations above the mean lie beyond 1 no text is as near as evidence usually is."""
    assert calibrated(1.0, Noise(0.9, 0.05, sampled=500)) < 0.75


def test_probes_are_not_compared_with_their_own_answers():
    """Three queries that equal their passages and are orthogonal to the others make no noise at all."""
    assert probe_noise(np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)) == Noise(0.0, 0.0, sampled=0)


@pytest.mark.parametrize(
    ("recorded", "vectors", "needed"),
    [
        ({"en": RECORDED}, 9_999, False),
        ({"en": RECORDED}, 10_000, True),
        ({"en": UNSAMPLED}, 1_999, False),
        ({"en": UNSAMPLED}, 2_000, True),
        ({"en": replace(UNSAMPLED, vectors=0)}, ENOUGH - 1, False),
        ({"en": replace(UNSAMPLED, vectors=0)}, ENOUGH, True),
        ({"en": replace(RECORDED, version=VERSION - 1)}, 1_000, True),
        ({}, 0, True),
        ({"en": RECORDED, "ja": RECORDED}, 1_000, True),
    ],
)
def test_noise_is_measured_anew_when_it_no_longer_fits(recorded, vectors, needed):
    """A graph ten times as large, one where a sample may have become possible, another method, other languages."""
    assert needs_calibration(recorded, ["en"], vectors) is needed
