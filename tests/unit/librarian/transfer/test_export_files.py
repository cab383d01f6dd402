"""Files that hold namespaces: half of one, a changed one and a foreign one are noticed."""

import gzip
import hashlib
import io
import os
import time
import tracemalloc
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian.base.errors import CannotWrite, InvalidExport
from librarian.transfer.atomic import remove_stale_parts, whole_file
from librarian.transfer.contracts import FORMAT, VERSION, HeaderRow, Holding, NamespaceRow, SpaceRow
from librarian.transfer.reading import examine, latest_schema, portions
from librarian.transfer.writing import ExportWriter

SPACE = SpaceRow(space="s", model="m", dimension=1, text_form="t", normalised=True, revision="r")
VECTOR = {"space": "s", "role": "passage", "ordinal": 0, "vector": "AACAPw=="}


def item(uid="a", **more):
    return {"uid": uid, "kind": "memory", "properties": {"text": "京都 1.0", "importance": 3}, **more}


def written(*rows, compress=False, **changes):
    """A file with one namespace that holds these (section, row)."""
    file = io.BytesIO()
    writer = ExportWriter(file, compress=compress)
    facts = {"format": FORMAT, "version": VERSION, "librarian": "0.1.0", "schema": latest_schema(), "vectors": True}
    namespaces = [Holding(namespace="n", items={"memory": 1})]
    writer.head(HeaderRow(**{**facts, "spaces": [SPACE], "namespaces": namespaces, **changes}))
    writer.head(NamespaceRow(namespace="n"))
    for section, row in rows:
        writer.rows(section, [row])
    writer.finish()
    return file.getvalue()


def sealed(*lines):
    """Lines with the footer that belongs to them, as somebody with a text editor would make it."""
    content = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    counts = {}
    for line in lines[2:]:
        counts[line["row"]] = counts.get(line["row"], 0) + 1
    footer = {"row": "end", "rows": counts, "sha256": hashlib.sha256(content).hexdigest()}
    return content + msgspec.json.encode(footer) + b"\n"


WHOLE = written(
    ("item", item(vectors=[VECTOR], revisions=[{"revision_id": "r1", "text": "before"}])),
    ("item", item("b")),
    ("edge", {"source": "a", "type": "CAUSES", "target": "b", "properties": {"edge_id": "e"}}),
)
HEAD = [msgspec.json.decode(line) for line in WHOLE.splitlines()[:2]]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(content, match=None):
    with pytest.raises(InvalidExport, match=match):
        examine(io.BytesIO(content))


def test_a_whole_file_says_what_it_holds():
    """Namespaces with their rows; the rows come back as they were written."""
    facts = examine(io.BytesIO(WHOLE))
    assert facts.rows == {"n": 3}
    found = list(portions(io.BytesIO(WHOLE)))
    assert [(entry.namespace, entry.section, len(entry.rows), entry.done) for entry in found] == [
        ("n", "item", 2, 2),
        ("n", "edge", 1, 3),
    ]
    assert found[0].rows[0]["vectors"] == [VECTOR]
    assert found[0].rows[1]["properties"] == item()["properties"]


def test_the_same_rows_make_the_same_bytes():
    """Zipped too: no time and no name stand in the file."""
    assert written(("item", item())) == written(("item", item()))
    zipped = written(("item", item()), compress=True)
    assert gzip.decompress(zipped) == written(("item", item()))
    assert zipped[3:8] == bytes(5)  # neither flags for a name nor a time


@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_cut_anywhere_is_refused(length):
    """Between lines as well as in the middle of one."""
    refused(WHOLE[:length])


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_file_changed_anywhere_is_refused(place, change):
    """Each single byte counts."""
    changed = bytearray(WHOLE)
    changed[place] ^= change
    refused(bytes(changed))


@pytest.mark.parametrize("length", [1, 20, 60, -1])
def test_a_zipped_file_that_is_cut_is_refused(length):
    """Whatever of it can still be unzipped."""
    refused(written(("item", item()), compress=True)[:length])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"PK\x03\x04 zip",
        b'{"kind": "message", "text": "x"}\n',
        b"\x1f\x8b\x08 not gzip",
        b"\xff" * 99,
        b"[" * 9999,
    ],
)
def test_a_foreign_file_is_refused(content):
    """Rows for ingest, archives, and noise."""
    refused(content)


