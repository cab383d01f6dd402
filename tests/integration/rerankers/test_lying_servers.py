"""The reranker against servers that answer, but not as they should: each is found out, none brings a search down."""

import asyncio
import json
import socket
from collections import Counter

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from retrieval.rerankers.base import UNKNOWN, RerankerConfig
from retrieval.rerankers.cache import CachedReranker
from retrieval.rerankers.cascade import RerankStatus, rerank_pool
from retrieval.rerankers.errors import (
    InvalidScores,
    RerankerError,
    RerankerMisconfigured,
    RerankerRejectedText,
    RerankerUnavailable,
)
from retrieval.rerankers.llama_server import AsyncLlamaServerReranker, LlamaServerReranker
from retrieval.rerankers.probe import examine
from retrieval.rerankers.protocol import Way


def chat(yes: object, no: object) -> bytes:
    """A completion whose first token lists yes and no with these logprobs; json.dumps writes NaN as servers do."""
    listed = [
        {"token": name, "bytes": list(name.encode()), "logprob": logprob}
        for name, logprob in (("yes", yes), ("no", no))
    ]
    token = {"token": "?", "bytes": [63], "logprob": -1.0, "top_logprobs": listed}
    return json.dumps({"choices": [{"message": {"content": "?"}, "logprobs": {"content": [token]}}]}).encode()


class LyingServer:
    """Answers each document with `answer(document)`; remembers connections and how many requests ran at once."""

    def __init__(self) -> None:
        self.url = ""
        self.answer = lambda _document: Response(chat(-0.1, -3.0))
        self.pause_s = 0.0
        self.peers: Counter[tuple[str, int]] = Counter()
        self.running = self.most_running = 0

    async def score(self, request: Request) -> Response:
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        self.peers[request.client] += 1
        user = (await request.json())["messages"][-1]["content"]
        await asyncio.sleep(self.pause_s)
        self.running -= 1
        return self.answer(user.rpartition("<Document>: ")[2])


@pytest.fixture
async def liar():
    """A server on a free port that knows chat only."""
    server = LyingServer()
    app = Starlette(routes=[Route("/v1/chat/completions", server.score, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    running = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    serving = asyncio.ensure_future(running.serve(sockets=[listener]))
    yield server
    running.should_exit = True
    running.force_exit = True
    await serving
    listener.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (chat(-0.1, -3.0), "constant"),
        (chat(float("nan"), float("nan")), "without a probability"),
        (chat(None, "x"), "without a probability"),
        (chat(10**400, 10**400), "without a probability"),
        (b'{"choices": [{"message": {"content": "\\ufffd"}}]}', "without a probability"),
        (b'{"choices": []}', "form of a chat"),
        (b"[]", "form of a chat"),
        (b"<html>", "form of a chat"),
        (b"", "form of a chat"),
        (b"\xff\xfe", "form of a chat"),
        (b"[" * 100_000, "form of a chat"),
    ],
)
async def test_the_probe_finds_a_lie_out(liar, opened, body, says):
    """Constant scores, NaN, garbage and nothing at all are named as what is wrong, and never raise anything else."""
    liar.answer = lambda _document: Response(body)
    with pytest.raises(InvalidScores, match=says):
        await examine(opened(RerankerConfig(liar.url)))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RerankerRejectedText),
        (403, RerankerMisconfigured),
        (404, RerankerMisconfigured),
        (302, RerankerMisconfigured),
        (429, RerankerUnavailable),
        (500, RerankerUnavailable),
        (501, RerankerMisconfigured),
    ],
)
async def test_each_status_has_its_error_without_the_server_s_words(liar, opened, status, error):
    """The meaning of a refusal is said in our words: the server's may quote texts."""
    liar.answer = lambda document: JSONResponse({"error": {"message": document}}, status, {"Retry-After": "7"})
    with pytest.raises(error) as refused:
        await opened(RerankerConfig(liar.url)).score_pair("q", "private words")
    assert "private" not in str(refused.value)
    if status == 429:
        assert refused.value.retry_after_s == 7


async def test_a_score_that_is_no_more_than_a_guess_changes_no_order(liar, opened):
    """When a candidate would be shown for a guess, the fused order stays; the guess is not kept, certain scores are."""
    asked: list[str] = []

    def answer(document: str) -> Response:
        asked.append(document)
        return Response(chat(-0.1, None) if document == "9" else chat(-0.1, -0.1 * float(document)))

    liar.answer = answer
    reranker = CachedReranker(opened(RerankerConfig(liar.url)))
    texts = [str(number) for number in range(10)]
    outcome = await rerank_pool(reranker, "q", texts, limit=4, deadline_s=60)
    assert (outcome.status, list(outcome.order)) == (RerankStatus.UNCERTAIN, list(range(10)))
    asked.clear()
    await rerank_pool(reranker, "q", texts, limit=4, deadline_s=60)
    assert asked == ["9"]


