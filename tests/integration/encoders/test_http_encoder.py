"""The HTTP encoder against a real server on this machine."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import stamina
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from retrieval.encoders.errors import (
    EncoderMisconfigured,
    EncoderRejectedText,
    EncoderUnavailable,
    InvalidVectors,
)
from retrieval.encoders.factory import encoder_from_spec
from retrieval.encoders.http import ATTEMPTS, HttpEncoder

Answer = Callable[[list[str]], Response]


def vector(text: str) -> list[float]:
    """Three numbers that tell texts of different lengths apart; not of unit length."""
    return [float(len(text)), 1.0, 2.0]


def embeddings(texts: list[str]) -> Response:
    """A valid answer, last text first: the order is the client's business."""
    data = [{"index": index, "embedding": vector(text)} for index, text in enumerate(texts)]
    return JSONResponse({"data": data[::-1]})


class EmbeddingsServer:
    """Gives the scripted answers one by one, then valid ones; remembers what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.script: list[Answer] = []
        self.bodies: list[dict[str, Any]] = []
        self.authorization: str | None = None

    async def embed(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        self.authorization = request.headers.get("Authorization")
        answer = self.script.pop(0) if self.script else embeddings
        return answer(body["input"])


@pytest.fixture
async def server():
    """A server on a free port."""
    scripted = EmbeddingsServer()
    app = Starlette(routes=[Route("/v1/embeddings", scripted.embed, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    scripted.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    uvicorn_server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    serving = asyncio.ensure_future(uvicorn_server.serve(sockets=[listener]))
    yield scripted
    uvicorn_server.should_exit = True
    await serving
    listener.close()


@pytest.fixture
async def encoder(server):
    """An encoder that has learnt the server's dimension."""
    ready = await HttpEncoder.connect(server.url, "tiny", api_key="s3cret")
    yield ready
    await ready.aclose()


@pytest.fixture
def no_pauses() -> Iterator[None]:
    """Retries as many as in production, without their pauses."""
    with stamina.set_testing(True, attempts=ATTEMPTS, cap=True):
        yield


def status(code: int, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _texts: PlainTextResponse("the body quotes: private words", code, headers=named)


def data(*entries: object) -> Answer:
    return lambda _texts: JSONResponse({"data": list(entries)})


async def test_the_dimension_is_learnt_and_the_key_is_sent(server):
    """The factory's http form asks for one vector, with the key, at /v1/embeddings."""
    encoder = await encoder_from_spec(f"http:{server.url}#tiny", api_key="s3cret")
    assert encoder is not None
    assert (encoder.space.model, encoder.space.dimension) == ("tiny", 3)
    assert server.authorization == "Bearer s3cret"
    assert server.bodies[0]["model"] == "tiny"
    await encoder.aclose()


async def test_the_order_and_the_length_of_vectors_are_repaired(encoder):
    """An answer in another order gets the texts' order back, and rows get unit length."""
    texts = ["a" * length for length in (5, 1, 3)]
    vectors = await encoder.encode_query(texts)
    expected = np.array([vector(text) for text in texts])
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))


async def test_many_texts_go_in_several_requests(server, encoder):
    """No request holds more than 32 texts, and an empty or unwritable text is replaced before it is sent."""
    vectors = await encoder.encode_passages(["", "\ud800"] + ["text"] * 68)
    assert vectors.shape == (70, 3)
    assert [len(body["input"]) for body in server.bodies[1:]] == [32, 32, 6]
    assert server.bodies[1]["input"][:2] == [" ", "\ufffd"]


@pytest.mark.parametrize("busy", [429, 503])
async def test_a_busy_server_is_asked_again(server, encoder, no_pauses, busy):
    """429 and 503 are repeated until an answer comes."""
    server.script = [status(busy)] * 3
    assert (await encoder.encode_query(["text"])).shape == (1, 3)


async def test_a_server_that_stays_busy_is_unavailable(server, encoder, no_pauses):
    """After four attempts the caller hears that trying later may help."""
    server.script = [status(503)] * 9
    with pytest.raises(EncoderUnavailable, match="busy") as given_up:
        await encoder.encode_query(["text"])
    assert given_up.value.retryable
    assert len(server.bodies) == 1 + ATTEMPTS


async def test_retry_after_sets_the_pause(server, encoder):
    """The pause is the one that the server asks for: none here, although the usual first one is longer."""
    server.script = [status(429, Retry_After="0")] * 3
    async with asyncio.timeout(30):
        await encoder.encode_query(["text"])
    assert len(server.bodies) == 5


async def test_a_long_retry_after_is_not_waited_for(server, encoder):
    """A server that wants an hour is reported as unavailable after one request."""
    server.script = [status(429, Retry_After="3600")]
    with pytest.raises(EncoderUnavailable):
        await encoder.encode_query(["text"])
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (status(401), EncoderMisconfigured, "LIBRARIAN_ENCODER_API_KEY"),
        (status(403), EncoderMisconfigured, "LIBRARIAN_ENCODER_API_KEY"),
        (status(404), EncoderMisconfigured, "the address and the model"),
        (status(400), EncoderRejectedText, "512 tokens"),
        (status(413), EncoderRejectedText, "512 tokens"),
        (status(500), EncoderUnavailable, "status 500"),
        (status(200), InvalidVectors, "form"),
        (lambda _texts: JSONResponse([1, 2]), InvalidVectors, "form"),
        (data(), InvalidVectors, "0 vectors for 1 texts"),
        (data({"index": 5, "embedding": [1, 2, 3]}), InvalidVectors, "1 vectors for 1 texts"),
        (data({"index": 0, "embedding": [1, 2]}), InvalidVectors, "shape"),
        (data({"index": 0, "embedding": [0, 0, 0]}), InvalidVectors, "zero"),
        (data({"index": 0, "embedding": "base64"}), InvalidVectors, "not numbers"),
    ],
)
async def test_a_wrong_answer_is_one_clear_error_without_the_text(server, encoder, answer, error, says):
    """Each fault has its error and remedy at once, and neither texts, key nor the server's words are quoted."""
    server.script = [answer]
    with pytest.raises(error, match=says) as refused:
        await encoder.encode_query(["private words"])
    assert "private words" not in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("answer", [data({"index": 0, "embedding": []}), data({"index": 0, "embedding": 7})])
async def test_a_server_without_vectors_is_refused_at_the_start(server, answer):
    """An endpoint that returns no numbers never becomes an encoder."""
    server.script = [answer]
    with pytest.raises(InvalidVectors, match="no list of numbers"):
        await HttpEncoder.connect(server.url, "tiny")


async def test_a_server_that_is_down_is_unavailable(no_pauses):
    """Nobody listening is a retryable error that names the remedy."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(EncoderUnavailable, match="start it"):
        await HttpEncoder.connect(f"http://127.0.0.1:{port}", "tiny")


async def test_the_space_stays_when_the_server_moves(server, encoder):
    """Only the model's name and dimension make the space of a server: its address does not."""
    moved = await HttpEncoder.connect(server.url.replace("127.0.0.1", "localhost"), "tiny")
    other = await HttpEncoder.connect(server.url, "other")
    assert moved.space == encoder.space
    assert other.space.id != encoder.space.id
    await moved.aclose()
    await other.aclose()
