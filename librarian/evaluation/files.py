"""Measures file search on a real tree: exactness and speed against ripgrep, and finding files by name."""

import asyncio
import random
import shutil
import statistics
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import FilesEvalReport, FindScores, QuestionScores
from librarian.evaluation.measures import OnProgress, json_lines, timed
from librarian.files.contracts import FileListQuery, FindFileInput, IndexReport, LocateInput, SearchTextInput
from librarian.files.reading import lines_of, text_of
from librarian.files.room import FilesRoom

Line = tuple[str, int]

MAX_HITS = 200
"""Hits of one query: as many as a person or an agent reads."""

_LIMIT = 1_000
_WARM_UP = 10
_SHOWN = 10
_TOP = 3
_FIND_QUERIES = 200
_PAGE = 5_000
_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class FilesEvaluation:
    """The measurement: `queries` are drawn from the lines of `root`; `labels` is a folder of labelled queries, which
    count if their files are in the tree; `questions` is a file of rows {query, expected: paths} for locate.
    """

    root: Path
    namespace: str
    queries: int = 300
    seed: int = 0
    labels: Path | None = None
    questions: Path | None = None


async def evaluate_files(files: FilesRoom, wanted: FilesEvaluation, on_progress: OnProgress) -> FilesEvalReport:
    """Index the tree, then measure. Raises InvalidInput without ripgrep or text."""
    ripgrep = _ripgrep()
    indexed = await files.index_files(wanted.namespace, wanted.root, on_progress=on_progress)
    paths, texts = await _stored(files, wanted.namespace)
    source = random.Random(wanted.seed)  # noqa: S311 - a sample
    compared = _Comparison(files, wanted, ripgrep, texts)
    await compared.run(_queries(wanted.root, texts, source), on_progress)
    find = await _find_scores(files, wanted.namespace, _made_names(paths, source))
    report = compared.report(indexed, len(paths), find)
    if wanted.labels is not None:
        await _labelled(files, wanted, wanted.labels, set(paths), report)
    if wanted.questions is not None:
        report.questions = await _asked(files, wanted.namespace, list(json_lines(wanted.questions)))
    return report