async def test_one_score_for_everything_changes_no_order(liar, opened):
    """A server that begins to say the same of all candidates is not followed."""
    outcome = await rerank_pool(opened(RerankerConfig(liar.url)), "q", list("abcdef"), limit=2, deadline_s=60)
    assert (outcome.status, outcome.reranked) == (RerankStatus.UNCERTAIN, False)


async def test_a_server_too_slow_for_the_deadline_leaves_the_fused_order(liar, opened):
    """A late reranker costs the deadline, not the search."""
    liar.pause_s = 60
    outcome = await rerank_pool(opened(RerankerConfig(liar.url)), "q", list("abcdef"), limit=2, deadline_s=0.2)
    assert (outcome.status, list(outcome.order)) == (RerankStatus.LATE, list(range(6)))


async def test_no_call_takes_longer_than_its_timeout(liar, opened):
    """The timeout holds for all pairs of a call together, in both clients."""
    liar.pause_s = 60
    config = RerankerConfig(liar.url, timeout_s=0.5, max_concurrent=2)
    with pytest.raises(RerankerUnavailable, match=r"within 0\.5 s"):
        await opened(config).score_pairs("q", list("abcdef"))
    synchronous = LlamaServerReranker(config)
    with pytest.raises(RerankerUnavailable):
        await asyncio.to_thread(synchronous.score_pairs, "q", list("abcdef"))
    await asyncio.to_thread(synchronous.close)


async def test_requests_are_bounded_and_connections_are_kept(liar, opened):
    """However many pairs, no more requests run than are allowed, over as many connections."""
    liar.pause_s = 0.05
    reranker = opened(RerankerConfig(liar.url, max_concurrent=3))
    await asyncio.gather(*(reranker.score_pairs("q", ["a", "b", "c", "d"]) for _ in range(10)))
    assert liar.most_running == 3
    assert liar.peers.total() == 40
    assert len(liar.peers) <= 4


async def test_a_server_without_llama_server_s_own_paths_is_asked_by_chat(liar, opened):
    """Other servers of the chat API have neither /props nor /apply-template."""
    setup = await opened(RerankerConfig(liar.url)).setup()
    assert (setup.way, setup.context_tokens) == (Way.CHAT, None)


@pytest.mark.parametrize("url", ["http://[", "http://exa mple", "ftp://127.0.0.1"])
async def test_an_address_that_cannot_be_is_a_setting_to_correct(opened, url):
    """It is an error of ours, which names the setting."""
    reranker = opened(RerankerConfig(url))
    assert not await reranker.is_available()
    with pytest.raises(RerankerError):
        await reranker.score_pair("q", "d")


async def test_a_kept_connection_that_was_closed_is_no_failure(opened):
    """A request that meets a connection which the server has just closed is sent once more."""
    served = Counter()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one request, and closes when the second one has come."""
        served["connections"] += 1
        for number in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
            await reader.readexactly(int(length.partition(b":")[2]))
            if number == 0:
                known = b"/v1/chat" in head
                status, body = (b"200 OK", chat(-0.1, -3.0)) if known else (b"404 Not Found", b"")
                writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        assert (await opened(RerankerConfig(f"http://{host}:{port}")).score_pair("q", "d")) != UNKNOWN
    assert served["connections"] == 4


@pytest.mark.parametrize("status", [400, 500])
async def test_a_text_that_the_server_fails_at_costs_its_own_score(liar, status):
    """Alone it is an error, among others a text without a score; both clients agree."""
    liar.answer = lambda document: Response(b"", status) if "poison" in document else Response(chat(-0.1, -3.0))
    config = RerankerConfig(base_url=liar.url)
    reranker = AsyncLlamaServerReranker(config)
    fine, poisoned, other = await reranker.score_pairs("q", ["one", "poison", "two"])
    assert fine.certain
    assert other == fine
    assert (poisoned.value, poisoned.certain) == (0.5, False)
    assert poisoned.fault == {400: "reranker_rejected_text", 500: "reranker_broke"}[status]
    with pytest.raises(RerankerError):
        await reranker.score_pair("q", "poison")
    await reranker.close()
    synchronous = LlamaServerReranker(config)
    assert await asyncio.to_thread(synchronous.score_pairs, "q", ["one", "poison"]) == [fine, poisoned]
    synchronous.close()
