"""Typical look-ups and questions about source trees: how often a correct file ranks first and in the top three.

Each `file_questions/NAME.jsonl` has rows {query, expected: paths} for one source distribution, which pip fetches.
LIBRARIAN_BENCH_PACKAGES (all) selects packages, LIBRARIAN_BENCH_SOURCES keeps downloads for the next run, and
LIBRARIAN_ENCODER (none) adds the meaning of parts, at the cost of encoding the trees.
"""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import disposable, main, progress, report
from librarian.app import Librarian
from librarian.files.contracts import FindFileInput, LocateInput

QUESTIONS = Path(__file__).parent / "file_questions"
PACKAGES = os.environ.get("LIBRARIAN_BENCH_PACKAGES", "")
SOURCES = os.environ.get("LIBRARIAN_BENCH_SOURCES")
ENCODER = os.environ.get("LIBRARIAN_ENCODER", "none")
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Release:
    """A source distribution; `looked_up` says that its rows are names for find_file as well as requests to locate."""

    name: str
    version: str
    looked_up: bool = False


RELEASES = (
    Release("django", "5.2", looked_up=True),
    Release("celery", "5.7.0", looked_up=True),
    Release("tornado", "6.6.1", looked_up=True),
    Release("scrapy", "2.19.0"),
    Release("trio", "0.35.0"),
    Release("aiohttp", "3.14.5"),
    Release("sphinx", "9.0.4"),
    Release("pytest", "9.2.0"),
    Release("werkzeug", "3.1.9"),
    Release("pip", "26.3"),
    Release("paramiko", "5.1.0"),
    Release("coverage", "7.17.3"),
    Release("dramatiq", "2.2.1"),
    Release("kombu", "5.7.0"),
    Release("urllib3", "2.8.0"),
)


@contextmanager
def tree(release: Release) -> Iterator[Path]:
    """Return the unpacked release; fetch it unless it is already there."""
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        archives = Path(SOURCES or folder)
        archives.mkdir(parents=True, exist_ok=True)
        archive = _archive(archives, release) or _fetched(archives, release)
        with tarfile.open(archive) as packed:
            packed.extractall(Path(folder) / "tree", filter="data")
        yield next((Path(folder) / "tree").iterdir())


def _archive(folder: Path, release: Release) -> Path | None:
    ending = f"-{release.version}.tar.gz"
    return next((one for one in folder.glob("*.tar.gz") if one.name.lower() == f"{release.name}{ending}"), None)


def _fetched(folder: Path, release: Release) -> Path:
    what = (f"{release.name}=={release.version}", "--dest", str(folder))
    options = ("--quiet", "--no-deps", "--no-binary", ":all:")
    done = subprocess.run([sys.executable, "-m", "pip", "download", *options, *what], check=False)
    if done.returncode or (archive := _archive(folder, release)) is None:
        raise SystemExit(f"pip could not fetch the sources of {release.name} {release.version}")
    return archive


async def ask(librarian: Librarian, release: Release) -> list[dict[str, Any]]:
    """Index the release; return how often each verb ranks a correct file first and in the top three."""
    namespace = f"bench:{release.name}"
    with tree(release) as root:
        await librarian.files.index_files(namespace, root)
    if ENCODER != "none":
        await librarian.embeddings.embed_pending()
    rows = [json.loads(line) for line in (QUESTIONS / f"{release.name}.jsonl").read_text(encoding="utf-8").splitlines()]

    async def named(query: str) -> Sequence[str]:
        return (await librarian.find_file(namespace, FindFileInput(name=query, limit=SHOWN))).paths

    async def located(query: str) -> Sequence[str]:
        return (await librarian.locate(namespace, LocateInput(query=query, limit=SHOWN))).paths

    verbs = {"find_file": named, "locate": located} if release.looked_up else {"locate": located}
    return [
        {"package": release.name, "verb": verb, **_scores([(row, await found(row["query"])) for row in rows])}
        for verb, found in verbs.items()
    ]


def _scores(answers: Sequence[tuple[Mapping[str, Any], Sequence[str]]]) -> dict[str, Any]:
    right = [[path in row["expected"] for path in paths] for row, paths in answers]
    return {
        "queries": len(answers),
        "first": sum(row[:1] == [True] for row in right),
        "among_three": sum(map(any, right)),
        "missed": [row["query"] for (row, _), found in zip(answers, right, strict=True) if not any(found)],
    }


async def benchmark() -> None:
    """Run each chosen release on one disposable server."""
    chosen = [release for release in RELEASES if not PACKAGES or release.name in PACKAGES.split(",")]
    async with disposable(LIBRARIAN_ENCODER=ENCODER) as (librarian, _settings):
        rows = []
        for release in chosen:
            progress(f"{release.name} {release.version}")
            rows += await ask(librarian, release)
    report("file_lookups", rows, encoder=ENCODER)


if __name__ == "__main__":
    main(benchmark)
