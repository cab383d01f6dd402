"""Wire contracts of embedding spaces: the cost of building one, and switching between them."""

from typing import Annotated

from msgspec import Meta, Struct

from librarian.runtime.contracts import SpaceStatus

SpaceId = Annotated[str, Meta(min_length=1, max_length=60, pattern=r"^[a-z0-9_]+$", description="Id of the space.")]
Force = Annotated[
    bool, Meta(description="Switch even if items lack vectors in it; until they have one, only words find them.")
]


class SpacePlan(Struct, kw_only=True):
    """The cost of filling the encoder's space: `items` of `characters` in total lack a vector in it, `vectors` exist.
    Seconds, further vectors and bytes on disk are estimates from `sampled` items encoded as a trial.
    """

    space: str
    model: str
    dimension: int
    active: bool
    vectors: int
    items: int
    characters: int
    sampled: int
    seconds: float
    new_vectors: int
    bytes: int


class SwitchInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The space to activate."""

    space: SpaceId
    force: Force = False


class SpaceList(Struct, kw_only=True):
    """Every embedding space, oldest first."""

    spaces: list[SpaceStatus]
