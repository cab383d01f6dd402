"""A Qwen3 reranker behind llama-server or a server with its chat API, for asynchronous and synchronous callers."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import httpx

from retrieval.rerankers.base import PairScorer, Ranked, RerankerConfig, Score, ranked, scored
from retrieval.rerankers.errors import RerankerError, RerankerMisconfigured, RerankerUnavailable
from retrieval.rerankers.parse import Answer
from retrieval.rerankers.probe import discover
from retrieval.rerankers.protocol import Call, Setup, Talk, identity_of, talks

T = TypeVar("T")

logger = logging.getLogger("librarian.retrieval")

HEALTH_TIMEOUT_S = 2.0

# llama-server closes a connection that has been idle for 5 s.
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_KEEPALIVE_S = 4.0
# Signs of a kept connection that the server had closed: the request is worth sending once more.
_STALE = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)
_FAULTS = (httpx.RequestError, httpx.InvalidURL)


class AsyncLlamaServerReranker(PairScorer):
    """Scores pairs by the probability that the model says yes, at most `max_concurrent` requests at once.

    The server is examined (template, context) before the first score, and again after it was away. Raises
    RerankerError; no call takes longer than `timeout_s`. `headers` returns further headers of each request.
    """

    def __init__(self, config: RerankerConfig, headers: Callable[[], Mapping[str, str]] = dict) -> None:
        self._config = config
        self._headers = headers
        self._client = httpx.AsyncClient(**_options(config))
        self._slots = asyncio.Semaphore(config.max_concurrent)
        self._setup: Setup | None = None

    @property
    def batch_size(self) -> int:
        """Number of pairs of one step."""
        return self._config.batch_size

    async def setup(self) -> Setup:
        """Return how to query the server, determined on first use."""
        async with self._guarded():
            return await self._known()

    async def identity(self) -> str:
        """Return model and template of the server, the way it is queried, and the instruction."""
        return identity_of(self._config, await self.setup())

    async def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order."""
        async with self._guarded():
            work = talks(self._config, await self._known(), query, documents)
            return scored(_joined(await _all([self._run(talk) for talk in work])))

    async def is_available(self) -> bool:
        """Return whether the server is up and has loaded its model."""
        with contextlib.suppress(*_FAULTS):
            return (await self._client.get("/health", timeout=HEALTH_TIMEOUT_S)).status_code == httpx.codes.OK
        return False

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @contextlib.asynccontextmanager
    async def _guarded(self) -> AsyncIterator[None]:
        """Apply the deadline of one call. A server that was away may come back as another one."""
        try:
            async with asyncio.timeout(self._config.timeout_s):
                yield
        except TimeoutError:
            self._setup = None
            raise _late(self._config) from None
        except RerankerUnavailable:
            self._setup = None
            raise

    async def _known(self) -> Setup:
        if self._setup is None:
            self._setup = await self._run(discover(self._config))
            _report(self._setup)
        return self._setup

    async def _run(self, talk: Talk[T]) -> T:
        call = next(talk)
        while True:
            answer = await self._send(call)
            try:
                call = talk.send(answer)
            except StopIteration as done:
                result: T = done.value
                return result

    async def _send(self, call: Call) -> Answer:
        async with self._slots:
            try:
                return await self._request(call)
            except _FAULTS as error:
                raise _failure(error) from None

    async def _request(self, call: Call) -> Answer:
        send = partial(self._client.request, _method(call), call.path, json=call.body, headers=self._headers())
        try:
            response = await send()
        except _STALE:
            response = await send()
        return _answer(response)


