"""The default encoder: BGE-small-en-v1.5 in int8, run by onnxruntime, without torch.

Each choice was measured on development data: 385 answerable LoCoMo questions over 1,451 turns, a corpus a conversation,
published + audited evidence; 200 multi-document questions over 2,598 Wikipedia paragraphs. Exact cosine; recall:

| pooling, query            | "Speaker: text [caption]" @5 / @10 / @20 | "Speaker: text" @10 | paragraphs @2 / @10 |
|---------------------------|------------------------------------------|---------------------|---------------------|
| first token, plain        | .526 / .644 / .744                       | .615                | .612 / .818         |
| first token, instruction  | .518 / .632 / .756                       | .617                | .624 / .808         |
| **mean of tokens, plain** | **.568 / .669 / .767**                   | .648                | .617 / .821         |
| mean, instruction         | .544 / .667 / .754                       | .660                | .620 / .819         |

- Mean pooling, although the model was trained for the first token: better or equal on both, probably since a mean
  suffers less from rounding to int8.
- No query instruction ("Represent this sentence for searching relevant passages: "): no gain in Librarian's text form.
- Each text runs alone. The model scales its activations by the whole batch, so that in a batch a vector depends on the
  other texts (cosine to the vector alone down to .990): the same text would get another vector on every ingest.
  Alone there is no padding either, and little to lose: on 2 cores 451 turns/s alone in two threads; 477/s in sorted
  batches of 8 over two intra-op threads. One thread: 210-254 alone, 250-280 in batches.
- So `threads` are workers with one text at a time: a query (2.5 ms, p95 3.0) waits for a text that is running (4 ms a
  turn, 150 ms at 512 tokens), never for a batch.
"""

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrieval.encoders.base import Space, Vectors, item_space, readable, unit_vectors
from retrieval.encoders.errors import EncoderMisconfigured
from retrieval.encoders.workers import Priority, Workers

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

DEFAULT_MODEL = "bge-small-en-v1.5-q"
MAX_TOKENS = 512
"""Tokens of one text that the model reads, special tokens included; the rest is cut off."""

# More threads would take cores from Neo4j, which shares the machine, for an ingest that then waits for it.
_MOST_THREADS = 4
_POOLING = "mean"
_LOG_ERRORS_ONLY = 3

logger = logging.getLogger("librarian.retrieval")


class OnnxEncoder:
    """Encodes with `<model>.onnx` and `<model>-tokenizer.json` of a folder, a BERT-like model with a last hidden state.

    `threads` worker threads, 0 for as many as the machine has cores, at most 4. The same text always gets the same
    vector. Raises EncoderMisconfigured when the files are missing or damaged. Loading takes about 0.3 s and blocks.
    """

    def __init__(self, folder: Path, *, model: str = DEFAULT_MODEL, threads: int = 0) -> None:
        weights, vocabulary = folder / f"{model}.onnx", folder / f"{model}-tokenizer.json"
        revision = _revision(weights, vocabulary)
        self._tokenizer = _load_tokenizer(vocabulary)
        self._session = _load_session(weights)
        self._inputs = {each.name for each in self._session.get_inputs()}
        dimension = int(self._session.get_outputs()[0].shape[-1])
        self._space = item_space(model, dimension, revision)
        self._workers = Workers(threads or default_threads(), name="librarian-encoder")
        logger.info("encoder loaded: %s", self._space.id)

    @property
    def space(self) -> Space:
        """The model's embedding space; its revision hashes both files and the pooling."""
        return self._space

    async def encode_query(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`, ahead of all waiting passages."""
        return await self._encode(Priority.QUERY, texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`; queries may overtake."""
        return await self._encode(Priority.PASSAGE, texts)

    def waiting(self) -> dict[str, int]:
        """Return the number of texts or batches waiting for a thread."""
        return self._workers.waiting()

    async def aclose(self) -> None:
        """Finish the running texts and end the threads; waiting ones raise EncoderUnavailable."""
        await self._workers.aclose()

    async def _encode(self, priority: Priority, texts: Sequence[str]) -> Vectors:
        pooled = await asyncio.gather(*(self._workers.run(priority, partial(self._embed, text)) for text in texts))
        raw = np.stack(pooled) if pooled else np.empty((0, self._space.dimension), np.float32)
        return unit_vectors(raw, rows=len(texts), dimension=self._space.dimension)

    def _embed(self, text: str) -> Vectors:
        """Return the mean of the last hidden states of one text, shape (dimension,), any length. Runs in a worker
        thread.
        """
        encoding = self._tokenizer.encode(readable(text))
        feed = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        tensors = {name: np.array([ids], np.int64) for name, ids in feed.items() if name in self._inputs}
        hidden: Vectors = self._session.run(None, tensors)[0]
        pooled: Vectors = hidden[0].mean(axis=0)
        return pooled


def default_threads() -> int:
    """Return as many threads as cores, at most 4."""
    return min(os.cpu_count() or 1, _MOST_THREADS)


def _revision(*files: Path) -> str:
    digest = hashlib.sha256(_POOLING.encode())
    for file in files:
        try:
            digest.update(file.read_bytes())
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EncoderMisconfigured(
                f"the encoder's file {file.name} cannot be read ({reason}); remove its folder and start again"
            ) from None
    return digest.hexdigest()[:12]


def _load_tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    text = path.read_text(encoding="utf-8")
    try:
        # The tokenizer's own parser raises a bare Exception; a file that was cut off shows here already.
        json.loads(text)
    except ValueError:
        raise _damaged(path) from None
    tokenizer = Tokenizer.from_str(text)
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def _load_session(path: Path) -> "InferenceSession":
    # Read when the library loads; its disable_telemetry_events() comes too late for the first upload (measured).
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf

    options = onnxruntime.SessionOptions()
    # One core per text: the workers run concurrently.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Every length is another shape, so a memory plan for a shape is rarely reused.
    options.enable_mem_pattern = False
    options.log_severity_level = _LOG_ERRORS_ONLY
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (Fail, InvalidGraph, InvalidProtobuf):
        raise _damaged(path) from None


def _damaged(path: Path) -> EncoderMisconfigured:
    return EncoderMisconfigured(f"the encoder's file {path.name} is damaged; remove its folder and start again")
