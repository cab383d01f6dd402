"""The search agent finds code by what it is called, beside what is kept."""

from functools import partial

import pytest

from librarian.agent.own_search import NAMED_CHUNKS, search_with_files
from librarian.search.contracts import SearchInput

CODE = "import os\n" * 300 + "\n\nclass LockTimeout(Exception):\n    seconds = 30\n"


@pytest.fixture
async def search(librarian, namespace, ingest, tree):
    """The texts that the agent is given for a query, best first."""
    files = {"lock.py": CODE, **{f"use{i}.py": "raise LockTimeout\n" for i in range(9)}}
    await librarian.index_files(namespace, tree(files))
    await ingest({"kind": "memory", "uid": "k", "text": "Problem: LockTimeout is raised too early on slow disks."})

    async def run(query):
        find = partial(librarian.search, namespace)
        wanted = SearchInput(queries=[query], limit=5)
        found = await search_with_files(find, librarian.parts.executor, namespace, wanted)
        return [(hit.path, hit.content) for hit in found.results]

    return run


@pytest.mark.parametrize("query", ["where is LockTimeout defined?", "LockTimeout"])
async def test_a_definition_comes_first(search, query):
    """Then other lines with the name, and what is kept; nothing twice."""
    (path, content), *others = await search(query)
    assert path == "lock.py"
    assert "class LockTimeout" in content
    assert any("too early" in text for _, text in others)
    assert len(others) == len(set(others))
    assert sum(path is not None for path, _ in others[: NAMED_CHUNKS - 1]) == NAMED_CHUNKS - 1


async def test_a_path_brings_the_beginning_of_its_file(search):
    """By its end, as `find_file` takes it."""
    (path, content), *_ = await search("lock.py")
    assert (path, content.partition("\n")[0]) == ("lock.py", "import os")


async def test_a_question_without_names_is_searched_as_ever(search, librarian, namespace):
    """No file is put before what is found."""
    query = "why are disks slow?"
    found = await librarian.search(namespace, SearchInput(queries=[query], limit=5))
    assert await search(query) == [(hit.path, hit.content) for hit in found.results]
