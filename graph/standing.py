"""What decides, besides filters, whether a search can find an item."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.executor import Executor


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts that supersede an item (uids), and whether it waits for a vector of the active space or was refused one."""

    superseded_by: Sequence[str]
    pending: bool
    refused: bool


async def standing_of(executor: Executor, namespace: str, uid: str) -> Standing | None:
    """The standing of the item `uid` of `namespace`; None where there is no such item."""
    row = await executor.fetch_one("item_standing", {"namespace": namespace, "uid": uid})
    return None if row is None else Standing(row["superseded_by"], row["pending"], row["refused"])
