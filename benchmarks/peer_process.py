"""mcp-memory-service in its own process and environment, which `benchmarks.peers` creates.

Arguments: a folder for its store, and its model's folder. Each line of the input is a JSON object:
`{"store": [[id, text], …]}` is answered with the seconds it took, `{"query": text, "limit": n}` with the found ids and
the milliseconds of the search, wall-clock and processor.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.utils.hashing import generate_content_hash

_AT_ONCE = 100


async def store(storage: Any, turns: list[tuple[str, str]]) -> float:
    """Store turns, with their ids as tags; return the seconds."""
    started = time.perf_counter()
    for at in range(0, len(turns), _AT_ONCE):
        batch = [
            Memory(content=text, content_hash=generate_content_hash(f"{uid} {text}"), tags=[uid])
            for uid, text in turns[at : at + _AT_ONCE]
        ]
        stored = await storage.store_batch(batch)
        if not all(done for done, _ in stored):
            raise SystemExit(f"not stored: {[why for done, why in stored if not done][:3]}")
    return time.perf_counter() - started


async def search(storage: Any, query: str, limit: int) -> dict[str, Any]:
    """Search by words and meaning; return the ids, best first, and the milliseconds, wall-clock and processor."""
    started, worked = time.perf_counter(), time.process_time()
    results = await storage.retrieve_hybrid(query, n_results=limit)
    milliseconds, processor = (time.perf_counter() - started) * 1000, (time.process_time() - worked) * 1000
    return {"ids": [result.memory.tags[0] for result in results], "ms": milliseconds, "processor_ms": processor}


async def main() -> None:
    """Answer line by line until the input ends."""
    folder, model = sys.argv[1:]
    storage = SqliteVecMemoryStorage(str(Path(folder) / "memories.db"), embedding_model=model)
    await storage.initialize()
    for line in sys.stdin:
        asked = json.loads(line)
        if "store" in asked:
            answer: dict[str, Any] = {"seconds": await store(storage, asked["store"])}
        else:
            answer = await search(storage, asked["query"], asked["limit"])
        print(json.dumps(answer), flush=True)


asyncio.run(main())
