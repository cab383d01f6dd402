"""How likely a causal reading is right: a logistic regression over named features, in plain arithmetic."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

Features: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Head:
    """Weights by feature name; `training/causal.py` makes them and says on what. An unknown feature weighs nothing."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Features) -> float:
        """Return the chance, 0-1, that a reading with these features is right."""
        score = self.bias + sum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return 1 / (1 + math.exp(-score))


@cache
def trained_head() -> Head:
    """Return the head of causal_weights.toml, which weighs what one sentence says of two of its parts."""
    table = tomllib.loads(files("agents.sweep").joinpath("causal_weights.toml").read_text(encoding="utf-8"))
    return Head(table["bias"], table["weights"])
