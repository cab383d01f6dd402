"""A Professor that follows a script, and the search agent that asks it, over real HTTP and without a graph."""

import asyncio
import contextlib
import copy
import re
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from librarian.app import open_agent
from librarian.base.keys import KeyFile
from librarian.base.settings.settings import Settings
from librarian.base.settings.values import Rate

PAGES = (
    ("Lecture 03", "5", "決定係数 R² とは、目的変数の変動のうちモデルで説明できる割合を表す指標である。"),
    ("Lecture 03", "6", "決定係数の計算式は R² = 1 − RSS / TSS である。"),
    ("Lecture 03", "7", "決定係数が 1 に近いほど当てはまりがよく、0 は平均で予測するのと同じと解釈する。"),
    ("Syllabus", "1", "今日の授業では出席を取りました。決定係数の宿題は来週です。"),
    ("Syllabus", "2", "次回の講義は11月です。"),
)
ASKED = {
    "user_query": "決定係数の計算式を教えて",
    "analyzed_info": {"intent": "formula_lookup", "context": "Lecture 03: Regression Analysis"},
    "task": {"target_items": ["definition", "formula", "interpretation_0_1"], "max_retries": 5},
    "stop_conditions": "All target_items are found with specific references.",
}

Behaviour = Callable[[dict[str, Any]], Awaitable[Response]]


def candidate(index, page):
    source, number, text = page
    return {"temp_index": index, "text": text, "source": source, "page": number, "score": 1 / index}


def pairs(text):
    return {word[at : at + 2] for word in re.findall(r"\w+", text) for at in range(max(1, len(word) - 1))}


@dataclass
class Professor:
    """Finds the pages that share most letters with the query; `behave` answers in its place, where it is given."""

    behave: Behaviour | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def found(self, query: str) -> list[dict[str, Any]]:
        wanted = pairs(query)
        ranked = sorted(range(len(PAGES)), key=lambda at: -len(wanted & pairs(PAGES[at][2])))
        return [candidate(at + 1, PAGES[at]) for at in ranked if wanted & pairs(PAGES[at][2])]

    async def search(self, request) -> Response:
        asked = await request.json()
        self.asked.append(asked)
        self.headers.append(dict(request.headers))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.behave is not None:
                return await self.behave(asked)
            return JSONResponse({"candidates": self.found(asked["query"])})
        except asyncio.CancelledError:
            self.left.set()
            raise
        finally:
            self.running -= 1


@pytest.fixture
def listening():
    """Serves an application on a free port; gives its address. Who hangs up cancels what it asked for."""

    @contextlib.asynccontextmanager
    async def serve(application):
        config = uvicorn.Config(HangingUp(application), log_config=None, lifespan="off", access_log=False)
        with socket.create_server(("127.0.0.1", 0), backlog=512) as sock:
            server = uvicorn.Server(config)
            running = asyncio.create_task(server.serve(sockets=[sock]))
            try:
                yield f"http://127.0.0.1:{sock.getsockname()[1]}"
            finally:
                server.should_exit = server.force_exit = True
                await running

    return serve


class HangingUp:
    """Cancels the application when its client has gone, as servers with request timeouts do."""

    def __init__(self, app) -> None:
        self.app = app

    async def __call__(self, scope, receive, send) -> None:
        body = await receive()
        work = asyncio.create_task(self.app(scope, _once(body), send))
        gone = asyncio.create_task(_disconnected(receive))
        await asyncio.wait([work, gone], return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not work.done():
            work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


def _once(message):
    messages = [message]

    async def receive():
        return messages.pop() if messages else await asyncio.Event().wait()

    return receive


async def _disconnected(receive):
    while (await receive())["type"] != "http.disconnect":
        pass


@pytest.fixture
def asked():
    """The specification's example request."""
    return copy.deepcopy(ASKED)


@pytest.fixture
def professor():
    return Professor()


@pytest.fixture
async def professor_url(professor, listening):
    async with listening(Starlette(routes=[Route("/search", professor.search, methods=["POST"])])) as url:
        yield f"{url}/search"


@pytest.fixture
def unused_port():
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "keys.json")


@pytest.fixture
def agent_key(keys):
    """Headers of a key that may do nothing else, bound to no existing namespace."""
    return {"Authorization": f"Bearer {keys.create('t', namespaces=['nowhere'], scopes=['agent'])[1]}"}


@pytest.fixture
def serving(serve_app, keys, agent_key, professor_url, tmp_path):
    """Serves the search agent alone, with settings changed by variables; gives a client with the agent's key."""

    @contextlib.asynccontextmanager
    async def serve(http=None, **variables):
        settings = Settings.from_env(
            {
                "LIBRARIAN_HOME": str(tmp_path / "home"),
                "PROFESSOR_SEARCH_URL": professor_url,
                "PROFESSOR_TIMEOUT": "2",
                **variables,
            }
        )
        async with (
            open_agent(settings) as librarian,
            serve_app(librarian, keys, rate_limit=Rate(0, 1.0), **(http or {})) as url,
            httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, headers=agent_key) as client,
        ):
            yield client

    return serve


@pytest.fixture
async def client(serving):
    async with serving() as client:
        yield client
