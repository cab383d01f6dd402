"""Lines of files: exactly those that match, with their numbers."""

import asyncio
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from librarian.base.cursors import encode
from librarian.base.errors import InvalidInput, NotFound
from librarian.files.contracts import FindFileInput, LocateInput, SearchTextInput, SpanQuery

RIPGREP = shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg")
ALPHABET = "ab _.éß日\t'\"\\$"


async def test_hits_equal_those_of_ripgrep(librarian, namespace, tree, grep):
    """Made-up files of few letters, so that everything matches often: same paths and lines as `rg -n -F`."""
    if RIPGREP is None:
        pytest.skip("ripgrep is not installed")
    source = random.Random(8)
    files = {f"f{i}.txt": "\n".join(line(source, 30) for _ in range(source.randrange(1, 400))) for i in range(12)}
    root = tree(files)
    await librarian.index_files(namespace, root)
    for _ in range(40):
        query = line(source, 4).strip() or "a"
        expected = ripgrep(root, query)
        if len(expected) <= 1000:
            assert sorted(await grep(query, limit=1000)) == expected, query


async def test_pages_bring_every_line_once(librarian, namespace, tree):
    """More lines than one answer may have, the definition first; the sizes of pages may differ."""
    calls = {f"use_{n:03}.py": "".join(f"beam({line})\n" for line in range(40)) for n in range(60)}
    await librarian.index_files(namespace, tree({**calls, "zeta.py": "def beam(n):\n    return n\n"}))
    pages, wanted = [], SearchTextInput(query="beam", limit=50)
    while True:
        page = await librarian.search_text(namespace, wanted)
        pages.append([(hit.path, hit.line) for hit in page.hits])
        assert page.more == (page.next_cursor is not None)
        if page.next_cursor is None:
            break
        wanted = SearchTextInput(query="beam", limit=1000, cursor=page.next_cursor)
    lines = [line for lines in pages for line in lines]
    assert (lines[0], [len(lines) for lines in pages], page.total) == (("zeta.py", 1), [50, 1000, 1000, 351], 2401)
    assert len(set(lines)) == 2401
    assert pages[1] == sorted(pages[1])


@pytest.mark.parametrize("position", [["50"], ["0", "0"], ["50", "49"], ["2000", "2000"], ["a", "b"]])
async def test_a_cursor_that_means_nothing_is_refused(librarian, namespace, position):
    """Damaged, or made up."""
    wanted = SearchTextInput(query="beam")
    with pytest.raises(InvalidInput, match="invalid cursor"):
        await librarian.search_text(
            namespace, SearchTextInput(query="beam", cursor=encode(namespace, wanted, position))
        )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1]),
        ({"ignore_case": True}, [1, 2, 3, 5]),
        ({"word": True}, [1]),
        ({"word": True, "ignore_case": True}, [1, 2]),
    ],
)
async def test_case_and_words(librarian, namespace, tree, grep, options, expected):
    """Exact by default; `ignore_case` and `word` do what they say, in any script."""
    await librarian.index_files(namespace, tree({"a.txt": "straße\nSTRASSE STRAßE\nStraßenbahn\nnothing\nxstraßE\n"}))
    assert await grep("straße", **options) == [("a.txt", line) for line in expected]


async def test_regular_expressions(librarian, namespace, tree, grep):
    """The syntax of RE2, line by line; with and without a text that an index can look for."""
    await librarian.index_files(namespace, tree({"a.py": "x = 1\nvalue = 22\n\nvalue=333\n"}))
    assert await grep(r"value\s*=\s*\d+$", regex=True) == [("a.py", 2), ("a.py", 4)]
    assert await grep(r"^\w = \d", regex=True) == [("a.py", 1)]
    assert await grep(r"^$", regex=True) == [("a.py", 3)]
    assert await grep(r"VALUE", regex=True, ignore_case=True) == [("a.py", 2), ("a.py", 4)]
    assert await grep(r"1\s+value", regex=True) == [], "no match crosses a line"
    assert await grep(r"a|b|(?:x =)", regex=True) == [("a.py", 1), ("a.py", 2), ("a.py", 4)]


@pytest.mark.parametrize("pattern", ["(", "a{2000}{2000}", r"(\w)\1", "(?=x)", "a\nb"])
async def test_a_pattern_that_means_nothing_is_refused(librarian, namespace, pattern):
    """Also those that only a backtracking engine knows."""
    with pytest.raises(InvalidInput):
        await librarian.search_text(namespace, SearchTextInput(query=pattern, regex=True))


async def test_a_bomb_takes_no_time(librarian, namespace, tree, grep):
    """A pattern that makes a backtracking engine count for years."""
    await librarian.index_files(namespace, tree({"a.txt": "a" * 5_000 + "\n"}))
    assert await grep("(a*)*(a*)*(a|aa)+b", regex=True) == []


