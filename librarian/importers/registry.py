"""The formats by name, which of them a source has, and its rows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from librarian.errors import InvalidInput
from librarian.importers import chatgpt, markdown, mcp_memory, mem0, slack
from librarian.importers.entries import Entry
from librarian.importers.rows import Rows
from librarian.importers.source import Source, from_bytes

AUTO = "auto"
MAX_UPLOAD_TOTAL_BYTES = 256 * 2**20
MAX_UPLOAD_MEMBERS = 50_000


@dataclass(frozen=True, slots=True)
class Importer:
    """One format. `recognises` is cheap and says yes only where another format is out of the question."""

    entries: Callable[[Source], Iterator[Entry]]
    recognises: Callable[[Source], bool]


# Exports with files of their own come before notes, which any folder may hold.
FORMATS: Mapping[str, Importer] = {
    "slack": Importer(slack.entries, slack.recognises),
    "chatgpt": Importer(chatgpt.entries, chatgpt.recognises),
    "mcp-memory": Importer(mcp_memory.entries, mcp_memory.recognises),
    "mem0": Importer(mem0.entries, mem0.recognises),
    "markdown": Importer(markdown.entries, markdown.recognises),
}


def detect(source: Source) -> str | None:
    """The format of `source`; None when it is none of ours, or plain rows."""
    return next((name for name, importer in FORMATS.items() if importer.recognises(source)), None)


def rows(format_name: str, source: Source) -> Rows:
    """The rows of `source`. Raises InvalidInput for an unknown format and a source that holds nothing of it."""
    if format_name == AUTO:
        format_name = _detected(source)
    if format_name not in FORMATS:
        raise InvalidInput(f"no importer {format_name!r}", remedy=f"one of {', '.join(sorted(FORMATS))}, {AUTO}")
    return Rows(FORMATS[format_name].entries(source), source.name)


def rows_of(
    format_name: str,
    content: bytes,
    filename: str,
    *,
    max_total_bytes: int = MAX_UPLOAD_TOTAL_BYTES,
    max_members: int = MAX_UPLOAD_MEMBERS,
) -> Rows:
    """The rows of an uploaded file or zip archive, which stays in memory.

    Pass `.lines()` to `Librarian.ingest` and its report to `.complete()`. Raises InvalidInput or PayloadTooLarge for an
    unknown format and an archive that is damaged, encrypted, too large when unpacked or has names that lead out of it.
    Decoded JSON takes up to 20 times its bytes, so `max_total_bytes` bounds the memory of one request.
    """
    limits = {"max_total_bytes": max_total_bytes, "max_members": max_members}
    return rows(format_name, from_bytes(content, filename, **limits))


def _detected(source: Source) -> str:
    found = detect(source)
    if found is None:
        raise InvalidInput(
            f"{source.name} is none of the formats that are recognised: {', '.join(sorted(FORMATS))}",
            remedy="Name the format if it is one of them; rows in Librarian's own form are JSON Lines.",
        )
    return found
