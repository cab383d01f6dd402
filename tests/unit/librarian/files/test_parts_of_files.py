"""Bytes as text, text as lines, lines as parts, and what they define."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.files import ChunkText
from librarian.files.chunks import MAX_CHARS, MAX_LINE_CHARS, OVERLAP, chunks_of, parts
from librarian.files.loading import Loader
from librarian.files.reading import lines_of, text_of
from librarian.files.symbols import languages, symbols_of
from librarian.files.text import lines_by_place

LINES = st.lists(st.text("ab \t}é", max_size=300), max_size=60)


@given(LINES)
def test_every_line_is_in_one_part(lines):
    """In order, with its number, in parts that are not too long."""
    made = list(parts(lines))
    assert [line for part in made for line in part.text.split("\n")] == lines
    assert [part.first for part in made] == [1, *(part.last + 1 for part in made)][: len(made)]
    assert all(len(part.text) <= MAX_CHARS for part in made)


@pytest.mark.parametrize("length", [MAX_CHARS + 1, MAX_LINE_CHARS, MAX_LINE_CHARS + 1, 100_000])
def test_a_long_line_is_in_pieces_that_overlap(length):
    """Any text of up to the overlap is whole in one of them, and together they are the line."""
    line = "".join(random.Random(length).choices("abcdefgh", k=length))
    made = list(parts(["before", line, "after"]))
    pieces = [part for part in made if part.first == 2]
    for start in range(0, length - OVERLAP, 97):
        assert any(line[start : start + OVERLAP] in piece.text for piece in pieces)
    chunks = [ChunkText("", "p", part.first, part.column, part.text) for part in made]
    assert lines_by_place(chunks) == {("p", 1): "before", ("p", 2): line, ("p", 3): "after"}


def test_parts_begin_where_something_begins():
    """A function stays whole where it fits."""
    body = "".join(f"def f{i}():\n" + "    x = 1\n" * 60 + "\n" for i in range(10))
    assert all(part.text.startswith("def ") for part in parts(lines_of(body)))


def test_equal_parts_of_one_file_are_two():
    """Their uids differ."""
    lines = ["same " * 400] * 3
    chunks = chunks_of("n", "a.txt", lines)
    assert len({chunk.uid for chunk in chunks}) == len(chunks) > 1


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\x0c\x1c\n\xc2\x85b", ["a\x0c\x1c", "\x85b"]),
        (b"\xef\xbb\xbfa", ["a"]),
        ("é\n".encode("utf-16"), ["é"]),
        ("é".encode("utf-16-be"), None),
        (b"\xfe\xff\x00a", ["a"]),
        (b"a\0b", None),
        (b"caf\xe9", ["caf\ufffd"]),
    ],
)
def test_bytes_as_lines(data, lines):
    """Line feeds alone end lines; NUL bytes make a binary file; anything else is text."""
    text = text_of(data)
    assert (None if text is None else lines_of(text)) == lines


def test_what_cannot_be_read_is_said(tmp_path):
    """A folder in the place of a file, nothing, too much: no error."""
    loader = Loader("n", max_bytes=10)
    (tmp_path / "folder").mkdir()
    (tmp_path / "big").write_bytes(b"x" * 11)
    (tmp_path / "fits").write_bytes(b"x" * 10)
    assert loader.load(tmp_path, "folder").unread == "unreadable"
    assert loader.load(tmp_path, "nothing") is None
    assert loader.load(tmp_path, "big").unread == "oversized"
    assert loader.load(tmp_path, "fits").unread is None


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    """A changed file is stored without a time, so that the next run looks at it again."""
    file = tmp_path / "log.txt"
    file.write_text("begin\n")
    stat = Path.stat

    def growing(path, **options):
        about = stat(path, **options)
        with path.open("a") as opened:
            opened.write("more\n")
        return about

    monkeypatch.setattr(Path, "stat", growing)
    content = Loader("n", max_bytes=1_000).load(tmp_path, "log.txt")
    assert content.mtime_ns == -1
    assert content.chunks[0].text.startswith("begin\nmore")


# Lines of code, each with what it defines.
SOURCES = {
    "python": [
        ("import x", ""),
        ("LIMIT = 3", "LIMIT constant"),
        ("class A:", "A class"),
        ("    def m(self): ...", "m method"),
        ("@d", ""),
        ("def f(): ...", "f function"),
    ],
    "javascript": [
        ("export const f = () => 1;", "f function"),
        ("class A { m() {} }", "A class, m method"),
        ("function g() {}", "g function"),
    ],
    "typescript": [
        ("export interface I { x: number }", "I interface"),
        ("type T = string;", "T type"),
        ("enum E { A }", "E enum"),
        ("export const LIMIT = 1;", "LIMIT constant"),
        ("abstract class C { private p(): void {} }", "C class, p method"),
    ],
    "tsx": [("export function View() { return <div/>; }", "View function")],
    "go": [
        ("package p", ""),
        ("const C = 1", "C constant"),
        ("type S struct{}", "S type"),
        ("func F() {}", "F function"),
        ("func (s S) M() {}", "M method"),
    ],
    "rust": [
        ("struct S;", "S struct"),
        ("trait T { fn t(&self); }", "T trait, t method"),
        ("impl S { fn m(&self) {} }", "m method"),
        ("fn f() {}", "f function"),
    ],
    "java": [
        ("class A {", "A class"),
        ("  static int X = 1;", "X constant"),
        ("  void m() {}", "m method"),
        ("}", ""),
        ("interface I {}", "I interface"),
    ],
    "c": [
        ("#define M 1", "M macro"),
        ("struct s { int x; };", "s struct"),
        ("int *f(void) { return 0; }", "f function"),
    ],
    "cpp": [
        ("class A { void m() {} };", "A class, m method"),
        ("void A::n() {}", "n method"),
        ("int f() { return 0; }", "f function"),
    ],
    "csharp": [
        ("class A { void M() {} int P { get; } }", "A class, M method, P property"),
        ("interface I {}", "I interface"),
    ],
    "ruby": [
        ("module M", "M module"),
        ("  class A", "A class"),
        ("    def m; end", "m method"),
        ("  end", ""),
        ("end", ""),
    ],
    "php": [
        ("<?php", ""),
        ("class A { function m() {} }", "A class, m method"),
        ("function f() {}", "f function"),
    ],
}


@pytest.mark.parametrize("language", sorted(languages()))
def test_definitions(language):
    """Of every language that has a grammar: names, what they are, and their lines."""
    lines = SOURCES[language]
    expected = [
        (said, number) for number, (_, all_said) in enumerate(lines, 1) for said in all_said.split(", ") if said
    ]
    found = [(f"{one.name} {one.kind}", one.line) for one in symbols_of(language, "\n".join(code for code, _ in lines))]
    assert sorted(found) == sorted(expected)


@given(st.sampled_from(sorted(languages())), st.text("cdefilnatsu{}()<>:;=\n \0é", max_size=80))
def test_faulty_code_is_no_error(language, text):
    """It gives what it can."""
    symbols_of(language, text)
