"""Spaces and vectors."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.encoders.base import MAX_CHARS, Space, item_space, readable, unit_vectors
from retrieval.encoders.errors import InvalidVectors

SPACES = st.builds(Space, st.text(), st.integers(1, 4096), st.text(), st.booleans(), st.text())


@given(SPACES)
def test_an_id_is_a_short_identifier(space):
    assert re.fullmatch(r"[a-z0-9][A-Za-z0-9_]{0,59}", space.id, re.ASCII)


@given(SPACES, SPACES)
def test_ids_are_equal_exactly_for_equal_spaces(one, other):
    assert (one.id == other.id) == (one == other)


def test_an_id_names_the_model():
    assert item_space("bge-small-en-v1.5-q", 384, "abc").id.startswith("bge_small_en_v1_5_q_")


@pytest.mark.parametrize(
    "other",
    [
        Space("another", 384, "form", normalised=True, revision="1"),
        Space("model", 385, "form", normalised=True, revision="1"),
        Space("model", 384, "form-2", normalised=True, revision="1"),
        Space("model", 384, "form", normalised=False, revision="1"),
        Space("model", 384, "form", normalised=True, revision="2"),
    ],
)
def test_any_other_field_is_another_space(other):
    assert other.id != Space("model", 384, "form", normalised=True, revision="1").id


def test_vectors_get_unit_length_and_keep_their_direction():
    vectors = unit_vectors([[3, 4], [0, 2]], rows=2, dimension=2)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_tiny_and_huge_vectors_neither_vanish_nor_overflow(scale):
    assert unit_vectors([[3 * scale, 4 * scale]], rows=1, dimension=2) == pytest.approx(np.array([[0.6, 0.8]]))


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        ([[0.0, 0.0]], "zero"),
        ([[float("nan"), 1.0]], "NaN"),
        ([[float("inf"), 1.0]], "infinite"),
        ([[1.0, 2.0, 3.0]], "shape"),
        ([[1.0, 2.0], [1.0, 2.0]], "shape"),
        ([[1.0], [1.0, 2.0]], "unequal length"),
        ([["a", "b"]], "not numbers"),
        ([[None, 1.0]], "NaN"),
        (None, "shape"),
    ],
)
def test_unusable_vectors_are_refused(raw, fault):
    with pytest.raises(InvalidVectors, match=fault):
        unit_vectors(raw, rows=1, dimension=2)


def test_a_model_sees_valid_unicode_of_bounded_length():
    seen = readable("a\ud800\x00" + "b" * 1_000_000)
    assert seen.startswith("a\ufffd\ufffdb")
    assert len(seen) == MAX_CHARS
