"""Finding files by what people call them."""

import pytest

PATHS = (
    "src/components/AgentPanel.tsx",
    "src/components/AgentPanel.test.tsx",
    "src/agent.py",
    "src/settings/settings.py",
    "tests/test_settings.py",
    "docs/release-notes.md",
    "starlette/datastructures.py",
    "tests/test_datastructures.py",
    "starlette/middleware/__init__.py",
    "__init__.py",
    "deploy/Dockerfile",
    ".github/nothing.yml",
    "a/very/deep/path/HTTPServer2.cc",
)


@pytest.fixture
async def indexed(librarian, namespace, tree):
    await librarian.index_files(namespace, tree(dict.fromkeys(PATHS, "x\n")))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("src/components/AgentPanel.tsx", "src/components/AgentPanel.tsx"),
        ("components/AgentPanel.tsx", "src/components/AgentPanel.tsx"),
        ("./src/agent.py", "src/agent.py"),
        ("src\\agent.py", "src/agent.py"),
        ("/srv/project/src/agent.py", "src/agent.py"),
        ("src/agent.py:120", "src/agent.py"),
        ("src/agent.py#L3-L9", "src/agent.py"),
        ("`agent.py`", "src/agent.py"),
        ("AgentPanel.tsx", "src/components/AgentPanel.tsx"),
        ("agentpanel.TSX", "src/components/AgentPanel.tsx"),
        ("AgentPanel", "src/components/AgentPanel.tsx"),
        ("agent panel", "src/components/AgentPanel.tsx"),
        ("agent-panel", "src/components/AgentPanel.tsx"),
        ("agent_panel", "src/components/AgentPanel.tsx"),
        ("agent panel tsx", "src/components/AgentPanel.tsx"),
        ("components agent panel", "src/components/AgentPanel.tsx"),
        ("AgentPanle.tsx", "src/components/AgentPanel.tsx"),
        ("agent pannel", "src/components/AgentPanel.tsx"),
        ("AgntPanel", "src/components/AgentPanel.tsx"),
        ("starlette datastructures", "starlette/datastructures.py"),
        ("starlette/datastructures", "starlette/datastructures.py"),
        ("datastructrues.py", "starlette/datastructures.py"),
        ("middleware/__init__.py", "starlette/middleware/__init__.py"),
        ("__init__.py", "__init__.py"),
        ("release notes", "docs/release-notes.md"),
        ("dockerfile", "deploy/Dockerfile"),
        ("http server 2", "a/very/deep/path/HTTPServer2.cc"),
        ("HTTPServer2.cc", "a/very/deep/path/HTTPServer2.cc"),
        ("settings", "src/settings/settings.py"),
        ("test settings", "tests/test_settings.py"),
        ("setting", "src/settings/settings.py"),
    ],
)
async def test_the_file_that_is_meant_comes_first(indexed, find, query, first):
    """Paths, ends of paths, names, stems, words in any spelling, and one typo."""
    assert (await find(query))[:1] == [first]


@pytest.mark.parametrize(
    "query", ["no such file", "xyzzy.py", "?", "../..", "*", "'", "+(tokens:x)", "nothing.yml", "~1"]
)
async def test_what_is_not_there_is_not_found(indexed, find, query):
    """Neither are operators of the index understood, nor hidden files found."""
    assert await find(query) == []


async def test_an_exact_name_brings_no_similar_ones(indexed, find):
    """Where files are called so, files that are only called something like it stay out."""
    assert await find("datastructures.py") == ["starlette/datastructures.py"]


async def test_a_deleted_file_is_never_found(indexed, librarian, namespace, find):
    """Not by any form of its name."""
    await librarian.delete_file(namespace, "src/components/AgentPanel.tsx")
    for query in ("AgentPanel.tsx", "agent panel tsx", "src/components/AgentPanel.tsx", "AgntPanel.tsx"):
        assert "src/components/AgentPanel.tsx" not in await find(query)


async def test_a_version_is_found_as_a_whole(librarian, namespace, tree, find):
    """Not by its numbers in another order, nor within a longer one."""
    await librarian.index_files(
        namespace, tree({f"docs/releases/v{one}.rst": "x\n" for one in ("6.1.0", "6.6.1", "6.0.1")})
    )
    assert (await find("release notes for 6.1"))[0] == "docs/releases/v6.1.0.rst"


async def test_the_limit_holds(librarian, namespace, tree, find):
    """At most so many, of one name the shortest paths first."""
    await librarian.index_files(namespace, tree({f"{'d/' * i}same.py": "x\n" for i in range(15)}))
    assert await find("same.py", limit=3) == ["same.py", "d/same.py", "d/d/same.py"]
