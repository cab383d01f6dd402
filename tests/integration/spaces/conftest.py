"""A graph of its own whose embedding spaces are switched, and an embeddings server with another model."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial

import msgspec
import pytest
import uvicorn
from platformdirs import user_cache_path
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from librarian.app import Librarian, open_librarian
from librarian.base.settings.settings import EncoderSettings, Settings
from librarian.items.contracts import IngestReport
from librarian.search.contracts import SearchInput, SearchOutput
from retrieval.encoders.base import Encoder

Opened = AbstractAsyncContextManager[Librarian]


class Mirror:
    """An embeddings server with the default model's vectors back to front: as good a model, of the same dimension, and
    nothing that either says of a text means anything to the other. It refuses texts that hold a word of `refused`, and
    lets those with a word of `held` wait until its end.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.refused: set[str] = set()
        self.held: set[str] = set()
        self._ending = asyncio.Event()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port: int = listener.getsockname()[1]
        self._encoder = encoder
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def setting(self) -> str:
        """LIBRARIAN_ENCODER for this server."""
        return f"http:http://127.0.0.1:{self.port}#mirrored"

    async def start(self) -> None:
        if self._serving is None:
            app = Starlette(routes=[Route("/v1/embeddings", self._embed, methods=["POST"])])
            listener = socket.create_server(("127.0.0.1", self.port))
            self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
            self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))

    async def stop(self) -> None:
        if self._server is not None and self._serving is not None:
            self._ending.set()
            self._server.should_exit = True
            await self._serving
            self._server = self._serving = None

    async def _embed(self, request: Request) -> Response:
        texts = (await request.json())["input"]
        if any(word in text for word in self.held for text in texts):
            await self._ending.wait()
        if any(word in text for word in self.refused for text in texts):
            return PlainTextResponse("too long", 413)
        vectors = (await self._encoder.encode_passages(texts))[:, ::-1]
        return JSONResponse({"data": [{"index": n, "embedding": row.tolist()} for n, row in enumerate(vectors)]})


@pytest.fixture(scope="session")
def original_settings(tmp_path_factory, copy_home) -> Settings:
    """A home for these tests alone, whatever NEO4J_URI says, with the default encoder."""
    home = tmp_path_factory.mktemp("spaces") / "home"
    copy_home(home)
    return Settings.from_env(
        {
            "LIBRARIAN_HOME": str(home),
            "LIBRARIAN_CACHE": os.environ.get("LIBRARIAN_CACHE") or str(user_cache_path("librarian")),
            "LIBRARIAN_HEAP_MB": "512",
            "LIBRARIAN_PAGECACHE_MB": "256",
        }
    )


@pytest.fixture(scope="session")
async def opened(original_settings) -> AsyncIterator[Librarian]:
    """The first Librarian of the graph, open for the whole run: its space becomes the active one."""
    async with open_librarian(original_settings, purpose="space tests", linger_s=0) as ready:
        yield ready


@pytest.fixture
async def original(opened: Librarian) -> AsyncIterator[Librarian]:
    """A Librarian with the default encoder, whose space is the active one, on a graph without items."""
    yield opened
    space = opened.parts.space
    assert space is not None
    forget = (
        "MATCH (n) WHERE n:Item OR n:Embedding DETACH DELETE n",
        "MATCH (s:EmbeddingSpace) WHERE s.space <> $space DETACH DELETE s",
        "MATCH (s:EmbeddingSpace {space: $space}) SET s.active = true",
    )
    for statement in forget:
        await opened.parts.executor.driver.execute_query(statement, {"space": space.space})


@pytest.fixture
async def mirror(original: Librarian) -> AsyncIterator[Mirror]:
    """The embeddings server, up until a test stops it."""
    encoder = original.parts.encoder
    assert encoder is not None
    server = Mirror(encoder)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def mirrored_settings(original_settings: Settings, mirror: Mirror) -> Settings:
    """The same home with the other encoder."""
    return replace(original_settings, encoder=EncoderSettings(mirror.setting))


@pytest.fixture
def mirrored(mirrored_settings: Settings) -> Callable[[], Opened]:
    """Opens the graph with the other encoder."""
    return partial(open_librarian, mirrored_settings, purpose="space tests", linger_s=0)


@pytest.fixture
def store(namespace: str):
    """Stores texts under uids."""

    async def run(librarian: Librarian, **texts: str) -> IngestReport:
        async def lines() -> AsyncIterator[tuple[int, bytes]]:
            for number, (uid, text) in enumerate(texts.items(), start=1):
                yield number, msgspec.json.encode({"kind": "memory", "uid": uid, "text": text})

        return await librarian.ingest(lines(), namespace=namespace)

    return run


@pytest.fixture
def ask(namespace: str):
    """Searches for one query."""

    async def run(librarian: Librarian, query: str) -> SearchOutput:
        return await librarian.search(namespace, SearchInput(queries=[query], explain=True))

    return run
