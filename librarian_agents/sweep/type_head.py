"""A trained head: multinomial logistic regression over features of a text and, in its own space, its embedding.

    score of type t = bias[t] + sum over words of (1 + ln count) · idf / norm · weight[t]
                      + sum over signs of value · weight[t] + embedding · vector[t]

where the vector of the words' values has length 1. Plain arithmetic over some thousand weights: well below 1 ms per
text. The files in models/ are made by training/memory_types.py.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from librarian_agents.sweep.features import Features
from librarian_agents.sweep.memory_types import MemoryType

_FILES = ("memory_types_words.json", "memory_types_bge_small.json")


@dataclass(frozen=True, slots=True)
class Embedding:
    """The unit vector of a text, and the id of its space."""

    space: str
    vector: Sequence[float]


@dataclass(frozen=True, slots=True)
class Head:
    """Weights, one number per type in the order of MemoryType; for words preceded by their idf.

    `space` is the only one whose embeddings it accepts.

    `slope` and `offset` convert the log-odds of the likeliest type to those of being right; for texts with headings,
    lists or labels `slope` and `laid_out_offset` do.
    """

    space: str | None
    bias: Sequence[float]
    words: Mapping[str, Sequence[float]]
    signs: Mapping[str, Sequence[float]]
    vector: Sequence[Sequence[float]]
    slope: float
    offset: float
    laid_out_offset: float

    def probabilities(self, seen: Features, embedding: Embedding | None = None) -> dict[MemoryType, float]:
        """Return the probability of each type, before calibration; they add up to 1."""
        scores = list(self.bias)
        for _, value, weights in self._terms(seen):
            scores = [score + value * weight for score, weight in zip(scores, weights, strict=True)]
        if embedding is not None and embedding.space == self.space:
            scores = [score + _dot(row, embedding.vector) for score, row in zip(scores, self.vector, strict=True)]
        top = max(scores)
        parts = [math.exp(score - top) for score in scores]
        return {type_: part / sum(parts) for type_, part in zip(MemoryType, parts, strict=True)}

    def confidence(self, probability: float, *, laid_out: bool) -> float:
        """Return the probability that the likeliest type is right, if the head gives it `probability`."""
        bounded = min(1 - 1e-6, max(1e-6, probability))
        offset = self.laid_out_offset if laid_out else self.offset
        return 1 / (1 + math.exp(-self.slope * math.log(bounded / (1 - bounded)) - offset))

    def telling(self, seen: Features, type_: MemoryType, count: int = 5) -> list[str]:
        """Return the words and signs of the text with the highest weights for `type_`, strongest first."""
        index = list(MemoryType).index(type_)
        shares = {name: value * weights[index] for name, value, weights in self._terms(seen)}
        best = sorted((name for name in shares if shares[name] > 0), key=lambda name: -shares[name])
        return best[:count]

    def _terms(self, seen: Features) -> list[tuple[str, float, Sequence[float]]]:
        """Return name, value and weights of each feature that the head knows."""
        known = [(word, count, self.words[word]) for word, count in seen.words.items() if word in self.words]
        values = [(word, (1 + math.log(count)) * row[0], row[1:]) for word, count, row in known]
        norm = math.sqrt(sum(value * value for _, value, _ in values)) or 1.0
        words = [(word, value / norm, weights) for word, value, weights in values]
        return words + [(name, value, self.signs[name]) for name, value in seen.signs.items() if name in self.signs]


def head_for(space: str | None) -> Head:
    """Return the head trained in `space`; otherwise, and without an embedding, the one for words alone."""
    heads = trained_heads()
    return heads.get(space) or heads[None]


def joint_probabilities(heads: Sequence[Head], seen: Features, embedding: Embedding | None) -> dict[MemoryType, float]:
    """Return the probability of each type as the mean of the heads', before calibration; they add up to 1."""
    each = [head.probabilities(seen, embedding) for head in heads]
    return {type_: sum(found[type_] for found in each) / len(each) for type_ in MemoryType}


@cache
def trained_heads() -> Mapping[str | None, Head]:
    """Return all heads by their training space."""
    heads = [
        parse_head(json.loads(files("librarian_agents.sweep.models").joinpath(name).read_text("utf-8")))
        for name in _FILES
    ]
    return {head.space: head for head in heads}


def parse_head(record: Mapping[str, Any]) -> Head:
    """Return the head in a model file. Raises ValueError if its types are not ours."""
    if record["types"] != list(MemoryType):
        raise ValueError(f"the head knows the types {record['types']}, which are not {list(MemoryType)}")
    return Head(
        space=record["space"],
        bias=record["bias"],
        words=record["words"],
        signs=record["signs"],
        vector=list(zip(*record["vector"], strict=True)) if record["vector"] else (),
        slope=record["calibration"]["slope"],
        offset=record["calibration"]["offset"],
        laid_out_offset=record["calibration"]["laid_out_offset"],
    )


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
