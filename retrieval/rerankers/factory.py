"""Creates a reranker from a configuration."""

import asyncio
from collections.abc import Callable, Mapping

from retrieval.rerankers.base import Reranker, RerankerConfig
from retrieval.rerankers.cross_encoder import CrossEncoderReranker
from retrieval.rerankers.llama_server import AsyncLlamaServerReranker

CROSS_ENCODER = "cross-encoder:"


async def reranker_from_config(config: RerankerConfig, headers: Callable[[], Mapping[str, str]] = dict) -> Reranker:
    """Return the reranker that `config` names; a local model loads in a thread. Each request to a server also carries
    `headers`. Raises RerankerMisconfigured.
    """
    if config.model.startswith(CROSS_ENCODER):
        return await asyncio.to_thread(CrossEncoderReranker, config.model.removeprefix(CROSS_ENCODER), config)
    return AsyncLlamaServerReranker(config, headers)
