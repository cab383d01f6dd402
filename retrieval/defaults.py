"""What a search does when nothing else is said; contracts and settings read this without loading the search itself."""

from typing import Literal

FusionMethod = Literal["rrf", "score_sum", "score_max", "linear"]

# Measured on LoCoMo turns: recall@10 .857 against .737 for reciprocal ranks (docs/decisions/0009).
DEFAULT_FUSION_METHOD: FusionMethod = "linear"
DEFAULT_MULTI_QUERY_BOOST = 0.1
DEFAULT_MAX_CHARS = 24_000
"""How many characters of hits a language model is given."""
