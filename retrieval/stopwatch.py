"""Times the stages of a task."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

TOTAL = "total"


class Stopwatch:
    """Adds up the time of named stages; runs from its creation on."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to the stage `name`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += time.perf_counter() - started

    def read_ms(self) -> Mapping[str, float]:
        """Return the milliseconds of each stage in the order of their first start, and of everything as `total`."""
        seconds = {**self._seconds, TOTAL: time.perf_counter() - self._started}
        return {name: spent * 1000 for name, spent in seconds.items()}
