"""Status reports of the service: readiness, migrations, embedding spaces."""

from typing import Literal

import msgspec
from msgspec import Struct

Phase = Literal["starting", "recovering", "migrating", "ready", "failed", "unreachable", "maintenance", "stopping"]


class Readiness(Struct, kw_only=True):
    """Readiness to serve requests; each check is "ok" or the reason with its remedy."""

    ready: bool
    phase: Phase
    checks: dict[str, str] = msgspec.field(default_factory=dict)


class MigrationOut(Struct, kw_only=True):
    """One migration: `state` is applied, pending, running (a crash left it), edited, missing or newer."""

    version: str
    name: str
    kind: Literal["schema", "data"]
    state: str
    checksum: str
    applied_at: str | None = None


class CalibrationOut(Struct, kw_only=True):
    """Calibration of cosines (-1..1) in one space and language: `mean` and `deviation` for unrelated texts, measured on
    `sampled` stored vectors (0: on the built-in probe texts), and the cosines of similarity .35 and .75.
    """

    language: str
    mean: float
    deviation: float
    sampled: int
    cosine_of_low: float
    cosine_of_high: float
    version: int
    made_at: str


class SpaceStatus(Struct, kw_only=True):
    """One embedding space: the number of its vectors, and of items that still lack one (active space only).

    `languages`: those its encoder reads, null until they were determined. Items in others get no vector:
    `unread_items` counts them by language. `refused_items`: those that are blank or whose text the encoder refused.
    """

    space: str
    model: str
    dimension: int
    active: bool
    index_state: str
    vectors: int
    pending_items: int
    unread_items: dict[str, int] = msgspec.field(default_factory=dict)
    refused_items: int = 0
    languages: list[str] | None = None
    calibrations: list[CalibrationOut] = msgspec.field(default_factory=list)


class Health(Struct, kw_only=True):
    """The process answers."""

    status: Literal["ok"] = "ok"
