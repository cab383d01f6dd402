import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrations.errors import (
    EditedMigration,
    InterruptedMigration,
    InvalidMigrationFile,
    MissingMigration,
    NewerDatabase,
)
from migrations.plan import Migration, Record, State, discover, normalise, parse, plan, split, statuses

SCHEMA = "// librarian: kind=schema\nCREATE INDEX a IF NOT EXISTS FOR (n:A) ON (n.x);\n"


def migration(version: str, *, idempotent: bool = True) -> Migration:
    return Migration(version, "name", "schema", f"checksum-{version}", ("RETURN 1",), idempotent)


def record(version: str, *, status: str = "applied", checksum: str | None = None) -> Record:
    return Record(version, "name", "schema", checksum or f"checksum-{version}", status)


# Pieces of a statement in which a semicolon at a line's end is not the end of a statement.
quoted = st.one_of(
    st.text("ab;\n`/*\"\\'", max_size=12).map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"),
    st.text("ab;\n`/*'\\\"", max_size=12).map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    st.text("ab;\n/*'\"`", max_size=12).map(lambda text: "`" + text.replace("`", "``") + "`"),
)
plain = st.text("abc(){}= ,;", min_size=1, max_size=12).map(lambda text: "x" + text + "x")
comment = st.one_of(
    st.text("ab;'\"`", max_size=8).map(lambda text: "//" + text + "\n"),
    st.text("ab;\n'\"`", max_size=8).map(lambda text: "/*" + text + "*/"),
)
statement = st.lists(st.one_of(quoted, plain), min_size=1, max_size=6).map(" ".join)


@given(st.lists(statement, max_size=6), st.sampled_from([";\n", ";  \n", ";\t\n\n"]))
def test_joined_statements_come_apart_again(statements: list[str], end: str) -> None:
    """Splitting undoes joining, whatever stands in quotes."""
    assert list(split("".join(entry + end for entry in statements))) == statements


@given(st.lists(st.tuples(comment, statement), min_size=1, max_size=5))
def test_comments_end_nothing_and_vanish(pieces: list[tuple[str, str]]) -> None:
    """A comment may hold semicolons and quotes without touching the statements around it."""
    text = "".join(f"{remark} {entry};\n{remark}" for remark, entry in pieces)
    assert list(split(text)) == [entry for _, entry in pieces]


@given(st.text())
def test_no_text_breaks_the_splitter(text: str) -> None:
    """Any text gives statements without blanks around them, none of them empty."""
    assert all(entry and entry == entry.strip() for entry in split(text))


def test_a_semicolon_within_a_line_ends_nothing() -> None:
    assert list(split("RETURN 1; RETURN 2;\nRETURN 3")) == ["RETURN 1; RETURN 2", "RETURN 3"]


@given(st.lists(st.text("ab ;'\t", max_size=10), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_ends_and_trailing_blanks_do_not_change_a_checksum(lines: list[str], line_end: str) -> None:
    """An editor or a Windows checkout that touches only line ends, a BOM or trailing blanks edits nothing."""
    touched = "\ufeff" + line_end.join(line + "  " for line in lines) + line_end * 2
    assert normalise(touched) == normalise("\n".join(lines))
    assert normalise(normalise(touched)) == normalise(touched)


def test_a_file_becomes_a_migration() -> None:
    found = parse("0007_more_indexes.cypher", SCHEMA)
    assert (found.version, found.name, found.kind, found.idempotent) == ("0007", "more_indexes", "schema", True)
    assert found.checksum == hashlib.sha256(SCHEMA.rstrip().encode()).hexdigest()
    assert found.statements == ("CREATE INDEX a IF NOT EXISTS FOR (n:A) ON (n.x)",)
    assert found.created == {"a"}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("1_short.cypher", SCHEMA, "0001_name"),
        ("0001_Upper.cypher", SCHEMA, "0001_name"),
        ("0001_a.cypher", "RETURN 1;", "first line"),
        ("0001_a.cypher", "// librarian: kind=magic\nRETURN 1;", "first line"),
        ("0001_a.cypher", "// librarian: kind=data\n// nothing;\n", "no statement"),
    ],
)
def test_a_file_of_another_form_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidMigrationFile, match=reason):
        parse(name, text)


