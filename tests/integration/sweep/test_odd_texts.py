"""Texts that nobody would want to sweep."""

import re

import pytest

NOISE = "".join(chr(byte) for byte in range(1, 32) if chr(byte) not in "\t\n\r") * 40
TABLE = """Decision: the port map below is final, because two teams asked for it.

| service | port |
|---|---|
| billing | 5433 |

```sql
-- Problem: not a marker, this is code
SELECT 1;
```
"""
OTHERS_SECTIONS = (
    "# Background\nThe cache was cold.\n\n# Verdict\nWe decided to warm it at 06:00, because deploys empty it.\n"
)
WRITTEN = "## CONTEXT\nThe cache was cold.\n\n## REASONING\n\n## OUTCOME\nWe warm it.\n\n## TAGS\ntype:decision\n"


@pytest.fixture
async def odd(ingest, executor, namespace):
    """One memory of each kind of oddity, all but the last without a type."""
    texts = {
        "huge": "Problem: the export failed. " + "It wrote line 17 of file a/b.txt and not one more. " * 19_000,
        "noise": NOISE,
        "blank": "gone",
        "table": TABLE,
        "headings": OTHERS_SECTIONS,
        "written": WRITTEN,
        "japanese": "決定: 請求サービスにはPostgresを採用する。MySQLが書き込みを失ったため。",
        "marks": "?!?!",
    }
    report = await ingest(*({"kind": "memory", "uid": uid, "text": text} for uid, text in texts.items()), embed=False)
    assert report.failed == 0
    blanked = "MATCH (m:Memory {namespace: $namespace, uid: 'blank'}) SET m.text = ''"  # as an analyst might do
    await executor.run_migration(blanked, {"namespace": namespace})
    return {**texts, "blank": ""}


async def test_odd_texts_are_swept_without_loss(odd, sweep, memory, stored, librarian, namespace):
    """Of long, noisy, blank, tabular, Japanese or written ones each clause is still there, code and tables whole."""
    before = await stored()
    report = await sweep()
    assert report.summary.memories_scanned == len(odd)
    for uid, text in odd.items():
        after = (await memory(uid))["text"]
        assert all(said.strip("# ") in after for said in re.split(r"\n|(?<=。)|(?<=,) (?=because)", text)), uid
    assert "```sql\n-- Problem: not a marker, this is code\nSELECT 1;\n```" in (await memory("table"))["text"]
    assert "| service | port |\n|---|---|\n| billing | 5433 |" in (await memory("table"))["text"]
    await librarian.undo_sweep(namespace, report.sweep_id)
    assert await stored() == before


async def test_what_says_nothing_is_left_alone(odd, sweep, memory):
    """Noise and bare marks get neither a type nor sections; what is written in the sections keeps its text."""
    await sweep()
    for uid in {"noise", "blank", "marks"} & odd.keys():
        assert (await memory(uid))["type"] is None
        assert (await memory(uid))["text"] == odd[uid]
    assert (await memory("written"))["text"] == WRITTEN
    assert (await memory("japanese"))["type"] == "Decision"


async def test_a_marker_in_code_is_no_marker(sweep, ingest, memory):
    """Code is quoted, not said."""
    await ingest({"kind": "memory", "uid": "code", "text": "```\nDecision: x\n```"}, embed=False)
    await sweep()
    assert (await memory("code"))["type"] != "Decision"
