"""The search agent alone (`librarian serve --agent-only`): start time, and 200 concurrent requests to a slow Professor.

Reports the status and duration of the answers, and memory over several rounds.
"""

import asyncio
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.common import main, progress, report
from benchmarks.serving import until_ready

CLIENTS = 200
ROUNDS = 5
STARTS = 5
SLOW_S = 1.0
_MIB = 2**20
_BIN = Path(sys.executable).parent / "librarian"
_ASKED = {
    "user_query": "決定係数の計算式を教えて",
    "analyzed_info": {"intent": "formula_lookup", "context": "Lecture 03: Regression Analysis"},
    "task": {"target_items": ["definition", "formula", "interpretation_0_1"], "max_retries": 5},
    "stop_conditions": "All target_items are found with specific references.",
}
_TEXTS = (
    "決定係数 R² とは、目的変数の変動のうち回帰モデルで説明できる割合を表す指標である。",
    "決定係数の計算式は R² = 1 − RSS / TSS である。",
    "決定係数は 1 に近いほどモデルの当てはまりがよく、0 は平均値で予測するのと変わらないことを意味する。",
    "最小二乗法は、残差の平方和が最小になるように係数を決める方法である。",
    "次回の講義は11月です。",
)


async def slow_search(request: Request) -> JSONResponse:
    """Return results made from the query's letters, after a second."""
    await asyncio.sleep(SLOW_S * random.uniform(0.8, 1.2))
    letters = set((await request.json())["query"])
    ranked = sorted(range(len(_TEXTS)), key=lambda at: -len(letters & set(_TEXTS[at])))
    found = [{"temp_index": at + 1, "text": _TEXTS[at], "source": "Lecture 03", "page": at + 1} for at in ranked[:4]]
    return JSONResponse({"candidates": found})


@asynccontextmanager
async def professor(port: int) -> AsyncIterator[str]:
    """A slow Professor in this process."""
    routes = [Route("/search", slow_search, methods=["POST"])]
    config = uvicorn.Config(Starlette(routes=routes), port=port, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    yield f"http://127.0.0.1:{port}/search"
    server.should_exit = True
    await running


@asynccontextmanager
async def agent(env: dict[str, str]) -> AsyncIterator[tuple[str, psutil.Process, float]]:
    """Run the service; yield its URL, its process, and the seconds from the command to `/readyz`."""
    started = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        _BIN, "serve", "--agent-only", "--port", "0", env=env, stderr=asyncio.subprocess.PIPE
    )
    try:
        if process.stderr is None:
            raise RuntimeError("the service has no standard error")
        said = (await process.stderr.readline()).decode()
        found = re.search(r"http://\S+?:\d+", said)
        if found is None:
            raise RuntimeError(said)
        await until_ready(found[0], 30)
        yield found[0], psutil.Process(process.pid), time.perf_counter() - started
    finally:
        process.terminate()
        await process.wait()


async def made_key(env: dict[str, str]) -> str:
    """Return the home's admin key."""
    shown = await asyncio.create_subprocess_exec(_BIN, "keys", "show-local", env=env, stdout=asyncio.subprocess.PIPE)
    output, _ = await shown.communicate()
    return output.decode().split()[-1]


async def asked(client: httpx.AsyncClient, statuses: Counter[str], seconds: list[float]) -> None:
    """Send one request."""
    started = time.perf_counter()
    try:
        status = str((await client.post("/v1/librarian/search-agent", json=_ASKED)).status_code)
    except httpx.TransportError as error:
        status = type(error).__name__
    statuses[status] += 1
    seconds.append(time.perf_counter() - started)


async def benchmark() -> None:
    """Start it several times, then load it."""
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        async with professor(int(os.environ.get("LIBRARIAN_BENCH_PORT", "9011"))) as url:
            env = {
                **{name: value for name, value in os.environ.items() if not name.startswith(("LIBRARIAN_", "NEO4J_"))},
                "LIBRARIAN_HOME": str(Path(folder) / "home"),
                "LIBRARIAN_LOG_LEVEL": "warning",
                "LIBRARIAN_RATE_LIMIT": "off",
                "PROFESSOR_SEARCH_URL": url,
            }
            starts = []
            for number in range(STARTS):
                progress(f"start {number + 1} of {STARTS}")
                async with agent(env) as (_, _, ready_s):
                    starts.append(ready_s)
            async with agent(env) as (service, process, _):
                rows, memory = await loaded(service, process, await made_key(env))
    facts: dict[str, Any] = {
        "ready_s": {"median": round(statistics.median(starts), 2), "worst": round(max(starts), 2), "runs": STARTS},
        "memory_mb": memory,
        "professor_s": SLOW_S,
    }
    report("search_agent", rows, **facts)


async def loaded(url: str, process: psutil.Process, key: str) -> tuple[list[dict[str, Any]], list[float]]:
    """Return a row per round of CLIENTS concurrent requests, and resident memory before the first and after each."""
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    headers = {"authorization": f"Bearer {key}"}
    rows, memory = [], [round(process.memory_info().rss / _MIB, 1)]
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=120, limits=limits) as client:
        for number in range(1, ROUNDS + 1):
            progress(f"round {number} of {ROUNDS}")
            statuses: Counter[str] = Counter()
            seconds: list[float] = []
            await asyncio.gather(*(asked(client, statuses, seconds) for _ in range(CLIENTS)))
            cuts = statistics.quantiles(seconds, n=20, method="inclusive")
            rows.append(
                {
                    "round": number,
                    "at_once": CLIENTS,
                    "statuses": dict(statuses),
                    "p50_s": round(statistics.median(seconds), 2),
                    "p95_s": round(cuts[18], 2),
                }
            )
            memory.append(round(process.memory_info().rss / _MIB, 1))
    return rows, memory


if __name__ == "__main__":
    main(benchmark)
