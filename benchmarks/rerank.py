"""Twenty pairs through each reranker: a cross-encoder of MiniLM's shape in this process, and a real llama-server.

Both have random weights, which take as long as trained ones. A word is one token to the cross-encoder. The server's
model is tiny but reads bytes, 500 per pair: its rows show the overhead of the transport, not the time of a real model.
Rows whose dependencies are not installed are skipped and listed in `missing`.
"""

import asyncio
import contextlib
import importlib
import importlib.util
import random
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import Timing, main, measure, report, sentence
from retrieval.rerankers.base import Reranker, RerankerConfig
from retrieval.rerankers.cache import CachedReranker
from retrieval.rerankers.cascade import rerank_pool
from retrieval.rerankers.factory import reranker_from_config

PAIRS = 20
RUNS = 15
# Words per document: a message, and a long text.
SHORT, LONG = 30, 120
_SERVER = Path(__file__).parents[1] / "tests" / "integration" / "rerankers"
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def save_minilm(folder: Path) -> None:
    """A BERT of MiniLM-L6's shape whose vocabulary is the benchmarks' words."""
    words = sorted(set(sentence(random.Random(0), 10_000).split()))
    transformers: Any = importlib.import_module("transformers")
    (folder / "vocab.txt").write_text("\n".join([*_SPECIAL, *words]), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    shape = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, num_labels=1
    )
    transformers.BertForSequenceClassification(shape).save_pretrained(folder)


@asynccontextmanager
async def cross_encoder(folder: Path) -> AsyncIterator[Reranker]:
    """The cross-encoder; a batch is all pairs, as no partial result is needed here."""
    await asyncio.to_thread(save_minilm, folder)
    reranker = await reranker_from_config(RerankerConfig(model=f"cross-encoder:{folder}", batch_size=PAIRS))
    yield reranker
    await reranker.close()


@contextmanager
def llama_server(folder: Path) -> Iterator[str]:
    """The address of a server with a tiny model."""
    model = folder / "tiny.gguf"
    subprocess.run([sys.executable, _SERVER / "tiny_gguf.py", model], check=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, str(_SERVER / "llama_process.py"), str(model), str(port), "{}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Reranker]:
    """The client of a ready server."""
    with llama_server(folder) as url:
        reranker = await reranker_from_config(RerankerConfig(base_url=url))
        async with asyncio.timeout(60):
            while not await reranker.is_available():
                await asyncio.sleep(0.05)
        yield reranker
        await reranker.close()


async def rows_of(what: str, reranker: Reranker, *lengths: int) -> list[Timing]:
    """Latency of pairs that are always new, and of a cascade with cached scores."""
    source = random.Random(1)
    rows = []
    for length in lengths:

        async def fresh(_: int, length: int = length) -> None:
            await reranker.score_pairs(sentence(source, 8), [sentence(source, length) for _ in range(PAIRS)])

        rows.append(await measure(f"{what}, {PAIRS} pairs, {length} words", fresh, runs=RUNS, warmup=3))
    cached, texts = CachedReranker(reranker), [sentence(source, SHORT) for _ in range(PAIRS)]

    async def again(_: int) -> None:
        await rerank_pool(cached, "query", texts, limit=7, deadline_s=60)

    rows.append(await measure(f"{what}, cascade over {PAIRS}, scores known", again, runs=RUNS, warmup=2))
    return rows


async def benchmark() -> None:
    """Run whatever is installed."""
    rows: list[Timing] = []
    missing = [name for name in ("sentence_transformers", "xllamacpp", "gguf") if not importlib.util.find_spec(name)]
    with TemporaryDirectory(prefix="librarian-bench-") as folder:
        async with contextlib.AsyncExitStack() as stack:
            if "sentence_transformers" not in missing:
                reranker = await stack.enter_async_context(cross_encoder(Path(folder)))
                rows += await rows_of("cross-encoder of MiniLM-L6's shape", reranker, SHORT, LONG)
            if not {"xllamacpp", "gguf"} & set(missing):
                reranker = await stack.enter_async_context(served(Path(folder)))
                rows += await rows_of("llama-server, tiny model", reranker, SHORT)
    report("rerank", rows, missing=missing)


if __name__ == "__main__":
    main(benchmark)
