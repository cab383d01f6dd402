"""The end of a log file."""

from collections import deque
from pathlib import Path


def tail(path: Path, lines: int) -> str:
    """Return the last `lines` lines of a text file; nothing if it does not exist."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return "".join(deque(file, maxlen=lines)).rstrip()
    except FileNotFoundError:
        return ""
