"""Definitions: the right one of several, and answers that name its place."""

import pytest

from librarian.files.contracts import LocateInput
from librarian.search.contracts import AnswerInput

CODE = {
    "src/client.py": "class BoundStream:\n    async def aclose(self): ...\n\n\n"
    "class AsyncClient:\n    async def aclose(self): ...\n    def close_all(self): ...\n",
    "src/Agent.ts": "export class Agent { run(): void {} }\n",
    "src/AgentPanel.tsx": "export function AgentPanel() { return null }\n",
    "src/foo.cc": '#include "foo.h"\nint Other::bar() { return 1; }\nint Foo::bar() { return 2; }\n',
    "tests/test_client.py": "class AsyncClient:\n    def test(self): ...\n",
    "src/paginator.py": "PAGE = 20\n",
    "src/maps.py": "class Map:\n    def paginator(self): ...\n",
    "CHANGELOG.md": "AsyncClient AsyncClient AsyncClient: aclose closes.\n",
}


@pytest.fixture
async def code(librarian, namespace, tree):
    await librarian.index_files(namespace, tree(CODE))


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("show definition of AsyncClient.aclose", "src/client.py", 6),
        ("BoundStream.aclose", "src/client.py", 2),
        ("Foo::bar", "src/foo.cc", 3),
        ("where is Other::bar defined?", "src/foo.cc", 2),
        ("Open the Agent class", "src/Agent.ts", 1),
        ("AsyncClientはどこで定義されていますか", "src/client.py", 5),
        ("where is AsyncClient defined?", "src/client.py", 5),
    ],
)
async def test_the_definition_that_is_meant_comes_first(code, librarian, namespace, query, path, line):
    """By its class, before its uses, in a source before a test; also asked for in Japanese."""
    found = await librarian.locate(namespace, LocateInput(query=query))
    assert (found.places[0].path, found.places[0].line) == (path, line)
    assert found.lines[0].startswith(f"{path}:{line}: ")
    assert "defines" in found.places[0].why


async def test_a_file_before_an_attribute_of_its_name(code, librarian, namespace):
    """A bare word is rather the file than what some class has of that name; a qualified one is not."""
    for query, path in (("paginator", "src/paginator.py"), ("Map.paginator", "src/maps.py")):
        assert (await librarian.locate(namespace, LocateInput(query=query))).places[0].path == path


async def test_a_name_that_nothing_defines_is_read_as_a_question(code, librarian, namespace):
    """`どこ` may ask for a definition, or for what deals with a thing."""
    found = await librarian.locate(namespace, LocateInput(query="Cobertura の page を決めるのはどこ"))
    assert (found.shape, found.paths[:1]) == ("question", ["src/paginator.py"])


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ('"PAGE = 20"', ("src/paginator.py", 1)),
        ('"aclose closes"', ("CHANGELOG.md", 1)),
        ("run(): void", ("src/Agent.ts", 1)),
    ],
)
async def test_the_lines_that_hold_a_phrase_are_places(code, librarian, namespace, query, place):
    """In quotation marks or without: the file of the line is named as well as the line."""
    found = await librarian.locate(namespace, LocateInput(query=query))
    assert (found.shape, (found.places[0].path, found.places[0].line), found.paths[0]) == ("phrase", place, place[0])
    assert found.lines[0].startswith(f"{place[0]}:{place[1]}: ")


async def test_tests_can_be_asked_for(code, librarian, namespace):
    """The same name in tests."""
    found = await librarian.locate(namespace, LocateInput(query="AsyncClientはテストのどこで定義されていますか"))
    assert found.places[0].path == "tests/test_client.py"


async def test_an_answer_names_the_place(code, librarian, namespace):
    """With the part of the file as its citation; a question about another name is not answered so."""
    answered = await librarian.answer(namespace, AnswerInput(query="Where is AsyncClient.aclose defined?"))
    assert answered.status == "answered"
    assert answered.text.startswith("AsyncClient.aclose is defined in src/client.py:6: async def aclose(self)")
    assert [citation.uid for citation in answered.citations] == [answered.hits[0].uid]
    assert (await librarian.answer(namespace, AnswerInput(query="Where is Nothing defined?"))).status == "refused"


async def test_a_beginning_finds_files(code, find):
    """The name first, then names that begin so; one or several."""
    for query in ("Agent", "Agents", "Ag"):
        assert (await find(query))[:2] == ["src/Agent.ts", "src/AgentPanel.tsx"]


async def test_a_file_is_found_by_a_method(code, find):
    """By a name of several words; of one word it would be called by too many."""
    assert await find("where is close_all") == ["src/client.py"]
