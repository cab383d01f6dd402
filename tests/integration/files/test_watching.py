"""Following a folder: what is saved, moved or deleted is right at once."""

import asyncio
import contextlib

import pytest

PATIENCE_S = 20


@pytest.fixture
async def following(librarian, namespace):
    """Indexes a folder and follows it; gives what was indexed, set by set."""

    @contextlib.asynccontextmanager
    async def follow(root):
        ready = asyncio.Event()
        seen = asyncio.Queue()

        async def run():
            async for paths in librarian.watch_files(namespace, root, on_indexed=lambda _: ready.set()):
                seen.put_nowait(paths)

        task = asyncio.create_task(run())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await ready.wait()
            yield seen
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    return follow


async def until(condition):
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def test_saving_moving_and_deleting(librarian, namespace, tree, following, grep, find):
    """Each is seen without a second run; a moved file is found at its new place only."""
    root = tree({"a.py": "first\n", "b.py": "other\n"})
    async with following(root):
        tree({"a.py": "second\n", "new/c.py": "third\n"})
        await until(lambda: equal(grep("second"), [("a.py", 1)]))
        await until(lambda: equal(grep("third"), [("new/c.py", 1)]))
        assert await grep("first") == []
        (root / "new").rename(root / "moved")
        await until(lambda: equal(grep("third"), [("moved/c.py", 1)]))
        assert await find("c.py") == ["moved/c.py"]
        (root / "b.py").unlink()
        await until(lambda: equal(find("b.py"), []))
        assert await grep("other") == []


async def test_a_new_rule_takes_files_out(librarian, namespace, tree, following, grep):
    """A changed .gitignore holds for what is stored already."""
    root = tree({"a.log": "needle\n", "a.py": "needle\n"})
    async with following(root):
        assert await grep("needle") == [("a.log", 1), ("a.py", 1)]
        tree({".gitignore": "*.log\n"})
        await until(lambda: equal(grep("needle"), [("a.py", 1)]))


async def test_what_is_left_out_stays_out(librarian, namespace, tree, following, find):
    """Files that a walk leaves out are left out when they change, too."""
    root = tree({"a.py": "x\n", ".gitignore": "*.log\n"})
    async with following(root):
        tree({"x.log": "x\n", ".hidden/y.py": "x\n", "node_modules/z.js": "x\n"})
        tree({"last.py": "x\n"})
        await until(lambda: equal(find("last.py"), ["last.py"]))
        assert [await find(name) for name in ("x.log", "y.py", "z.js")] == [[], [], []]


async def test_changes_while_the_first_run_works_are_not_lost(librarian, namespace, tree, following, grep):
    """Watching begins before walking."""
    root = tree({f"f{i}.py": "x\n" for i in range(200)})
    async with following(root) as seen:
        tree({"late.py": "late\n"})
        await until(lambda: equal(grep("late"), [("late.py", 1)]))
        assert "late.py" in await seen.get()


async def equal(found, expected):
    return await found == expected
