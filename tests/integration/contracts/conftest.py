"""The real application over the run's graph, with a key bound to one namespace, and a real browser."""

import asyncio
import itertools
import json
import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from websockets.asyncio.client import connect as open_socket

from librarian.base.keys import KeyFile
from librarian.base.settings.values import rate

WAIT_S = 60


@pytest.fixture(scope="session")
def key_file(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")


@pytest.fixture(scope="session")
async def service(serve_app, librarian, key_file):
    """The address of the running service."""
    async with AsyncExitStack() as stack:
        # schemathesis is no ordinary client: it tries every operation without a key too
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("librarian.http.limits.FAILED_AUTHENTICATIONS", rate("off"))
            url = await stack.enter_async_context(serve_app(librarian, key_file, rate_limit=rate("off")))
        yield url


@pytest.fixture
def key(key_file, namespace):
    """A key for everything in the test's own namespace."""
    return key_file.create("contracts", namespaces=[namespace], scopes=["admin"])[1]


@dataclass
class Page:
    """One page of a real browser, over the DevTools protocol."""

    socket: object
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    _numbers: itertools.count = field(default_factory=lambda: itertools.count(1))

    async def call(self, method, **params):
        number = next(self._numbers)
        await self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := json.loads(await self.socket.recv())).get("id") != number:
            self._note(message)
        assert "error" not in message, message
        return message["result"]

    async def value_of(self, script):
        answer = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, script):
        """Wait until the script's value is true, and return it."""
        async with asyncio.timeout(WAIT_S):
            while not (value := await self.value_of(script)):
                await asyncio.sleep(0.1)
            return value

    def _note(self, message):
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requested.append(params["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))


@pytest.fixture
async def page(tmp_path):
    """An empty page that notes every request and every complaint of the browser."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine; `.ci/run` installs one")
    process = await asyncio.create_subprocess_exec(
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path / 'profile'}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with open_socket(await _address(process), max_size=None, proxy=None) as socket:
            opened = Page(socket)
            for domain in ("Network", "Log", "Runtime", "Page"):
                await opened.call(f"{domain}.enable")
            yield opened
    finally:
        process.terminate()
        await process.communicate()


async def _address(process):
    """The socket of the browser's first page."""
    async with asyncio.timeout(WAIT_S):
        while b"DevTools listening on" not in (line := await process.stderr.readline()):
            assert line, "the browser ended"
        host = line.split()[-1].decode().removeprefix("ws://").partition("/")[0]
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while not (pages := [entry for entry in await _targets(client, host) if entry["type"] == "page"]):
                await asyncio.sleep(0.1)
    return pages[0]["webSocketDebuggerUrl"]


async def _targets(client, host):
    return (await client.get(f"http://{host}/json/list")).json()
