"""Why a search does not show an item: what is asked and what is answered."""

from typing import Literal

from msgspec import Struct

from librarian.contracts.fields import Namespace, Uid
from librarian.contracts.search import SearchInput

Verdict = Literal[
    "found",
    "filtered",
    "superseded",
    "below_threshold",
    "duplicate",
    "cut_by_limit",
    "not_embedded",
    "outside_pool",
]


class WhyNotInput(SearchInput, forbid_unknown_fields=True, kw_only=True):
    """The search as it was made, and the item that it was to find."""

    uid: Uid


class ArmStandingOut(Struct, kw_only=True):
    """Where one arm has the item for one query (counted from 0): `rank` from 1 among everything that passes the
    filters, or null and the `reason`. `score` is the cosine (-1..1) in the vector arm, null in the keyword arm.
    """

    query: int
    arm: Literal["vector", "keyword"]
    rank: int | None
    score: float | None = None
    reason: str | None = None


class WhyNotOutput(Struct, kw_only=True):
    """What became of the item, and why.

    `rank` is its place among the hits when it is found, else among all candidates before the cut, null when it is none.
    `filters` names those it does not pass, `superseded_by` the facts that replace it, `duplicate_of` the hit that says
    the same; `threshold` is what its similarity would have had to reach.
    """

    namespace: Namespace
    uid: Uid
    verdict: Verdict
    explanation: str
    rank: int | None = None
    filters: list[str] = []
    superseded_by: list[Uid] = []
    duplicate_of: Uid | None = None
    similarity_score: float | None = None
    threshold: float | None = None
    arms: list[ArmStandingOut] = []
