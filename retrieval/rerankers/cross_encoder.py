"""A cross-encoder of the sentence-transformers library in this process (extra `librarian[sentence-transformers]`)."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from retrieval.rerankers import prompt
from retrieval.rerankers.base import PairScorer, RerankerConfig, Score, probability, scored
from retrieval.rerankers.errors import InvalidScores, RerankerError, RerankerMisconfigured, RerankerUnavailable

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_Predict = Callable[[list[tuple[str, str]]], Any]

logger = logging.getLogger("librarian.retrieval")


class CrossEncoderReranker(PairScorer):
    """Scores pairs on the CPU: with a model of one output (a classifier such as MiniLM), or a causal one such as
    Qwen3-Reranker.

    `name` is a folder or a name on the Hugging Face Hub (HF_HUB_OFFLINE=1: the local cache only). Torch uses as many
    cores as OMP_NUM_THREADS allows. Loading blocks, possibly for a download, and scores one pair. Raises RerankerError.
    """

    def __init__(self, name: str, config: RerankerConfig) -> None:
        self._config = config
        self._name = name
        model = _load(name)
        self._special: list[str] = [token for token in model.tokenizer.all_special_tokens if len(token) > 1]
        # Only a causal model reads an instruction; for others a prompt would count as part of the query.
        instruction = prompt.harmless(config.instruction, prompt.QUERY_BYTES) if _is_causal(model) else None
        self._predict: _Predict = partial(
            model.predict,
            prompt=instruction,
            batch_size=config.batch_size,
            show_progress_bar=False,
            activation_fn=_sigmoid,
        )
        _require_scores(self._predict)
        # One thread: a model is not safe to call from several, and torch has its own for the work itself.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="librarian-reranker")
        self._closed = False
        logger.info("cross-encoder loaded: %s", name)

    @property
    def batch_size(self) -> int:
        """Number of pairs of one step."""
        return self._config.batch_size

    async def identity(self) -> str:
        """Return the model and the instruction."""
        return "\0".join(("cross-encoder", self._name, self._config.instruction))

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order; other callers may run between batches."""
        shown = self._shown(query, prompt.QUERY_BYTES)
        pairs = [(shown, self._shown(document, prompt.DOCUMENT_BYTES)) for document in documents]
        scores: list[Score] = []
        try:
            async with asyncio.timeout(self._config.timeout_s):
                for at in range(0, len(pairs), self.batch_size):
                    scores += await self._batch(pairs[at : at + self.batch_size])
        except TimeoutError:
            raise RerankerUnavailable(f"the cross-encoder did not end within {self._config.timeout_s:g} s") from None
        return scores

    async def is_available(self) -> bool:
        """Return whether it is open."""
        return not self._closed

    async def close(self) -> None:
        """Finish the running batch and end the thread."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _batch(self, pairs: list[tuple[str, str]]) -> list[Score]:
        if self._closed:
            raise RerankerUnavailable("the cross-encoder is closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, _each_scored, self._predict, pairs)

    def _shown(self, text: str, most_bytes: int) -> str:
        """Return `text` without control tokens that the model's tokenizer would recognise in it."""
        shown = prompt.harmless(text, most_bytes)
        for token in self._special:
            shown = shown.replace(token, f"{token[0]} {token[1:]}")
        return shown


def _load(name: str) -> "CrossEncoder":
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError:
        raise RerankerMisconfigured(
            "RERANKER_MODEL names a cross-encoder, but the library is missing; "
            "run: pip install 'librarian[sentence-transformers]'"
        ) from None
    try:
        model = CrossEncoder(name, device="cpu")
    except (OSError, ValueError) as error:
        raise RerankerMisconfigured(
            f"the cross-encoder {name!r} cannot be loaded ({type(error).__name__}); check the name or path in "
            "RERANKER_MODEL, and the network unless it lies in the local cache"
        ) from error
    _require_usable(name, model)
    return model


def _require_usable(name: str, model: "CrossEncoder") -> None:
    if _is_causal(model):
        if not model.tokenizer.chat_template:
            # It would receive query and document in one piece, without instructions.
            raise RerankerMisconfigured(f"the causal model {name!r} has no chat template for a query and a document")
    elif model.num_labels != 1:
        raise RerankerMisconfigured(f"the model {name!r} gives {model.num_labels} values a pair; a reranker gives one")


def _is_causal(model: "CrossEncoder") -> bool:
    """Return whether it scores by the logits of yes and no."""
    from sentence_transformers.cross_encoder.modules import LogitScore

    return any(isinstance(module, LogitScore) for module in model)


def _require_scores(predict: _Predict) -> None:
    """Score one pair, which reveals a template without placeholders for a query and a document."""
    _scores(predict, [("query", "document")])


def _each_scored(predict: _Predict, pairs: list[tuple[str, str]]) -> list[Score]:
    """Return the scores of a batch, one by one if the model fails on it as a whole."""
    try:
        return _scores(predict, pairs)
    except InvalidScores:
        found: list[Score | RerankerError] = []
        for pair in pairs:
            try:
                found += _scores(predict, [pair])
            except InvalidScores as error:
                found.append(error)
        return scored(found)


def _scores(predict: _Predict, pairs: list[tuple[str, str]]) -> list[Score]:
    try:
        values = [probability(float(value)) for value in predict(pairs)]
    except (ValueError, TypeError, IndexError, RuntimeError) as error:
        raise InvalidScores(f"the cross-encoder cannot score these texts ({type(error).__name__})") from error
    scores = [Score(value) for value in values if value is not None]
    if len(scores) != len(pairs):
        raise InvalidScores(f"the cross-encoder returned {len(scores)} usable scores for {len(pairs)} texts")
    return scores


def _sigmoid(logits: Any) -> Any:
    """Return every model's raw output as a probability: some are saved with another activation, or with none."""
    return logits.sigmoid()