async def test_files_are_chosen(librarian, namespace, tree, grep):
    """By globs, also those that leave files out, and by language."""
    paths = ["a.py", "src/b.py", "src/deep/c.ts", "tests/d.py", "e.md"]
    await librarian.index_files(namespace, tree(dict.fromkeys(paths, "needle\n")))

    async def found(**options):
        return [path for path, _ in await grep("needle", **options)]

    assert await found(globs=["*.py"]) == ["a.py", "src/b.py", "tests/d.py"]
    assert await found(globs=["src/**"]) == ["src/b.py", "src/deep/c.ts"]
    assert await found(globs=["*.{py,md}", "!tests/**"]) == ["a.py", "src/b.py", "e.md"]
    assert await found(globs=["src/*"]) == ["src/b.py"]
    assert await found(languages=["typescript", "markdown"]) == ["src/deep/c.ts", "e.md"]
    assert await found(globs=["[!ab].*"]) == ["src/deep/c.ts", "tests/d.py", "e.md"]
    with pytest.raises(InvalidInput, match="language"):
        await found(languages=["klingon"])
    with pytest.raises(InvalidInput, match="stars"):
        await found(globs=["*a" * 13])


async def test_context_crosses_parts(librarian, namespace, tree):
    """Lines around a hit come from the parts beside its own."""
    lines = [f"line {i} {'x' * 60}" for i in range(1, 200)]
    await librarian.index_files(namespace, tree({"a.txt": "\n".join(lines)}))
    for number in (1, 33, 34, 35, 36, 37, 199):
        wanted = SearchTextInput(query=f"line {number} ", context=3)
        (hit,) = (await librarian.search_text(namespace, wanted)).hits
        assert hit.before == lines[max(0, number - 4) : number - 1]
        assert hit.after == lines[number : number + 3]


async def test_more_and_total_are_honest(librarian, namespace, tree):
    """All matches are counted where that is cheap; beyond, `more` says that there are others."""
    files = {f"f{i}.txt": ("filler " * 300 + "\nneedle\n") * 3 for i in range(100)}
    await librarian.index_files(namespace, tree({**files, "one.txt": "unique\nunique\nunique\n"}))

    async def found(query, limit):
        answer = await librarian.search_text(namespace, SearchTextInput(query=query, limit=limit))
        return len(answer.hits), answer.more, answer.total

    assert await found("unique", 2) == (2, True, 3)
    assert await found("unique", 3) == (3, False, 3)
    assert await found("needle", 5) == (5, True, None)
    assert await found("needle", 1000) == (300, False, 300)
    assert await found("nowhere", 5) == (0, False, 0)


async def test_definitions_come_first(librarian, namespace, tree):
    """Of a name the line that defines it, also where the limit was reached before it."""
    uses = {f"a{i}.py": "from z import AgentState\n" for i in range(30)}
    root = tree({**uses, "z.py": "import os\n\nclass AgentState:\n    pass\n"})
    await librarian.index_files(namespace, root)
    found = await librarian.search_text(namespace, SearchTextInput(query="AgentState", limit=3))
    first = found.hits[0]
    assert (first.path, first.line, first.defines) == ("z.py", 3, "class")
    assert len(found.hits) == 3
    assert [hit.defines for hit in found.hits[1:]] == [None, None]


async def test_odd_texts(librarian, namespace, tree, grep):
    """CRLF, UTF-16, invalid UTF-8, a byte order mark, no last line feed, a form feed: lines are those of grep."""
    root = tree(
        {
            "crlf.txt": b"one\r\nneedle\r\n",
            "utf16.txt": "one\nneedle ü\n".encode("utf-16"),
            "latin.txt": b"caf\xe9 needle\n\xff\xfe\nneedle",
            "bom.txt": b"\xef\xbb\xbfneedle\n",
            "feed.txt": b"a\x0cb\nneedle\x1c\x85\n",
        }
    )
    await librarian.index_files(namespace, root)
    assert sorted(await grep("needle")) == [
        ("bom.txt", 1), ("crlf.txt", 2), ("feed.txt", 2), ("latin.txt", 1), ("latin.txt", 3), ("utf16.txt", 2),
    ]  # fmt: skip
    assert await grep("needle$", regex=True) == [
        ("bom.txt", 1), ("crlf.txt", 2), ("latin.txt", 1), ("latin.txt", 3),
    ]  # fmt: skip
    assert await grep("ü") == [("utf16.txt", 2)]


async def test_a_line_of_five_megabytes(librarian, namespace, tree, grep):
    """Found wherever in it the text stands, shown in part, and read back whole."""
    source = random.Random(1)
    words = [f"w{source.randrange(10**9)}" for _ in range(450_000)]
    text = " ".join(words)
    await librarian.index_files(namespace, tree({"min.js": f"first\n{text}\nlast\n"}))
    for place in (0, 1_500, 250_000, 449_000):
        query = " ".join(words[place : place + 60])
        assert await grep(query) == [("min.js", 2)]
    (hit,) = (await librarian.search_text(namespace, SearchTextInput(query=words[250_000]))).hits
    assert words[250_000] in hit.text
    assert len(hit.text) <= 502
    span = await librarian.open_file(namespace, "min.js", SpanQuery(start=2, end=3))
    assert span.text == f"{text}\nlast"


