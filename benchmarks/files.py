"""Finding files among 100,000 paths, the delay until a saved file is found, and text search compared with ripgrep.

LIBRARIAN_BENCH_TREE names a source tree (a release of Django, for instance); without it the last part is skipped.
Sizes: LIBRARIAN_BENCH_PATHS (100000).
"""

import asyncio
import contextlib
import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from benchmarks.common import Timing, disposable, main, measure, progress, report, timing
from graph.files import put_files
from librarian.app import Librarian
from librarian.evaluation.files import FilesEvaluation, evaluate_files
from librarian.files.contracts import FindFileInput, IndexReport, SearchTextInput
from librarian.files.loading import Loader

PATHS = int(os.environ.get("LIBRARIAN_BENCH_PATHS", "100000"))
TREE = os.environ.get("LIBRARIAN_BENCH_TREE")
RUNS = 200
SAVES = 50
# A new server needs thousands of searches to compile its code.
_WARM_UP = 1_000
_AT_ONCE = 5_000
_FOLLOWED = 200
_ENDINGS = ("py", "ts", "tsx", "go", "rs", "java", "md", "json")
_TEXT = "agent panel user order invoice deploy lock index graph search filter cache token queue worker store view model"
_WORDS = _TEXT.split()


def made_up_paths(count: int) -> list[str]:
    """Paths of words, as in real projects; some hundred files share a name, as `index.ts` does."""
    source = random.Random(0)
    paths: dict[str, None] = {}
    while len(paths) < count:
        folders = "/".join(source.choices(_WORDS, k=source.randint(1, 5)))
        stem = "index" if source.random() < 0.01 else "_".join(source.choices(_WORDS, k=source.randint(2, 4)))
        paths[f"{folders}/{stem}{source.randrange(100)}.{source.choice(_ENDINGS)}"] = None
    return list(paths)


async def find_rows(librarian: Librarian, count: int) -> list[Timing]:
    """Time finding `count` files by name, stem, words, and name with a typo."""
    namespace = f"bench:{count}"
    paths = made_up_paths(count)
    loader = Loader(namespace, 1)
    for at in range(0, count, _AT_ONCE):
        new = [loader.new_file(path, root="", size=0, mtime_ns=0) for path in paths[at : at + _AT_ONCE]]
        await put_files(librarian.parts.executor, namespace, new)
        progress(f"{at + len(new)} of {count} paths")
    chosen = [PurePosixPath(path) for path in random.Random(1).sample(paths, RUNS + 30)]
    forms: dict[str, Sequence[str]] = {
        "file name": [path.name for path in chosen],
        "stem": [path.stem for path in chosen],
        "end of the path": ["/".join(path.parts[-2:]) for path in chosen],
        "words": [path.stem.replace("_", " ") for path in chosen],
        "one typo": [path.name[:2] + path.name[3:] for path in chosen],
    }
    rows = []
    for form, queries in forms.items():

        async def find(number: int, queries: Sequence[str] = queries) -> None:
            await librarian.find_file(namespace, FindFileInput(name=queries[number % len(queries)]))

        rows.append(await measure(f"find_file among {count:,}, {form}", find, runs=RUNS, warmup=_WARM_UP))
    return rows


@asynccontextmanager
async def followed(librarian: Librarian, namespace: str, root: Path) -> AsyncIterator[None]:
    """Follow the folder within this context."""
    ready = asyncio.Event()

    def indexed(_report: IndexReport) -> None:
        ready.set()

    async def run() -> None:
        async for _ in librarian.watch_files(namespace, root, on_indexed=indexed):
            pass

    task = asyncio.create_task(run())
    try:
        await ready.wait()
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def visible(librarian: Librarian) -> Timing:
    """Time from the end of a save in a folder of some files until search_text finds the new line."""
    samples = []
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        for number in range(_FOLLOWED):
            (Path(folder) / f"before{number}.py").write_text(f"def before_{number}(): ...\n", encoding="utf-8")
        async with followed(librarian, "bench:watched", Path(folder)):
            for number in range(SAVES):
                text = f"marker_number_{number}_of_this_run"
                (Path(folder) / f"file{number % 5}.py").write_text(f"{text} = 1\n", encoding="utf-8")
                saved = time.perf_counter()
                wanted = SearchTextInput(query=text)
                while not (await librarian.search_text("bench:watched", wanted)).hits:
                    await asyncio.sleep(0.005)
                samples.append((time.perf_counter() - saved) * 1000)
    return timing("saved file is found", samples)


async def benchmark() -> None:
    """Run everything on one disposable server."""
    facts: dict[str, Any] = {}
    async with disposable(LIBRARIAN_ENCODER="none") as (librarian, _settings):
        rows = [row for count in sorted({min(10_000, PATHS), PATHS}) for row in await find_rows(librarian, count)]
        rows.append(await visible(librarian))
        if TREE is not None:
            compared = await evaluate_files(librarian.files, FilesEvaluation(Path(TREE), "bench:tree"), _shown)
            facts["tree"] = msgspec.to_builtins(compared)
    report("files", rows, **facts)


def _shown(done: int, total: int) -> None:
    progress(f"{done} of {total}")


if __name__ == "__main__":
    main(benchmark)
