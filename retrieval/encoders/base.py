"""The interface of encoders: texts in, unit vectors of one embedding space out."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.errors import InvalidVectors
from retrieval.passages import TEXT_FORM, clean

Vectors = NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length."""

MAX_CHARS = 8_192
"""Characters of a text passed to a model: 16 per token of a 512-token model, so that nothing it could read is lost and
a query of a million characters costs no more than a long passage.
"""

_SLUG_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space: vectors are comparable only if all of these are equal.

    `dimension` is the length of a vector, `text_form` names the form in which an item's text is encoded, `revision` is
    a short hash of the model's parts, so that another model of the same name or dimension is another space. The form of
    queries is not part of it, since it changes no stored vector.
    """

    model: str
    dimension: int
    text_form: str
    normalised: bool
    revision: str

    @property
    def id(self) -> str:
        """The space as an identifier: ASCII letters, digits and underscores, at most 60, the same for equal spaces."""
        slug = re.sub(r"[^a-z0-9]+", "_", self.model.lower())[:_SLUG_LENGTH].strip("_") or "model"
        return f"{slug}_{short_hash(json.dumps(astuple(self)))}"


class Encoder(Protocol):
    """Turns texts into vectors. All methods raise EncoderError; results are float32 rows of unit length."""

    @property
    def space(self) -> Space:
        """The embedding space of everything this encoder returns."""

    async def encode_query(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of queries, in the order of `texts`; ahead of waiting passages."""

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of passages, in the order of `texts`."""

    def waiting(self) -> dict[str, int]:
        """Return the number of waiting calls by priority; always the same priorities, none without a queue."""

    async def aclose(self) -> None:
        """Release threads and connections; the encoder cannot be used afterwards."""


def item_space(model: str, dimension: int, revision: str) -> Space:
    """Return the space of items in Librarian's text form, unit length."""
    return Space(model, dimension, TEXT_FORM, normalised=True, revision=revision)


def readable(text: str) -> str:
    """Return the part of a text that a model reads: valid Unicode, at most MAX_CHARS characters."""
    return clean(text[:MAX_CHARS])


def short_hash(text: str) -> str:
    """Return twelve hexadecimal digits: enough to distinguish the few spaces of one graph."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def unit_vectors(raw: object, *, rows: int, dimension: int) -> Vectors:
    """Return the model's output as float32 rows of unit length.

    Raises InvalidVectors for another shape, NaN, infinity or a zero vector: such a vector would be stored without an
    error and never be found.
    """
    try:
        vectors = np.asarray(raw, dtype=np.float32)
    except (TypeError, ValueError):
        raise InvalidVectors("the model returned vectors of unequal length or values that are not numbers") from None
    if vectors.shape != (rows, dimension):
        raise InvalidVectors(f"the model returned shape {vectors.shape} where ({rows}, {dimension}) was expected")
    if not np.isfinite(vectors).all():
        raise InvalidVectors("the model returned NaN or infinite values")
    # In float64, since the squares of float32 values can overflow or vanish.
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if not lengths.all():
        raise InvalidVectors("the model returned a zero vector")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit
