"""Exports of other programs on the real graph: found by search, and importing them again changes nothing."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from librarian.app import Librarian
from librarian.items.contracts import IngestReport
from librarian.items.importers.registry import rows, rows_of
from librarian.items.importers.source import opened
from librarian.search.contracts import SearchInput

EXPORTS = Path(__file__).parents[2] / "data" / "imports"


async def stored(librarian: Librarian, namespace: str, found: Any) -> IngestReport:
    report = await librarian.ingest(found.lines(), namespace=namespace)
    found.complete(report)
    return report


@pytest.mark.parametrize(
    ("name", "added", "failed", "query", "text"),
    [
        ("mem0.json", 6, 2, "which file format for the nightly export?", "Prefers the nightly export as Parquet"),
        ("mem0.json", 6, 2, "where does keiko live", "keiko lives in kyoto"),
        ("memory.jsonl", 4, 2, "夜間バッチの担当", "京都のオフィスで夜間バッチを担当している"),
        ("notes", 3, 2, "why do we stream the export", "We stream the export row by row"),
        ("notes", 3, 2, "再実行手順", "# 夜間バッチの再実行手順"),
        ("conversations.json", 6, 1, "temples that open early", "Kiyomizu-dera opens at six."),
        ("slack", 6, 2, "why did the incident happen", "Root cause: the connection pool was exhausted"),
    ],
)
async def test_an_export_is_found_and_importing_it_again_changes_nothing(
    librarian: Librarian, namespace: str, name: str, added: int, failed: int, query: str, text: str
):
    """Readable records are stored and found first; the second run reports every row as unchanged."""
    with opened(EXPORTS / name) as source:
        first = await stored(librarian, namespace, rows("auto", source))
        second = await stored(librarian, namespace, rows("auto", source))
    assert (first.added, first.failed) == (added, failed)
    assert (second.unchanged, second.added, second.updated, second.failed) == (added, 0, 0, failed)
    await librarian.embed_pending()
    hits = (await librarian.search(namespace, SearchInput(queries=[query]))).results
    assert hits[0].content.startswith(text)


async def test_an_uploaded_archive_is_the_same_import(librarian: Librarian, namespace: str):
    """A zip in memory and the folder make the same items."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for path in sorted((EXPORTS / "slack").rglob("*.json")):
            archive.writestr(f"export/{path.relative_to(EXPORTS / 'slack').as_posix()}", path.read_bytes())
    first = await stored(librarian, namespace, rows_of("slack", written.getvalue(), "export.zip"))
    with opened(EXPORTS / "slack") as source:
        second = await stored(librarian, namespace, rows("slack", source))
    assert (first.added, second.unchanged, second.added, second.updated) == (6, 6, 0, 0)


async def test_a_later_export_adds_and_updates_only_what_is_new(librarian: Librarian, namespace: str, tmp_path: Path):
    """An edited memory is updated in place by its mem0 id, a new one is added, the rest stays."""
    export = json.loads((EXPORTS / "mem0.json").read_text(encoding="utf-8"))
    await stored(librarian, namespace, rows_of("mem0", json.dumps(export).encode(), "a.json"))
    export["results"][0]["memory"] = "Prefers the nightly export as Arrow"
    export["results"].append({"id": "new", "memory": "Moved to Lisbon"})
    report = await stored(librarian, namespace, rows_of("mem0", json.dumps(export).encode(), "b.json"))
    assert (report.added, report.updated, report.unchanged) == (1, 1, 5)
    item = await librarian.get_item(namespace, "mem0-892db2ae-06d9-49e5-8b3e-585ef9b85b8e")
    assert item.text == "Prefers the nightly export as Arrow"
