"""Whatever stands in an export, importing it ends, reports, and yields rows that can be stored."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from librarian.base import strictjson
from librarian.items.contracts import IngestReport, MemoryIn, MessageIn, RowIn
from librarian.items.importers.fields import epoch_time, iso_time
from librarian.items.importers.registry import FORMATS, rows_of
from librarian.items.rows import RowBuilder

TEXTS = st.text(st.characters(codec=None), max_size=20) | st.sampled_from(
    ["\ud83d", "\0", " ", "../x", "9" * 30, "NaN", "1e999", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]
)
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**30), 1e308, 253402300800, -62135596801])
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="session")
def documents(exports):
    """A document of each JSON format and how it is wrapped for the importer."""

    def entry(name):
        return json.loads((exports / name).read_text(encoding="utf-8"))

    lines = (exports / "memory.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        "mem0": entry("mem0.json"),
        "chatgpt": entry("conversations.json"),
        "mcp-memory": [json.loads(line) for line in lines if line.startswith("{")],
        "slack": {
            name: entry(f"slack/{name}")
            for name in ("users.json", "channels.json", "dms.json", "general/2024-03-01.json")
        },
    }


@pytest.mark.parametrize("format_name", ["mem0", "chatgpt", "mcp-memory", "slack"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_value_anywhere(documents, zipped, format_name, data):
    document = {"document": copy.deepcopy(documents[format_name])}
    for _ in range(data.draw(st.integers(1, 4))):
        _spoil(document, data)
    content = _written(format_name, document.get("document"), zipped)
    _import(format_name, content)


@settings(deadline=None)
@given(front=st.text(), body=TEXTS)
def test_any_front_matter(front, body):
    content = f"---\n{front}\n---\n{body}".encode(errors="surrogatepass")
    assert _import("markdown", content, "note.md") == 1


@pytest.mark.parametrize("format_name", sorted({*FORMATS} - {"slack"}))  # which is never one file
@given(content=st.binary(max_size=200))
def test_any_bytes(format_name, content):
    _import(format_name, content)


@pytest.mark.parametrize("format_name", ["mem0", "chatgpt", "mcp-memory"])
def test_bottomless_nesting_is_reported(format_name):
    rows = rows_of(format_name, b"[" * 200_000, "x.json")
    assert list(rows) == []
    report = IngestReport()
    rows.complete(report)
    assert "nested too deeply" in report.errors[-1].message


@given(JUNK)
def test_times_are_times_or_nothing(value):
    for moment in (iso_time(value), epoch_time(value)):
        assert moment is None or moment.utcoffset().total_seconds() == 0


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2024-07-26T10:29:36.630547-07:00", "2024-07-26T17:29:36.630547+00:00"),
        ("2024-07-26", "2024-07-26T00:00:00+00:00"),
        (1722502800, "2024-08-01T09:00:00+00:00"),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("99999-01-01", None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (True, None),
        ([], None),
    ],
)
def test_times_at_the_edge(value, read):
    moment = iso_time(value)
    assert (moment and moment.isoformat()) == read


def _import(format_name, content, name="export.json"):
    """Import; how many records were read."""
    rows, builder = rows_of(format_name, content, name), RowBuilder()
    for _, line in rows:
        row = strictjson.decode(line, RowIn)
        assert isinstance(row, MemoryIn | MessageIn) or row.text
        if row.text.strip("\0 \ufffd"):
            builder.item("n", row)
    report = IngestReport()
    rows.complete(report)
    for error in report.errors:
        error.message.encode()
    return rows.read


def _spoil(document, data):
    """Put anything in the place of a value somewhere below `document`, or take it away."""
    place, key = document, "document"
    while isinstance(place.get(key) if isinstance(place, dict) else place[key], dict | list) and data.draw(
        st.integers(0, 5)
    ):
        inner = place[key]
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        if not keys:
            break
        place, key = inner, data.draw(st.sampled_from(keys))
    if data.draw(st.booleans()) and place is not document:
        del place[key]
    else:
        place[key] = data.draw(JUNK)


def _written(format_name, document, zipped):
    if format_name == "slack":
        listed = document if isinstance(document, dict) else {}
        files = {name: json.dumps(content) for name, content in listed.items() if isinstance(name, str)}
        return zipped(
            {"groups.json": "[]", "a/2024-03-02.json": "[1]", **{n: c for n, c in files.items() if n.endswith(".json")}}
        )
    if format_name == "mcp-memory" and isinstance(document, list):
        return "\n".join(map(json.dumps, document)).encode()
    return json.dumps(document).encode()
