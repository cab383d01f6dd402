"""Indexing a source tree: what is stored, what is left out, and what a second run does."""

import asyncio
import contextlib
import os

import pytest

from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.files.contracts import FileListQuery, SpanQuery

NODES = "MATCH (n:!ChangeLog&!ChangeSet) WHERE n.namespace = $namespace RETURN count(n) AS n"


async def test_paths_and_texts_are_found(librarian, namespace, tree, find, grep):
    """After one run a file is found by its name and by its lines."""
    root = tree({"src/AgentPanel.tsx": "export const panel = 1\nexport const other = 2\n", "README.md": "# Hello\n"})
    report = await librarian.index_files(namespace, root)
    assert (report.files, report.added, report.unchanged) == (2, 2, 0)
    assert await find("agent panel") == ["src/AgentPanel.tsx"]
    assert await grep("other = 2") == [("src/AgentPanel.tsx", 2)]


async def test_only_what_changed_is_stored_again(librarian, namespace, tree, grep):
    """A second run reads nothing; a changed file replaces its parts, a deleted one takes them along."""
    root = tree({"a.py": "one = 1\n", "b.py": "two = 2\n", "c.py": "three = 3\n"})
    await librarian.index_files(namespace, root)
    again = await librarian.index_files(namespace, root)
    assert (again.unchanged, again.chunks, again.bytes) == (3, 0, 0)
    tree({"a.py": "one = 1111\n"})
    (root / "b.py").unlink()
    changed = await librarian.index_files(namespace, root)
    assert (changed.updated, changed.unchanged, changed.deleted) == (1, 1, 1)
    assert await grep("one = 1", limit=9) == [("a.py", 1)]
    assert await grep("two") == []


async def test_a_touched_file_keeps_its_parts(librarian, namespace, executor, tree):
    """A new time with the old contents stores no part anew, so that vectors and edges stay."""
    root = tree({"a.py": "one = 1\n"})
    await librarian.index_files(namespace, root)
    os.utime(root / "a.py", ns=(1, 1))
    report = await librarian.index_files(namespace, root)
    assert (report.updated, report.chunks) == (0, 0)
    assert (await librarian.index_files(namespace, root)).bytes == 0, "the new time is stored"


async def test_a_change_leaves_the_other_parts_alone(librarian, namespace, executor, tree):
    """A line added at the top moves the parts below it; they stay the items they were."""
    functions = [f"def function_{i}():\n" + "    pass  # some body\n" * 40 + "\n\n" for i in range(8)]
    root = tree({"a.py": "".join(functions)})
    await librarian.index_files(namespace, root)
    before = await parts(executor, namespace)
    tree({"a.py": "import os\n\n\n" + "".join(functions)})
    report = await librarian.index_files(namespace, root)
    after = await parts(executor, namespace)
    kept = before.keys() & after.keys()
    assert len(kept) >= len(before) - 2
    assert report.chunks <= 2
    assert all(after[uid] == before[uid] + 3 for uid in kept)


async def test_what_is_left_out_is_reported(librarian, namespace, tree, find):
    """Ignored, hidden, dependencies and symbolic links, each with its reason; nothing of them is found."""
    root = tree(
        {
            ".gitignore": "*.log\n/build/\n!keep.log\n",
            "src/.gitignore": "generated.py\n",
            "a.py": "x\n",
            "debug.log": "x\n",
            "keep.log": "kept\n",
            "build/out.py": "x\n",
            "src/build/in.py": "x\n",
            "src/generated.py": "x\n",
            "node_modules/lib/index.js": "x\n",
            ".secret/key": "x\n",
        }
    )
    (root / "link.py").symlink_to(root / "a.py")
    (root / "loop").symlink_to(root)
    report = await librarian.index_files(namespace, root)
    assert report.skipped == {"hidden": 3, "ignored": 3, "dependencies": 1, "symlink": 2}
    stored = [file.path for file in (await librarian.list_files(namespace, FileListQuery())).files]
    assert stored == ["a.py", "keep.log", "src/build/in.py"]
    assert await find("index.js") == []
    assert {(one.path, one.reason) for one in report.examples} >= {
        ("debug.log", "ignored"), ("build/", "ignored"), ("node_modules/", "dependencies"), ("loop", "symlink"),
    }  # fmt: skip


async def test_files_without_text_are_found_by_name(librarian, namespace, tree, find, grep):
    """Binary and oversized files have a name and no text."""
    root = tree({"logo.png": b"\x89PNG\0\0needle\0", "a.py": "needle\n"})
    big = root / "big.txt"
    big.write_bytes(b"needle\n" * 1_600_000)
    report = await librarian.index_files(namespace, root)
    assert report.unread == {"binary": 1, "oversized": 1}
    assert await find("logo.png") == ["logo.png"]
    assert await find("big") == ["big.txt"]
    assert await grep("needle") == [("a.py", 1)]
    with pytest.raises(NotFound, match="binary"):
        await librarian.open_file(namespace, "logo.png", SpanQuery())
    assert (await librarian.index_files(namespace, root)).unread == {"binary": 1, "oversized": 1}