class LlamaServerReranker:
    """The reranker for synchronous callers, with as many threads; may be used from several threads at once."""

    def __init__(self, config: RerankerConfig) -> None:
        self._config = config
        self._client = httpx.Client(**_options(config))
        self._threads = ThreadPoolExecutor(config.max_concurrent, thread_name_prefix="librarian-reranker")
        self._setup: Setup | None = None

    def score_pair(self, query: str, document: str) -> Score:
        """Return the score of one document."""
        (score,) = self.score_pairs(query, [document])
        return score

    def score_pairs(self, query: str, documents: Sequence[str]) -> list[Score]:
        """Return the scores of `documents`, in order."""
        ends_at = time.monotonic() + self._config.timeout_s
        with self._guarded():
            work = talks(self._config, self._known(ends_at), query, documents)
            running = [self._threads.submit(self._run, talk, ends_at) for talk in work]
            try:
                return scored(_joined([task.result(_left(ends_at)) for task in running]))
            finally:
                for task in running:
                    task.cancel()

    def rerank(
        self, query: str, items: Sequence[T], text_extractor: Callable[[T], str], top_k: int | None = None
    ) -> list[Ranked[T]]:
        """Return the best `top_k` items (None: all), best first; equal scores keep their order."""
        scores = self.score_pairs(query, [text_extractor(item) for item in items])
        return ranked(items, scores, top_k)

    def is_available(self) -> bool:
        """Return whether the server is up and has loaded its model."""
        with contextlib.suppress(*_FAULTS):
            return self._client.get("/health", timeout=HEALTH_TIMEOUT_S).status_code == httpx.codes.OK
        return False

    def close(self) -> None:
        """End the threads and close the connections."""
        self._threads.shutdown(cancel_futures=True)
        self._client.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self._setup = None
            raise _late(self._config) from None
        except RerankerUnavailable:
            self._setup = None
            raise

    def _known(self, ends_at: float) -> Setup:
        if self._setup is None:
            self._setup = self._run(discover(self._config), ends_at)
            _report(self._setup)
        return self._setup

    def _run(self, talk: Talk[T], ends_at: float) -> T:
        call = next(talk)
        while True:
            answer = self._send(call, ends_at)
            try:
                call = talk.send(answer)
            except StopIteration as done:
                result: T = done.value
                return result

    def _send(self, call: Call, ends_at: float) -> Answer:
        try:
            return self._request(call, ends_at)
        except _FAULTS as error:
            raise _failure(error) from None

    def _request(self, call: Call, ends_at: float) -> Answer:
        try:
            response = self._client.request(_method(call), call.path, json=call.body, timeout=_left(ends_at))
        except _STALE:
            response = self._client.request(_method(call), call.path, json=call.body, timeout=_left(ends_at))
        return _answer(response)


def server_url(base_url: str) -> str:
    """Return the server's root: addresses of OpenAI-compatible servers are often given with their /v1."""
    return base_url.rstrip("/").removesuffix("/v1")


def _options(config: RerankerConfig) -> dict[str, Any]:
    return {
        "base_url": server_url(config.base_url),
        "headers": _authorization(config.api_key),
        "timeout": config.timeout_s,
        # Servers on this machine are reached without its outbound proxy.
        "trust_env": httpx.URL(config.base_url).host not in _THIS_MACHINE,
        "limits": httpx.Limits(
            max_connections=config.max_concurrent + 1,  # one for is_available
            max_keepalive_connections=config.max_concurrent,
            keepalive_expiry=_KEEPALIVE_S,
        ),
    }


def _authorization(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        raise RerankerMisconfigured("RERANKER_API_KEY holds characters that cannot be sent")
    return {"Authorization": f"Bearer {api_key}"}


def _method(call: Call) -> str:
    return "GET" if call.body is None else "POST"


def _report(setup: Setup) -> None:
    logger.info("reranker's server: asked by %s, %s tokens of context", setup.way, setup.context_tokens or "unknown")


def _answer(response: httpx.Response) -> Answer:
    retry_after = response.headers.get("Retry-After", "")
    return Answer(response.status_code, response.content, int(retry_after) if retry_after.isdecimal() else None)


def _failure(error: Exception) -> RerankerError:
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return RerankerMisconfigured("RERANKER_BASE_URL is not a valid address")
    if isinstance(error, httpx.TimeoutException):
        return RerankerUnavailable("the reranker's server did not answer in time")
    return RerankerUnavailable(f"the reranker's server does not answer ({type(error).__name__})")


def _late(config: RerankerConfig) -> RerankerError:
    return RerankerUnavailable(f"the reranker's server did not answer within {config.timeout_s:g} s")


def _left(ends_at: float) -> float:
    """Return the seconds until then. Raises TimeoutError if there are none."""
    if (left := ends_at - time.monotonic()) <= 0:
        raise TimeoutError
    return left


def _joined(parts: Iterable[list[T]]) -> list[T]:
    return [each for part in parts for each in part]


async def _all(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results, or raise the first error without waiting for the others."""
    tasks = [asyncio.ensure_future(task) for task in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
