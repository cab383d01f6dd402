"""Defaults of a search; contracts and settings read them without loading the search itself."""

from typing import Literal

FusionMethod = Literal["rrf", "score_sum", "score_max", "linear"]

# Measured on LoCoMo turns: recall@10 .857 against .737 for reciprocal ranks (docs/decisions/0009).
DEFAULT_FUSION_METHOD: FusionMethod = "linear"
DEFAULT_MULTI_QUERY_BOOST = 0.1
DEFAULT_MAX_CHARS = 24_000
"""Characters of hits given to a language model."""
