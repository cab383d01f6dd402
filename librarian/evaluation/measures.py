"""Small measures and readers shared by all evaluations."""

import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from librarian.base.errors import InvalidInput
from retrieval.evaluation.metrics import percentile

T = TypeVar("T")
OnProgress = Callable[[int, int], None]
"""Called with (done, total) of the current step."""


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, skipping blank lines."""
    with path.open(encoding="utf-8") as lines:
        yield from (msgspec.json.decode(line) for line in lines if line.strip())


def labelled_rows(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file of labelled data. Raises InvalidInput if there are none."""
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}", field="--data")
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            rows.append(_decoded(line, f"{file.name}:{number}"))
    if not rows:
        raise InvalidInput(f"{file} is empty", field="--data")
    return rows


def _decoded(line: str, where: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"{where} is not a JSON object: {error}", field="--data") from None


async def timed(work: Awaitable[T]) -> tuple[T, float]:
    """Return the result of `work` and the seconds it took."""
    started = time.perf_counter()
    return await work, time.perf_counter() - started


def latency_ms(seconds: Iterable[float]) -> dict[str, float]:
    """Return p50 and p95 of `seconds`, in milliseconds."""
    samples = list(seconds)
    return {f"p{round(share * 100)}": round(percentile(samples, share) * 1000, 1) for share in (0.5, 0.95)}


def mean(values: Iterable[float]) -> float:
    """Return the mean to four digits; 0 of none."""
    numbers = list(values)
    return round(statistics.fmean(numbers), 4) if numbers else 0.0


def ratio(part: int, whole: int) -> float | None:
    """Return part / whole to four digits; None if `whole` is 0."""
    return round(part / whole, 4) if whole else None