class _Comparison:
    """Runs the same queries on the index and on ripgrep in turn."""

    def __init__(self, files: FilesRoom, wanted: FilesEvaluation, ripgrep: str, texts: Sequence[str]) -> None:
        self._files = files
        self._wanted = wanted
        self._ripgrep = ripgrep
        self._texts = frozenset(texts)
        self._ours: list[float] = []
        self._theirs: list[float] = []
        self._different: list[str] = []

    async def run(self, queries: Iterator[str], on_progress: OnProgress) -> None:
        """Query until enough queries had a readable number of hits."""
        warm = 0
        while len(self._ours) < self._wanted.queries and (query := next(queries, None)) is not None:
            theirs, theirs_s = await timed(self._ripgrep_lines(query))
            expected = {line for line in theirs if line[0] in self._texts}
            if not 1 <= len(expected) <= MAX_HITS:
                continue
            found, ours_s = await timed(self._lines(query))
            warm += 1
            if warm <= _WARM_UP:
                continue
            self._ours.append(ours_s * 1000)
            self._theirs.append(theirs_s * 1000)
            if found != expected:
                self._different.append(query)
            on_progress(len(self._ours), self._wanted.queries)

    def report(self, indexed: IndexReport, files: int, find: Mapping[str, FindScores]) -> FilesEvalReport:
        """Return the figures. Raises InvalidInput if there were no queries."""
        if not self._ours:
            raise InvalidInput("no line of this tree can be searched for", field="--root")
        ratios = [theirs / ours for ours, theirs in zip(self._ours, self._theirs, strict=True)]
        return FilesEvalReport(
            root=str(self._wanted.root),
            files=files,
            queries=len(self._ours),
            equal_share=1 - len(self._different) / len(self._ours),
            speedup_vs_ripgrep=round(statistics.median(ratios), 2),
            p50_ms=percentile(self._ours, 50),
            p95_ms=percentile(self._ours, 95),
            ripgrep_p50_ms=percentile(self._theirs, 50),
            ripgrep_p95_ms=percentile(self._theirs, 95),
            index_s=indexed.seconds,
            mb_per_s=round(indexed.bytes / _MB / indexed.seconds, 2) if indexed.added and indexed.bytes else None,
            different=self._different[:_SHOWN],
            find=dict(find),
        )

    async def _lines(self, query: str) -> set[Line]:
        wanted = SearchTextInput(query=query, limit=_LIMIT)
        found = await self._files.search_text(self._wanted.namespace, wanted)
        return {(hit.path, hit.line) for hit in found.hits}

    async def _ripgrep_lines(self, query: str) -> set[Line]:
        options = ("--line-number", "--fixed-strings", "--no-heading", "--null", "--no-config", "--no-require-git")
        process = await asyncio.create_subprocess_exec(
            self._ripgrep, *options, "--", query, ".",
            cwd=self._wanted.root, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        output, _ = await process.communicate()
        rows = [row.partition(b"\0") for row in output.split(b"\n") if b"\0" in row]
        return {(_text(path).removeprefix("./"), int(rest.partition(b":")[0])) for path, _, rest in rows}


async def _stored(files: FilesRoom, namespace: str) -> tuple[list[str], list[str]]:
    """Return all paths, and those whose contents are stored."""
    paths: list[str] = []
    texts: list[str] = []
    after, more = "", True
    while more:
        page = await files.list_files(namespace, FileListQuery(after=after, limit=_PAGE))
        paths += [file.path for file in page.files]
        texts += [file.path for file in page.files if file.sha256 is not None]
        after, more = (page.files[-1].path, page.more) if page.files else ("", False)
    return paths, texts


def _queries(root: Path, texts: Sequence[str], source: random.Random) -> Iterator[str]:
    """Yield names, parts of lines and whole lines of random files; ends after many files without any."""
    for _ in range(100 * len(texts)):
        text = text_of((root / source.choice(texts)).read_bytes())
        lines = [line.strip() for line in lines_of(text or "") if len(line.strip()) > 3 and "\ufffd" not in line]
        if lines:
            yield _piece(source.choice(lines), source)


def _piece(line: str, source: random.Random) -> str:
    names = [word for word in line.replace("(", " ").replace(".", " ").split() if word.isidentifier() and len(word) > 3]
    match source.randrange(3):
        case 0 if names:
            return source.choice(names)
        case 1 if len(line) > 12:
            length = source.randrange(6, min(40, len(line)))
            start = source.randrange(len(line) - length + 1)
            return line[start : start + length].strip() or line[:40]
        case _:
            return line[:60].strip()


def _made_names(paths: Sequence[str], source: random.Random) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Return full names, stems and path suffixes of random files, each with all paths that match it."""
    chosen = [Path(path) for path in source.sample(list(paths), min(_FIND_QUERIES, len(paths)))]
    forms: dict[str, Callable[[Path], str]] = {
        "file name": lambda path: path.name,
        "stem": lambda path: path.stem,
        "path suffix": lambda path: "/".join(path.parts[-2:]),
    }
    made = {}
    for form, of in forms.items():
        meant: dict[str, set[str]] = {}
        for path in paths:
            meant.setdefault(of(Path(path)).casefold(), set()).add(path)
        made[form] = [(of(path), frozenset(meant[of(path).casefold()])) for path in chosen]
    return made


async def _find_scores(
    files: FilesRoom, namespace: str, forms: Mapping[str, Sequence[tuple[str, frozenset[str]]]]
) -> dict[str, FindScores]:
    async def first(query: str) -> list[str]:
        return (await files.find_file(namespace, FindFileInput(name=query, limit=1))).paths

    return {form: await _scored(first, queries) for form, queries in forms.items() if queries}


async def _scored(
    first: Callable[[str], Awaitable[list[str]]], queries: Sequence[tuple[str, frozenset[str]]]
) -> FindScores:
    """Return the share of right first answers, and their time."""
    # Warmed up, as ripgrep is: a freshly started server needs thousands of searches to compile their code.
    for query, _ in queries:
        await first(query)
    right, times = 0, []
    for query, expected in queries:
        found, seconds = await timed(first(query))
        times.append(seconds * 1000)
        right += bool(found) and found[0] in expected
    return FindScores(
        queries=len(queries),
        top1=round(right / len(queries), 4),
        p50_ms=percentile(times, 50),
        p95_ms=percentile(times, 95),
    )


async def _labelled(
    files: FilesRoom, wanted: FilesEvaluation, labels: Path, paths: set[str], report: FilesEvalReport
) -> None:
    """Add the scores of labelled queries whose files are in this tree."""
    forms: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for row in _labels(labels / "find_file.jsonl"):
        expected = frozenset([*row["expected"], *row.get("also_acceptable", [])])
        if expected & paths:
            forms.setdefault(f"labelled {row['form']}", []).append((row["query"], expected))
    report.find |= await _find_scores(files, wanted.namespace, forms)
    defined = [
        (row["query"], frozenset([f"{row['path']}:{row['line']}"]))
        for row in _labels(labels / "definitions.jsonl")
        if row["path"] in paths and _has(wanted.root / row["path"], row["line"], row["symbol"])
    ]

    async def first_line(query: str) -> list[str]:
        lines = (await files.locate(wanted.namespace, LocateInput(query=query, limit=1))).lines
        return [line.partition(": ")[0] for line in lines]

    if defined:
        report.definitions = await _scored(first_line, defined)
    else:
        report.notes.append("no labelled definition is in this tree")


async def _asked(files: FilesRoom, namespace: str, rows: Sequence[Mapping[str, Any]]) -> QuestionScores:
    """Return how often locate ranks a right file first, and among the first three."""
    first = third = 0
    missed = []
    for row in rows:
        paths = (await files.locate(namespace, LocateInput(query=row["query"], limit=_TOP))).paths
        right = [path in row["expected"] for path in paths]
        first += right[:1] == [True]
        third += any(right)
        if not any(right):
            missed.append(row["query"])
    count = max(1, len(rows))
    return QuestionScores(
        questions=len(rows), top1=round(first / count, 4), top3=round(third / count, 4), missed=missed
    )


def _labels(file: Path) -> list[dict[str, Any]]:
    return list(json_lines(file)) if file.is_file() else []


def _has(file: Path, line: int, name: str) -> bool:
    """Return whether the tree matches the labelled version at this line."""
    lines = lines_of(text_of(file.read_bytes()) or "")
    return line <= len(lines) and name in lines[line - 1]


def percentile(values: Sequence[float], share: int) -> float:
    """Return the `share` percentile of `values`, rounded to a hundredth."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 2)


def _ripgrep() -> str:
    beside = shutil.which("rg", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("rg")
    if found is None:
        raise InvalidInput("ripgrep is not installed", field="rg", remedy="pip install ripgrep, or put rg on PATH.")
    return found


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
