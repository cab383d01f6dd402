"""Any sentence-transformers model, by name or path (extra `librarian[sentence-transformers]`, which brings torch)."""

import hashlib
import logging
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrieval.encoders.base import Space, Vectors, item_space, readable, unit_vectors
from retrieval.encoders.errors import EncoderMisconfigured
from retrieval.encoders.workers import Priority, Workers

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BATCH_SIZE = 16
"""Texts per job: a query waits for at most one job, and larger batches gain little on a CPU."""

_Model = Callable[[list[str]], Vectors]

# What models call their prompts: E5 and its kin write "passage", newer ones "document". The library would take
# an empty "document" before a written "passage".
_QUERY_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("passage", "document")
# Prefixes that E5 models need; those on the hub do not have them in their configuration.
_E5 = re.compile(r"(?:^|[-_])e5[-_](?!.*instruct)", re.IGNORECASE)
_E5_PROMPTS = {"query": "query: ", "passage": "passage: "}

logger = logging.getLogger("librarian.retrieval")


class SentenceTransformersEncoder:
    """Encodes with a model of the sentence-transformers library, with its query and passage prompts if it has any; E5
    models without them get theirs.

    `name` is a folder or a name on the Hugging Face Hub (HF_HUB_OFFLINE=1: the local cache only). Torch uses as many
    cores as OMP_NUM_THREADS allows. Loading blocks, possibly for a download. Raises EncoderMisconfigured.
    """

    def __init__(self, name: str) -> None:
        model = _load(name)
        if not any(model.prompts.values()):
            model.prompts |= prompts_by_name(Path(name).name)
        passage_prompt = _prompt(model, _PASSAGE_PROMPTS)
        options = {"batch_size": BATCH_SIZE, "show_progress_bar": False, "convert_to_numpy": True}
        query_prompt = _prompt(model, _QUERY_PROMPTS)
        self._encode_query: _Model = partial(model.encode_query, prompt_name=query_prompt, **options)
        self._encode_document: _Model = partial(model.encode_document, prompt_name=passage_prompt, **options)
        dimension = self._encode_document(["dimension"]).shape[1]
        self._space = item_space(Path(name).name or name, dimension, _revision(model, passage_prompt))
        # One thread: a model is not safe to call from several, and torch has its own for the work itself.
        self._workers = Workers(1, name="librarian-encoder")
        logger.info("encoder loaded: %s", self._space.id)

    @property
    def space(self) -> Space:
        """The model's embedding space; its revision hashes the weights, the modules and the passage prompt."""
        return self._space

    async def encode_query(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`, ahead of all waiting passages."""
        return await self._encode(Priority.QUERY, self._encode_query, texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`, in batches of similar length; queries may overtake."""
        return await self._encode(Priority.PASSAGE, self._encode_document, texts)

    def waiting(self) -> dict[str, int]:
        """Return the number of texts or batches waiting for a thread."""
        return self._workers.waiting()

    async def aclose(self) -> None:
        """Finish the running batch and end the thread; waiting ones raise EncoderUnavailable."""
        await self._workers.aclose()

    async def _encode(self, priority: Priority, model: _Model, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self._space.dimension), np.float32)
        by_length = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        for start in range(0, len(texts), BATCH_SIZE):
            positions = by_length[start : start + BATCH_SIZE]
            batch = [readable(texts[position]) for position in positions]
            vectors[positions] = await self._workers.run(priority, partial(model, batch))
        return unit_vectors(vectors, rows=len(texts), dimension=self._space.dimension)


def prompts_by_name(name: str) -> dict[str, str]:
    """Return the prompts that a model of this name needs although its configuration has none."""
    return dict(_E5_PROMPTS) if _E5.search(name) else {}


def _load(name: str) -> "SentenceTransformer":
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError:
        raise EncoderMisconfigured(
            "LIBRARIAN_ENCODER names a sentence-transformers model, but the library is missing; "
            "run: pip install 'librarian[sentence-transformers]'"
        ) from None
    try:
        return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise EncoderMisconfigured(
            f"the sentence-transformers model {name!r} cannot be loaded ({type(error).__name__}); check the name or "
            "path, and the network unless it lies in the local cache"
        ) from error


def _prompt(model: "SentenceTransformer", names: Sequence[str]) -> str | None:
    """Return the first of `names` for which the model's configuration has a text."""
    return next((name for name in names if model.prompts.get(name)), None)


def _revision(model: "SentenceTransformer", passage_prompt: str | None) -> str:
    digest = hashlib.sha256(repr(model).encode())
    digest.update(model.prompts[passage_prompt].encode() if passage_prompt else b"")
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()[:12]
