"""Findings of checks: `librarian doctor`, and the check of a Professor's search."""

from collections.abc import Awaitable, Callable
from typing import Literal

from msgspec import Struct

from librarian.base.problems import caught, message_of

Status = Literal["ok", "warning", "failed", "skipped"]


class Check(Struct, frozen=True, omit_defaults=True):
    """One finding, with a `remedy` where action is needed."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None


Look = Callable[[], Check | Awaitable[Check]]


async def look(name: str, work: Look) -> Check:
    """Return the finding of one check; an exception becomes a finding too."""
    found: list[Check] = []

    async def run() -> None:
        finding = work()
        found.append(finding if isinstance(finding, Check) else await finding)

    error = await caught(run())
    return Check(name, "failed", message_of(error)) if error else found[0]
