"""Real llama-servers with a tiny model, each a process of its own."""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from retrieval.rerankers.base import RerankerConfig
from retrieval.rerankers.llama_server import AsyncLlamaServerReranker
from retrieval.rerankers.probe import KnownPair, ProbeRules

HERE = Path(__file__).parent
READY_TIMEOUT_S = 120


@dataclass
class LlamaServer:
    """A server's address and process."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def config(self, **options: Any) -> RerankerConfig:
        return RerankerConfig(base_url=self.url, **options)

    def wait_for(self, status: int) -> None:
        """Until /health answers with `status`."""
        ends_at = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < ends_at and self.process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/health").status_code == status:
                    return
            time.sleep(0.05)
        raise AssertionError(f"llama-server never answered {status}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory):
    """Makes a tiny model, once for each set of options."""
    folder, made = tmp_path_factory.mktemp("gguf"), {}

    def make(*options: str) -> Path:
        if options not in made:
            made[options] = folder / f"tiny{''.join(options)}.gguf"
            subprocess.run([sys.executable, HERE / "tiny_gguf.py", made[options], *options], check=True)
        return made[options]

    return make


@pytest.fixture(scope="session")
def start_llama(tiny_gguf, tmp_path_factory):
    """Starts servers, which all end with the run."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("not installed: xllamacpp, the llama-server of the tests (Linux only)")
    started = []

    def start(*model: str, path: Path | None = None, port: int | None = None, status: int = 200, **options: Any):
        gguf = path or tiny_gguf(*model)
        number = port or free_port()
        log = (tmp_path_factory.mktemp("llama") / "log").open("wb")
        command = [sys.executable, HERE / "llama_process.py", gguf, str(number), json.dumps(options)]
        server = LlamaServer(number, subprocess.Popen(command, stdout=log, stderr=log))
        log.close()
        started.append(server)
        server.wait_for(status)
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def llama(start_llama) -> LlamaServer:
    """The server that most tests share."""
    return start_llama()


@pytest.fixture
async def opened():
    """Opens rerankers, which are closed after the test."""
    async with contextlib.AsyncExitStack() as stack:

        def open_one(config: RerankerConfig) -> AsyncLlamaServerReranker:
            reranker = AsyncLlamaServerReranker(config)
            stack.push_async_callback(reranker.close)
            return reranker

        yield open_one


@pytest.fixture
def loading_model(tmp_path) -> Iterator[Path]:
    """A model that loads for as long as the test lasts: a pipe that nobody writes into."""
    path = tmp_path / "loading.gguf"
    os.mkfifo(path)
    return path


@pytest.fixture(scope="session")
def plus_rules() -> ProbeRules:
    """The tiny model's one skill: a text of plus signs is relevant to everything."""
    return ProbeRules([KnownPair("Which text is it?", "+" * 80, "a text without any")], min_gap=0.1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