async def test_paths_only_and_then_all(librarian, namespace, tree, find, grep):
    """Paths alone make files findable; the next full run adds the contents."""
    root = tree({"a.py": "needle\n"})
    report = await librarian.index_files(namespace, root, paths_only=True)
    assert (report.files, report.chunks) == (1, 0)
    assert await find("a.py") == ["a.py"]
    assert await grep("needle") == []
    await librarian.index_files(namespace, root)
    assert await grep("needle") == [("a.py", 1)]


async def test_an_interrupted_run_is_completed_by_the_next(librarian, namespace, tree, grep):
    """A run that is cancelled in the middle leaves files that the next run reads."""
    root = tree({f"f{i:03}.py": f"needle {i}\n" for i in range(300)})
    done = 0

    def stop_in_the_middle(finished, _total):
        nonlocal done
        done = finished
        if finished:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await librarian.index_files(namespace, root, on_progress=stop_in_the_middle)
    assert 0 < done < 300
    assert len(await grep("needle", limit=1000)) == done
    await librarian.index_files(namespace, root)
    assert len(await grep("needle", limit=1000)) == 300


async def test_two_runs_at_once_agree(librarian, namespace, executor, tree, grep):
    """Two indexers on one root store every part once."""
    root = tree({f"f{i}.py": f"needle {i}\n" * 30 for i in range(40)})
    await asyncio.gather(*(librarian.index_files(namespace, root) for _ in range(3)))
    assert len(await grep("needle", limit=1000)) == 1000
    rows = await executor.driver.execute_query(
        "MATCH (f:File {namespace: $namespace})-[:HAS_CHUNK]->(c:FileChunk) "
        "RETURN count(DISTINCT f) AS files, count(c) AS chunks, count(DISTINCT c.uid) AS uids", namespace=namespace
    )  # fmt: skip
    assert dict(rows.records[0]) == {"files": 40, "chunks": 40, "uids": 40}


async def test_another_root_does_not_take_paths_over(librarian, namespace, tmp_path, grep):
    """Of two folders in one namespace the first keeps a path that both have; a folder that is gone gives way."""
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        root.mkdir()
        (root / "a.py").write_text(f"{root.name}\n")
    await librarian.index_files(namespace, first)
    report = await librarian.index_files(namespace, second)
    assert report.skipped == {"belongs_to_another_root": 1}
    assert await grep("first") == [("a.py", 1)]
    moved = first.rename(tmp_path / "moved")
    report = await librarian.index_files(namespace, moved)
    assert (report.added, report.unchanged, report.deleted) == (0, 1, 0)
    assert await grep("first") == [("a.py", 1)]


async def test_deleting_the_namespace_deletes_its_files(librarian, namespace, executor, tree):
    """Files, parts and definitions go with their namespace."""
    await librarian.index_files(namespace, tree({"a.py": "def f(): pass\n"}))
    assert await count(executor, namespace) == 3
    preview = await librarian.delete_namespace(namespace)
    await librarian.delete_namespace(namespace, preview.confirm_token)
    assert await count(executor, namespace) == 0


async def test_no_folder_is_said(librarian, namespace, tmp_path):
    """A path that is no folder is the caller's fault."""
    with pytest.raises(InvalidInput, match="no folder"):
        await librarian.index_files(namespace, tmp_path / "nothing")


async def test_vectors_follow(librarian, namespace, tree, executor):
    """Parts wait for their vectors; a blank file has nothing to wait for."""
    report = await librarian.index_files(namespace, tree({"a.py": "print('hello')\n", "blank.py": "\n\n  \n"}))
    assert report.pending_embeddings >= 1
    waiting = "MATCH (c:PendingEmbedding {namespace: $namespace}) RETURN c.path AS path"
    found = await executor.driver.execute_query(waiting, namespace=namespace)
    assert [record["path"] for record in found.records] == ["a.py"]


async def parts(executor, namespace):
    found = await executor.driver.execute_query(
        "MATCH (c:FileChunk {namespace: $namespace}) RETURN c.uid AS uid, c.start_line AS line", namespace=namespace
    )
    return {record["uid"]: record["line"] for record in found.records}


async def count(executor, namespace):
    found = await executor.driver.execute_query(NODES, namespace=namespace)
    return found.records[0]["n"]


async def test_a_namespace_that_is_deleted_while_it_is_indexed_is_whole_afterwards(
    librarian, namespace, executor, tree, grep
):
    """Whatever the deletion meets: no part is left without its file, and the next run stores what is missing."""
    root = tree({f"f{i:03}.py": f"needle {i}\n" for i in range(200)})

    async def delete():
        for _ in range(6):
            with contextlib.suppress(NotFound, Conflict):
                preview = await librarian.delete_namespace(namespace, None)
                await librarian.delete_namespace(namespace, preview.confirm_token)
            await asyncio.sleep(0.05)

    await asyncio.gather(librarian.index_files(namespace, root), delete())
    orphans, _, _ = await executor.driver.execute_query(
        "MATCH (c:FileChunk {namespace: $ns}) WHERE NOT EXISTS { (:File {namespace: $ns})-[:HAS_CHUNK]->(c) } "
        "RETURN count(c) AS parts",
        {"ns": namespace},
    )
    assert orphans[0]["parts"] == 0
    await librarian.index_files(namespace, root)
    assert len(await grep("needle", limit=1000)) == 200
