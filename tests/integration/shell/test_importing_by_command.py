"""`librarian ingest` on exports of other programs."""

import json
from pathlib import Path

EXPORTS = Path(__file__).parents[2] / "data" / "imports"


async def test_a_folder_is_recognised_imported_and_its_faults_named(cli, namespace):
    """The format is said, the exit code is 1 for the records that cannot be taken, and the rest is stored."""
    code, out, err = await cli("ingest", EXPORTS / "slack", "-n", namespace, "--no-embed", "--json")
    report = json.loads(out)
    assert (code, report["added"], report["failed"]) == (1, 6, 2)
    assert "as slack" in err
    assert report["errors"][0]["message"].startswith("general/2024-03-01.json message 7")
    assert any("joining" in note for note in report["notes"])
    code, out, _ = await cli("ingest", EXPORTS / "slack", "-n", namespace, "--from", "slack", "--no-embed")
    assert code == 1
    assert "general/2024-03-01.json" in out


async def test_rows_are_read_as_rows_whatever_they_are_called(cli, namespace, tmp_path):
    """A file that no importer recognises goes the plain way; an export cannot be resumed, and says why."""
    file = tmp_path / "rows.json"
    file.write_text('{"kind":"message","text":"plain","uid":"p1"}\n', encoding="utf-8")
    code, out, _ = await cli("ingest", file, "-n", namespace, "--no-embed", "--json")
    assert (code, json.loads(out)["added"]) == (0, 1)
    code, _, err = await cli("ingest", EXPORTS / "notes", "-n", namespace, "--resume")
    assert code == 65
    assert "--resume" in err