@pytest.mark.parametrize(
    ("text", "idempotent"),
    [
        (SCHEMA, True),
        (SCHEMA + "DROP INDEX b IF EXISTS;\n", True),
        (SCHEMA + "DROP INDEX b;\n", False),
        ("// librarian: kind=data\nMATCH (n) SET n.x = 1;\n", False),
        ("// librarian: kind=data; idempotent=yes\nMATCH (n) SET n.x = 1;\n", True),
    ],
)
def test_what_may_be_repeated(text: str, *, idempotent: bool) -> None:
    """Schema files show it by IF [NOT] EXISTS in every statement, data files promise it."""
    assert parse("0001_a.cypher", text).idempotent is idempotent


def test_files_are_found_in_the_order_of_versions(tmp_path: Path) -> None:
    for name in ("0010_b.cypher", "0002_a.cypher", "notes.txt"):
        (tmp_path / name).write_text(SCHEMA)
    assert [entry.version for entry in discover(tmp_path)] == ["0002", "0010"]


def test_two_files_of_one_version_are_refused(tmp_path: Path) -> None:
    for name in ("0002_a.cypher", "0002_b.cypher"):
        (tmp_path / name).write_text(SCHEMA)
    with pytest.raises(InvalidMigrationFile, match="0002"):
        discover(tmp_path)


versions = st.integers(1, 12).map(lambda number: f"{number:04d}")
records = st.builds(
    record, versions, status=st.sampled_from(["applied", "running"]), checksum=st.sampled_from([None, "other"])
)


@given(st.sets(versions), st.lists(records, unique_by=lambda entry: entry.version))
def test_a_plan_accounts_for_every_version_once(known: set[str], recorded: list[Record]) -> None:
    """Each version of files or records is applied, or stands in exactly one group of the plan."""
    migrations = [migration(version) for version in sorted(known)]
    decided = plan(migrations, recorded)
    groups = (decided.pending, decided.edited, decided.missing, decided.newer, decided.interrupted)
    grouped = [entry.version for group in groups for entry in group]
    listed = statuses(migrations, recorded)
    applied = [status.version for status in listed if status.state is State.APPLIED]
    assert sorted(grouped + applied) == [status.version for status in listed]
    assert {status.version for status in listed} == known | {entry.version for entry in recorded}
    assert len(decided.problems()) == len(grouped)
    assert [entry.version for entry in decided.runnable] == sorted(entry.version for entry in decided.runnable)


def test_a_fresh_graph_gets_everything() -> None:
    files = [migration("0001"), migration("0002")]
    decided = plan(files, [])
    decided.require_runnable()
    assert decided.runnable == tuple(files)


def test_an_applied_graph_needs_nothing() -> None:
    decided = plan([migration("0001")], [record("0001")])
    decided.require_runnable()
    assert decided.runnable == ()
    assert decided.problems() == []


@pytest.mark.parametrize(
    ("recorded", "error"),
    [
        ([record("0003")], NewerDatabase),
        ([record("0000")], MissingMigration),
        ([record("0001", checksum="other")], EditedMigration),
        ([record("0002", status="running")], InterruptedMigration),
        ([record("0001", checksum="other"), record("0009")], NewerDatabase),
    ],
)
def test_what_stands_in_the_way_is_named(recorded: list[Record], error: type[Exception]) -> None:
    files = [migration("0001"), migration("0002", idempotent=False)]
    with pytest.raises(error, match=recorded[-1].version):
        plan(files, recorded).require_runnable()


def test_an_interrupted_migration_that_may_be_repeated_runs_again_in_its_place() -> None:
    files = [migration("0001"), migration("0002"), migration("0003")]
    decided = plan(files, [record("0001"), record("0002", status="running", checksum="other")])
    decided.require_runnable()
    assert [entry.version for entry in decided.runnable] == ["0002", "0003"]


def test_the_package_ships_schema_files_that_may_be_repeated() -> None:
    """Every schema file of the package survives a crash in its middle; names are never used twice."""
    shipped = discover()
    assert shipped
    assert all(entry.idempotent for entry in shipped if entry.kind == "schema")
    created = [name for entry in shipped for name in sorted(entry.created)]
    assert len(created) == len(set(created))


def test_an_edit_changes_the_checksum() -> None:
    first = parse("0001_a.cypher", SCHEMA)
    edited = parse("0001_a.cypher", SCHEMA.replace("n.x", "n.y"))
    assert plan([edited], [replace(record("0001"), checksum=first.checksum)]).edited == (edited,)