@pytest.mark.parametrize("query", ["q", "é", " ", "  ", "日"])
async def test_queries_shorter_than_a_trigram(librarian, namespace, tree, grep, query):
    """One or two letters are looked for by the database, without reading every file."""
    await librarian.index_files(namespace, tree({"a.txt": "q é  日\nnothing\n", "b.txt": "x\n"}))
    assert await grep(query) == [("a.txt", 1)]
    answer = await librarian.search_text(namespace, SearchTextInput(query=query))
    assert answer.notes == []
    answer = await librarian.search_text(namespace, SearchTextInput(query=f"{query}|x", regex=True))
    assert ([hit.path for hit in answer.hits], "every file was read" in answer.notes[0]) == (["a.txt", "b.txt"], True)


@pytest.mark.parametrize("name", ["new\nline.py", 'quo"te.py', "apo'strophe $x {y}.py", "日本語.py", "a b.py", "é.py"])
async def test_odd_names(librarian, namespace, tree, grep, find, name):
    """A file of any name that is UTF-8 is found, searched and read."""
    await librarian.index_files(namespace, tree({f"dir/{name}": "needle\n"}))
    assert await grep("needle") == [(f"dir/{name}", 1)]
    assert await find(f"dir/{name}") == [f"dir/{name}"]
    assert (await librarian.open_file(namespace, f"dir/{name}", SpanQuery())).text == "needle"


async def test_reading_lines(librarian, namespace, tree):
    """The span that is asked for, at most 2,000 lines, as they are stored."""
    lines = [f"line {i}" for i in range(1, 3001)]
    await librarian.index_files(namespace, tree({"a.txt": "\n".join(lines) + "\n", "empty.txt": ""}))

    async def read(path="a.txt", **span):
        return await librarian.open_file(namespace, path, SpanQuery(**span))

    assert (await read(start=10, end=12)).text == "line 10\nline 11\nline 12"
    whole = await read()
    assert (whole.start, whole.end, whole.lines) == (1, 2000, 3000)
    assert (await read(start=2999)).text == "line 2999\nline 3000"
    assert (await read("empty.txt")).text == ""
    for bad in ({"start": 3001}, {"start": 5, "end": 4}):
        with pytest.raises(InvalidInput):
            await read(**bad)
    with pytest.raises(NotFound):
        await read("nothing.txt")


async def test_an_index_that_is_removed_while_searching(librarian, namespace, tree, grep):
    """A search beside the deletion of the namespace finds something or nothing, and does not fail."""
    await librarian.index_files(namespace, tree({f"f{i}.txt": "needle\n" for i in range(200)}))
    preview = await librarian.delete_namespace(namespace)
    deleting = asyncio.create_task(librarian.delete_namespace(namespace, preview.confirm_token))
    while not deleting.done():
        assert len(await grep("needle", limit=1000)) <= 200
    await deleting
    assert await grep("needle") == []


async def test_locate_asks_the_right_layers(librarian, namespace, tree):
    """A path among paths, a name in both ways, a question by meaning; it says why."""
    root = tree({"src/agent_panel.py": "class AgentPanel:\n    '''Shows what the agent does.'''\n", "b.py": "x = 1\n"})
    await librarian.index_files(namespace, root)

    async def locate(query):
        return await librarian.locate(namespace, LocateInput(query=query))

    path = await locate("src/agent_panel.py")
    assert (path.shape, path.paths, path.lines) == ("path", ["src/agent_panel.py"], [])
    defined = await locate("where is AgentPanel defined?")
    assert (defined.shape, defined.lines[0]) == ("definition", "src/agent_panel.py:1: class AgentPanel:")
    name = await locate("AgentPanel")
    assert (name.shape, name.paths) == ("identifier", ["src/agent_panel.py"])
    question = await locate("how is shown what the agent does?")
    assert question.shape == "question"
    assert (question.parts[0].path, question.parts[0].start) == ("src/agent_panel.py", 1)
    assert "question" in question.why


async def test_other_namespaces_are_not_searched(librarian, namespace, tree):
    """Files of one namespace do not exist in another."""
    await librarian.index_files(namespace, tree({"a.py": "class Needle: pass\n"}))
    other = f"{namespace}-other"
    assert (await librarian.find_file(other, FindFileInput(name="a.py"))).paths == []
    assert (await librarian.search_text(other, SearchTextInput(query="Needle"))).hits == []
    assert (await librarian.search_text(other, SearchTextInput(query="N"))).hits == []


def line(source, longest):
    return "".join(source.choice(ALPHABET) for _ in range(source.randrange(1, longest)))


def ripgrep(root, query):
    command = [RIPGREP, "--line-number", "--fixed-strings", "--null", "--no-heading", "--", query, "."]
    output = subprocess.run(command, cwd=root, capture_output=True, check=False).stdout
    found = [row.partition(b"\0") for row in output.split(b"\n") if b"\0" in row]
    return sorted((path.decode().removeprefix("./"), int(rest.partition(b":")[0])) for path, _, rest in found)
