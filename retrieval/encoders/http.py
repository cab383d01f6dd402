"""Any server that speaks OpenAI's embeddings API: llama-server, vLLM, TEI, an AI router."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import numpy as np
import stamina

from retrieval.encoders.base import Space, Vectors, item_space, readable, short_hash, unit_vectors
from retrieval.encoders.errors import (
    EncoderMisconfigured,
    EncoderRejectedText,
    EncoderUnavailable,
    InvalidVectors,
)

BATCH_SIZE = 32
"""Texts per request: what common servers accept by default."""

TIMEOUT_S = 30.0
"""For each step of one request: connecting, sending, waiting for the next bytes."""

ATTEMPTS = 4
LONGEST_PAUSE_S = 10.0
"""A server that requests a longer pause (Retry-After) counts as unavailable at once: a caller is waiting."""

_BUSY = (429, 503)
_REFUSED_TEXT = (400, 413, 422)
_NOT_ALLOWED = (401, 403)


class HttpEncoder:
    """Encodes through an embeddings server; created by `connect`.

    Requests that fail without a connection or with 429 or 503 are retried, four attempts in all, honouring Retry-After.
    The space is named after the model alone, so that a server may move.
    """

    def __init__(self, endpoint: "Endpoint", space: Space) -> None:
        self._endpoint = endpoint
        self._space = space

    @classmethod
    async def connect(cls, base_url: str, model: str, *, api_key: str | None = None) -> Self:
        """Return an encoder whose dimension is learned from one request. Raises EncoderError if that fails."""
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        async with AsyncExitStack() as on_failure:
            client = await on_failure.enter_async_context(httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S))
            endpoint = Endpoint(client, embeddings_url(base_url), model)
            (vector,) = await endpoint.embed(["dimension"])
            if not isinstance(vector, list) or not vector:
                raise InvalidVectors("the embeddings server returned no list of numbers")
            on_failure.pop_all()
        return cls(endpoint, item_space(model, len(vector), short_hash(model)))

    @property
    def space(self) -> Space:
        """The model's embedding space."""
        return self._space

    async def encode_query(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`; this API does not distinguish queries and passages."""
        return await self.encode_passages(texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of `texts`, one request at a time for 32 of them each."""
        dimension = self._space.dimension
        vectors = np.empty((len(texts), dimension), np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            raw = await self._endpoint.embed(batch)
            vectors[start : start + len(batch)] = unit_vectors(raw, rows=len(batch), dimension=dimension)
        return vectors

    def waiting(self) -> dict[str, int]:
        """Return nothing: requests wait at the server."""
        return {}

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.client.aclose()


class Endpoint:
    """One model behind one address: requests, retries and parsing of responses."""

    def __init__(self, client: httpx.AsyncClient, url: str, model: str) -> None:
        self.client = client
        self._url = url
        self._model = model

    async def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return the `embedding` of each text as the server sent it, in the order of `texts`."""
        # An empty string is an error to most servers.
        body = {"model": self._model, "input": [readable(text) or " " for text in texts]}
        async for attempt in stamina.retry_context(on=_pause, attempts=ATTEMPTS, timeout=None, wait_initial=0.2):
            with attempt:
                answer = await self._post(body)
        return _in_order(answer, len(texts))

    async def _post(self, body: dict[str, Any]) -> httpx.Response:
        try:
            response = await self.client.post(self._url, json=body)
        except httpx.InvalidURL:
            raise EncoderMisconfigured("LIBRARIAN_ENCODER: the address of the embeddings server is not valid") from None
        except httpx.TimeoutException:
            raise EncoderUnavailable(f"the embeddings server did not answer within {TIMEOUT_S:g} s") from None
        except httpx.TransportError as error:
            raise _TryAgain(
                f"the embeddings server does not answer ({type(error).__name__}); start it, or check LIBRARIAN_ENCODER"
            ) from None
        _check_status(response)
        return response


class _TryAgain(EncoderUnavailable):
    """The embeddings server is busy or cannot be reached; it may have said for how long."""

    def __init__(self, message: str, retry_after: str | None = None) -> None:
        super().__init__(message)
        self.pause_s = float(retry_after) if retry_after and retry_after.isdecimal() else None


def embeddings_url(base_url: str) -> str:
    """Return the address to post to: as given if it ends in /embeddings, under /v1 if the base URL has no path."""
    base = base_url.rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return f"{base}/embeddings" if urlsplit(base).path else f"{base}/v1/embeddings"


def _pause(error: Exception) -> bool | float:
    """Return whether to retry, or the seconds to wait first; stamina's backoff hook."""
    if not isinstance(error, _TryAgain):
        return False
    if error.pause_s is None:
        return True
    return error.pause_s if error.pause_s <= LONGEST_PAUSE_S else False


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status in _BUSY:
        message = f"the embeddings server is busy (status {status}); try again in a few seconds"
        raise _TryAgain(message, response.headers.get("Retry-After"))
    if status in _NOT_ALLOWED:
        raise EncoderMisconfigured(
            f"the embeddings server refuses the key (status {status}); check LIBRARIAN_ENCODER_API_KEY"
        )
    if status in _REFUSED_TEXT:
        raise EncoderRejectedText(
            f"the embeddings server refuses the texts (status {status}); check that the model's context holds "
            "512 tokens and that its batches hold 32 texts"
        )
    if response.is_server_error:
        raise EncoderUnavailable(f"the embeddings server failed (status {status}); look at its log")
    if status != httpx.codes.OK:
        raise EncoderMisconfigured(
            f"the embeddings server answers with status {status}; check the address and the model in LIBRARIAN_ENCODER"
        )


def _in_order(response: httpx.Response, count: int) -> list[Any]:
    """Return the vectors by the response's `index`, each exactly once; servers may answer out of order."""
    try:
        by_index = {entry["index"]: entry["embedding"] for entry in response.json()["data"]}
    except (ValueError, KeyError, TypeError):
        raise InvalidVectors("the server's answer has not the form of OpenAI's embeddings API") from None
    if by_index.keys() != set(range(count)):
        raise InvalidVectors(f"the embeddings server returned {len(by_index)} vectors for {count} texts")
    return [by_index[index] for index in range(count)]
