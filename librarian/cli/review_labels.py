"""Human decisions as files of labelled texts."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import msgspec

from librarian.contracts.reviews import CausalLabel, MergeLabel, TypeLabel
from librarian.transfer.atomic import whole_file, writable

_FILES = {CausalLabel: "causal.jsonl", TypeLabel: "types.jsonl", MergeLabel: "merges.jsonl"}


async def write_labels(folder: Path, labels: AsyncIterator[CausalLabel | TypeLabel | MergeLabel]) -> dict[Path, int]:
    """Write each sort of label into its file of the folder, in place of an older one; returns how many went where.

    Raises CannotWrite; the older ones stay then.
    """
    paths = {sort: folder / name for sort, name in _FILES.items()}
    written = dict.fromkeys(paths.values(), 0)
    with ExitStack() as files:
        opened: dict[type, BinaryIO] = {sort: files.enter_context(whole_file(path)) for sort, path in paths.items()}
        async for label in labels:
            with writable(paths[type(label)]):
                opened[type(label)].write(msgspec.json.encode(label) + b"\n")
            written[paths[type(label)]] += 1
    return written