def test_what_follows_the_end_is_refused():
    """Two files one behind the other are none."""
    refused(WHOLE + WHOLE, "after the end")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"version": VERSION + 1}, "newer than this version"),
        ({"schema": "9999"}, "newer than this version"),
        ({"version": VERSION - 1}, "has format 0"),
        ({"format": "other-export"}, "its format is 'other-export'"),
    ],
)
def test_other_formats_are_named_and_refused(changes, match):
    """An old format, and what a newer Librarian wrote, with what to do."""
    with pytest.raises(InvalidExport, match=match) as caught:
        examine(io.BytesIO(written(**changes)))
    assert caught.value.remedy or "format is" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"row": "item", **item(), "properties": {"namespace": "other"}}, "holds namespace among its properties"),
        ({"row": "item", **item(), "properties": {"tokens": "x"}}, "holds tokens"),
        ({"row": "item", **item(), "properties": {"uid": "x"}}, "holds uid"),
        ({"row": "item", **item(), "properties": {"p": {"$datetime": "x"}}}, "property 'p'"),
        ({"row": "item", **item(), "labels": ["EmbeddingSpace"]}, "is not a row of an export"),
        ({"row": "item", **item(), "kind": "lock"}, "is not a row of an export"),
        ({"row": "item", **item(), "surplus": 1}, "is not a row of an export"),
        ({"row": "item", **item(), "revisions": [{"namespace": "other"}]}, "holds namespace"),
        ({"row": "item", **item(), "vectors": [{**VECTOR, "vector": "AACAPwAAgD8="}]}, "a vector of 2 numbers"),
        ({"row": "item", **item(), "vectors": [{**VECTOR, "space": "other"}]}, "for the space 'other'"),
        ({"row": "item", **item(), "refused": [{"space": "other", "version": 1}]}, "an embedding space"),
        ({"row": "edge", "source": "a", "type": "OWNS", "target": "b", "properties": {}}, "is not a row of an export"),
        ({"row": "namespace", "namespace": "other"}, "that the header does not name"),
        ({"row": "header", **HEAD[0]}, "out of place"),
        ({"row": "lock", "name": "x"}, "is not a row of an export"),
        ({"row": "item", **item(), "properties": {"p": [[1]]}}, "no property nests lists"),
    ],
)
def test_rows_that_could_do_harm_are_refused(row, match):
    """Although their footer is right: another tenant's namespace, labels of our own, vectors that nothing finds."""
    assert examine(io.BytesIO(sealed(*HEAD, {"row": "item", **item()}))).rows == {"n": 1}
    refused(sealed(*HEAD, row), match)


def test_portions_are_bounded(monkeypatch):
    """By rows and by bytes, so that one transaction takes each."""
    many = written(*[("item", item(f"{n:05}")) for n in range(1200)])
    assert [len(entry.rows) for entry in portions(io.BytesIO(many))] == [500, 500, 200]
    large = written(*[("item", item(f"{n}", properties={"text": "x" * 3_000_000})) for n in range(4)])
    assert [len(entry.rows) for entry in portions(io.BytesIO(large))] == [2, 2]


def test_a_file_appears_when_it_is_whole(tmp_path):
    """The file of before stays until then; others cannot read it, and nothing else is left."""
    target = tmp_path / "x.jsonl"
    target.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(target) as file:
        file.write(b"half" * (1 // 0))
    assert target.read_text() == "before"
    with whole_file(target) as file:
        file.write(b"whole")
        assert target.read_text() == "before"
    assert target.read_bytes() == b"whole"
    assert target.stat().st_mode & 0o777 == 0o600
    assert names_in(tmp_path) == ["x.jsonl"]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, full_disk):
    """With the file's name and what to do."""
    said = pytest.raises(CannotWrite, match=r"x\.jsonl cannot be written")
    with said as caught, whole_file(tmp_path / "x.jsonl") as file:
        file.write(bytes(100_000))
    assert "Make room" in caught.value.remedy
    assert names_in(tmp_path) == []


def test_a_folder_that_is_not_there_is_said(tmp_path):
    """Nothing is made up for the user."""
    with pytest.raises(CannotWrite, match="No such file or directory"), whole_file(tmp_path / "no" / "x.jsonl"):
        pass


@pytest.mark.parametrize("target", ["/dev/null", "."])
def test_only_a_file_is_replaced(target):
    """A device or a folder stays what it is."""
    with pytest.raises(CannotWrite, match="not a file"), whole_file(Path(target)):
        pass


def test_what_killed_processes_left_goes_after_a_day(tmp_path):
    """A file that is being written now stays."""
    old, new = tmp_path / ".a.part", tmp_path / ".b.part"
    for part in (old, new):
        part.touch()
    os.utime(old, (time.time() - 100_000,) * 2)
    remove_stale_parts(tmp_path)
    assert names_in(tmp_path) == [".b.part"]


@pytest.mark.parametrize("begins", [b"", b"".join(WHOLE.splitlines(keepends=True)[:2]) + b'{"row": "item", "x": "'])
def test_a_file_that_unpacks_to_very_much_is_refused_early(begins):
    """Half a megabyte of gzip may stand for half a gigabyte of blanks; no more of it is unpacked than a tenth."""
    zipper = zlib.compressobj(9, wbits=31)
    bomb = zipper.compress(begins) + b"".join(zipper.compress(b" " * 2**20) for _ in range(512)) + zipper.flush()
    assert len(bomb) < 2**20
    tracemalloc.start()
    with pytest.raises(InvalidExport, match="unpacks to more than 100 times"):
        examine(io.BytesIO(bomb))
    assert tracemalloc.get_traced_memory()[1] < 256 * 2**20
    tracemalloc.stop()
