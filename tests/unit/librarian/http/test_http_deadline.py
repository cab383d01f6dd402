"""When a request ends before its answer: the real server around small handlers."""

import asyncio
import contextlib
import json

import httpx
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from graph.errors import QueryTimeout
from graph.executor import deadline
from librarian.app import Librarian
from librarian.base.errors import DeadlineExceeded, NotReady
from librarian.base.settings.settings import HttpSettings, Settings
from librarian.http.deadline import RequestDeadline
from librarian.http.limits import Limits
from librarian.http.middleware import Problems, RequestContext
from librarian.http.server import Server, listen


class Handlers:
    """Return the events inside."""

    def __init__(self):
        self.started, self.cancelled = asyncio.Event(), asyncio.Event()

    async def hang(self, request: Request):
        await request.body()
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def hear(self, request: Request):
        """Receives after its body, as handlers of streams do."""
        await request.body()
        self.started.set()
        try:
            assert (await request.receive())["type"] == "http.disconnect"
        finally:
            self.cancelled.set()

    async def stream(self, _request: Request):
        async def numbers():
            for number in range(3):
                await asyncio.sleep(0.01)
                yield f"{number} "

        return StreamingResponse(numbers())

    async def upload(self, request: Request):
        """Each chunk is a stored batch."""
        before, chunks = deadline.get(), 0
        async for chunk in request.stream():
            if chunk:
                chunks += 1
                request.state.clock.restart()
        return JSONResponse({"chunks": chunks, "later": deadline.get() > before})

    async def linger(self, _request: Request):
        """Goes on after its answer."""

        async def more():
            await asyncio.sleep(0.05)
            self.started.set()

        return JSONResponse({}, background=BackgroundTask(more))

    async def echo(self, request: Request):
        return JSONResponse({"bytes": len(await request.body()), "deadline": deadline.get() is not None})


@pytest.fixture
async def handlers():
    return Handlers()


@pytest.fixture
def most_s():
    """How long a request may take; no test of a client that goes away may wait for that."""
    return 3600.0


@pytest.fixture
async def address(handlers, most_s):
    routes = [
        Route(f"/{name}", getattr(handlers, name), methods=["GET", "POST"])
        for name in ("hang", "hear", "stream", "upload", "linger", "echo")
    ]
    http = HttpSettings(port=0)
    layers = [Middleware(RequestContext, patterns={}), Middleware(Problems), Middleware(RequestDeadline, max_s=most_s)]
    app = Starlette(routes=routes, middleware=layers)
    app.state.limits = Limits(http)
    app.state.http = http
    with listen(http) as listening:
        server = Server(app)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        yield listening.getsockname()[:2]
        server.should_exit = True
        await running


@pytest.fixture
async def client(address):
    async with httpx.AsyncClient(base_url="http://{}:{}".format(*address), trust_env=False, timeout=60) as client:
        yield client


def request(path, body=b""):
    method = "POST" if body else "GET"
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize("body", [b"", b"{}", b"x" * 300_000], ids=["none", "small", "large"])
@pytest.mark.parametrize("path", ["/hang", "/hear"])
async def test_a_client_that_goes_away_ends_its_request(address, handlers, path, body):
    """Work whose answer nobody reads is cancelled, with or without a body, also where it waits for messages."""
    _, writer = await asyncio.open_connection(*address)
    writer.write(request(path, body))
    await writer.drain()
    await handlers.started.wait()
    assert not handlers.cancelled.is_set()
    writer.close()
    await handlers.cancelled.wait()


async def test_the_time_ends_a_request_whose_client_waits(client, handlers):
    """504, and the work is cancelled."""
    answer = await client.post("/hang", content=b"{}", headers={"Request-Timeout-Ms": "50"})
    assert (answer.status_code, answer.json()["code"]) == (504, "deadline_exceeded")
    assert answer.headers["retry-after"]
    assert handlers.cancelled.is_set()


async def test_nothing_stays_behind(client, handlers):
    """Many requests over kept connections leave no task, and a streamed answer comes whole."""
    before = len(asyncio.all_tasks())
    for _ in range(50):
        assert (await client.get("/echo")).json() == {"bytes": 0, "deadline": True}
        assert (await client.post("/echo", content=b"abc")).json() == {"bytes": 3, "deadline": True}
        assert (await client.get("/stream")).text == "0 1 2 "
        assert (await client.head("/echo")).status_code == 200
    assert len(asyncio.all_tasks()) <= before + 1


async def test_what_follows_an_answer_is_not_cut_off(client, handlers):
    """A complete answer is no reason to think that the client has gone."""
    assert (await client.get("/linger")).status_code == 200
    await handlers.started.wait()


async def test_two_requests_in_one_packet_are_both_answered(address):
    """Watching the first one's client does not eat the second one."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(request("/echo", b"abc") + request("/echo"))
    for size in (3, 0):
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"200 OK" in head
        body = await reader.readuntil(b"}")
        assert json.loads(body)["bytes"] == size
    writer.close()


@pytest.mark.parametrize("most_s", [1.0])
async def test_an_upload_has_time_as_long_as_it_gets_on(client):
    """Each stored part grants the whole time anew, also for what is left to the database."""

    async def parts():
        for _ in range(4):
            await asyncio.sleep(0.4)
            yield b"batch"

    assert (await client.post("/upload", content=parts())).json() == {"chunks": 4, "later": True}


async def test_what_the_client_grants_is_not_granted_anew(client):
    """Whoever waits for half a second gets an answer by then, however well the upload gets on."""

    async def parts():
        for _ in range(20):
            await asyncio.sleep(0.05)
            yield b"batch"

    answer = await client.post("/upload", content=parts(), headers={"Request-Timeout-Ms": "500"})
    assert answer.status_code == 504


async def test_a_client_that_goes_away_while_it_uploads_is_noticed(address, handlers, client):
    """The stream ends with an error inside, nobody is answered, and the service lives."""
    _, writer = await asyncio.open_connection(*address)
    writer.write(b"POST /hang HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
    await writer.drain()
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    assert (await client.get("/echo")).status_code == 200
    assert not handlers.started.is_set()


@pytest.mark.parametrize(
    ("phase", "error"), [("unreachable", NotReady), ("recovering", NotReady), ("ready", DeadlineExceeded)]
)
async def test_a_request_that_waited_for_the_graph_in_vain_is_told_so(phase, error):
    """503 as documented, whether its own time or that of its statement was up; 504 only where the graph is there."""
    librarian = Librarian(Settings.from_env({}))
    librarian.lifecycle.unavailable(phase, "because")

    async def hang(_scope, _receive, _send):
        await asyncio.Event().wait()

    async def fail(_scope, _receive, _send):
        raise QueryTimeout

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    for app, expected in ((hang, error), (fail, NotReady if error is NotReady else QueryTimeout)):
        scope = {"type": "http", "headers": [], "state": {"librarian": librarian}}
        with pytest.raises(expected):
            await RequestDeadline(app, max_s=0.05)(scope, receive, None)
