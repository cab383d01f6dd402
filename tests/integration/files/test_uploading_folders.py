"""`librarian index --remote`: a folder of this machine in the graph of a service."""

import pytest

from librarian.base.keys import KeyFile
from librarian.cli.files import upload_tree
from librarian.client import AsyncLibrarianClient


@pytest.fixture
async def upload(serve_app, librarian, tmp_path, namespace):
    """Uploads a folder; gives the report."""
    keys = KeyFile(tmp_path / "keys.json")
    secret = keys.create("test", namespaces=[namespace], scopes=["read", "write"])[1]

    async def run(root, **options):
        return await upload_tree(
            client, namespace, root, 100, **{"paths_only": False, "on_progress": lambda *_: None, **options}
        )

    async with serve_app(librarian, keys) as url, AsyncLibrarianClient(url, secret) as client:
        yield run


async def test_a_folder_is_uploaded_and_only_what_changed_again(upload, tree, grep, find):
    """Added, then unchanged; a changed file is updated, one that is gone is deleted, another one's file stays."""
    root = tree({"src/a.py": "first\n", "b.py": "needle\n", "big.txt": "x" * 101, ".hidden": "needle\n"})
    report = await upload(root)
    assert (report.files, report.added, report.skipped) == (3, 2, {"hidden": 1, "oversized": 1})
    assert await grep("needle") == [("b.py", 1)]
    again = await upload(root)
    assert (again.unchanged, again.bytes) == (2, 0)
    (root / "src/a.py").write_text("second\n")
    (root / "b.py").unlink()
    report = await upload(root)
    assert (report.updated, report.deleted) == (1, 1)
    assert (await grep("second"), await find("b.py")) == ([("src/a.py", 1)], [])


async def test_paths_only_keeps_the_bytes_here(upload, tree, grep, find):
    """Names are found, and no text."""
    await upload(tree({"a.py": "needle\n"}), paths_only=True)
    assert (await find("a.py"), await grep("needle")) == (["a.py"], [])
