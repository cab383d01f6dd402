"""Real conversations ingested by the command line and searched over HTTP: recall, MRR and nDCG as a user sees them.

LIBRARIAN_EVAL_DATA names the folder with `locomo/` and `japanese_retrieval/` (default: ../shared/data). `librarian eval
retrieval` measures the single arms.
"""

import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from benchmarks.common import main, progress, report
from benchmarks.serving import served
from graph.local.server import ManagedServer
from librarian.base.settings.settings import Settings
from librarian.evaluation.data import Dataset, read_datasets
from retrieval.evaluation.metrics import ranking_metrics

DATA = Path(os.environ.get("LIBRARIAN_EVAL_DATA", "../shared/data"))
_BIN = Path(sys.executable).parent / "librarian"
_SIDE_BY_SIDE = 2


async def ingest(dataset: Dataset, settings: Settings) -> float:
    """Run `librarian ingest FILE`; return seconds."""
    file = settings.home.parent / f"{dataset.name}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in dataset.rows), encoding="utf-8")
    started = time.perf_counter()
    env = {**os.environ, "LIBRARIAN_HOME": str(settings.home)}
    command = [str(_BIN), "ingest", str(file), "--json"]
    process = await asyncio.create_subprocess_exec(*command, env=env, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - started


async def ask_all(client: httpx.AsyncClient, dataset: Dataset) -> dict[str, Any]:
    """Return mean metrics over the questions, and the time of one search."""
    slots = asyncio.Semaphore(_SIDE_BY_SIDE)
    sums: defaultdict[str, float] = defaultdict(float)

    async def ask(number: int) -> None:
        question = dataset.questions[number]
        async with slots:
            response = await client.post(
                "/v1/search",
                json={"queries": [question.text], "limit": 20},
                headers={"librarian-namespace": question.namespace},
            )
        response.raise_for_status()
        found = [str(hit.get(dataset.id_field)) for hit in response.json()["results"]]
        for metric, value in ranking_metrics(question.relevant, found).items():
            sums[metric] += value
        progress(f"{dataset.name}: question {number + 1} of {len(dataset.questions)}")

    await asyncio.gather(*(ask(number) for number in range(len(dataset.questions))))
    return {metric: round(total / len(dataset.questions), 4) for metric, total in sums.items()}


async def benchmark() -> None:
    """Run LoCoMo turns (one namespace per conversation) and Japanese paragraphs."""
    folders = ("locomo", "japanese_retrieval")
    missing = [name for name in folders if not (DATA / name).is_dir()]
    if missing:
        raise SystemExit(f"no {missing} in {DATA}; LIBRARIAN_EVAL_DATA names the folder with the evaluation data")
    rows = []
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        home = str(Path(folder) / "home")
        settings = Settings.from_env({**os.environ, "LIBRARIAN_HOME": home})
        async with served(settings) as (url, key), httpx.AsyncClient(base_url=url, timeout=60) as client:
            client.headers["authorization"] = f"Bearer {key}"
            for name in folders:
                (dataset,) = read_datasets([str(DATA / name)], seed=0)
                dataset = replace(dataset, questions=[one for one in dataset.questions if one.relevant])
                seconds = await ingest(dataset, settings)
                metrics = await ask_all(client, dataset)
                facts = {"dataset": name, "ingest_s": round(seconds, 1), "questions": len(dataset.questions)}
                rows.append(facts | metrics)
        await ManagedServer(settings.home, settings.cache).stop()
    report("real_input", rows)


if __name__ == "__main__":
    main(benchmark)
