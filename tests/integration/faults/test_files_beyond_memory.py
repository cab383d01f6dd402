"""A source file that needs more memory than the database gives one transaction, and a restart with more of it."""

import pytest

from graph.local.server import ManagedServer
from librarian.app import open_librarian
from librarian.base.errors import NotFound
from librarian.base.settings.settings import Settings
from librarian.cli.doctor_checks.database import database_checks
from librarian.files.contracts import FindFileInput, SearchTextInput, SpanQuery

_NOTE = "big.py (7.3 MB) is found by name only"


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "after.py").write_text("def after(): ...\n")
    (root / "before.py").write_text("def before(): ...\n")
    (root / "big.py").write_text("def first_version(): ...\n")
    return root


def grown() -> str:
    """Return 7.3 MB of source code."""
    return "\n".join(f"def made_{n:06}(value):\n    return value + {n:07}  # {n * 7919:>30}" for n in range(86_000))


@pytest.fixture
def settings(home, cache):
    def of(heap_mb: int) -> Settings:
        names = {"LIBRARIAN_HOME": home, "LIBRARIAN_CACHE": cache, "LIBRARIAN_HEAP_MB": heap_mb}
        return Settings.from_env({"LIBRARIAN_ENCODER": "none", **{name: str(value) for name, value in names.items()}})

    return of


async def lines(librarian, namespace, text):
    found = await librarian.search_text(namespace, SearchTextInput(query=text))
    return [(hit.path, hit.line) for hit in found.hits]


async def test_only_the_file_that_is_too_large_is_refused_until_there_is_memory(settings, home, cache, tree, namespace):
    await ManagedServer(home, cache).stop()
    async with open_librarian(settings(256), purpose="tests", linger_s=0) as librarian:
        await librarian.index_files(namespace, tree)
        assert await lines(librarian, namespace, "first_version") == [("big.py", 1)]

        (tree / "big.py").write_text(grown())
        (tree / "later.py").write_text("def later(): ...\n")
        report = await librarian.index_files(namespace, tree)
        assert (report.files, report.added, report.updated, report.unread) == (4, 1, 0, {"too_large_for_database": 1})
        assert [note.startswith(_NOTE) and "LIBRARIAN_HEAP_MB" in note for note in report.notes] == [True]
        assert await lines(librarian, namespace, "def later") == [("later.py", 1)]
        assert (await librarian.find_file(namespace, FindFileInput(name="big.py"))).paths == ["big.py"]
        for text in ("first_version", "made_000001", "made_085999"):
            assert await lines(librarian, namespace, text) == []
        with pytest.raises(NotFound, match="too_large_for_database"):
            await librarian.open_file(namespace, "big.py", SpanQuery())

        put = await librarian.put_file(namespace, "sent.py", grown().encode())
        assert (put.outcome, put.file.unread, len(put.notes)) == ("added", "too_large_for_database", 1)
        (check,) = [check for check in await database_checks(settings(256)) if check.name == "files"]
        assert check.status == "warning"
        assert f"2 found by name only, too large for the database's memory: big.py of {namespace}" in check.detail

    await ManagedServer(home, cache).stop()
    async with open_librarian(settings(1024), purpose="tests", linger_s=0) as librarian:
        report = await librarian.index_files(namespace, tree)
        assert (report.updated, report.unread, report.notes) == (1, {}, [])
        assert await lines(librarian, namespace, "made_085999") == [("big.py", 171_999)]
        assert (await librarian.put_file(namespace, "sent.py", grown().encode())).file.unread is None
    await ManagedServer(home, cache).stop()
