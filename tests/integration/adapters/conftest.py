"""The real application over the run's graph, in a thread of its own: programs without an event loop may wait for it."""

import asyncio
import contextlib
import threading
from concurrent.futures import Future
from dataclasses import replace

import pytest

from librarian.app import open_librarian
from librarian.base.keys import KeyFile
from librarian.http.app import build_app
from librarian.http.server import Server, listen


class Served:
    """A service in a thread: its address, a key that may read and write, and a way to wait until all is encoded."""

    def __init__(self, settings, keys):
        self.settings, self.keys = settings, keys
        self.key = keys.create("adapter tests", namespaces=["*"], scopes=["read", "write"])[1]
        self.started: Future[tuple] = Future()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.serve()))

    async def serve(self):
        http = replace(self.settings.http, port=0)
        async with open_librarian(self.settings, purpose="adapter tests", linger_s=0) as librarian:
            with listen(http) as listening:
                server = Server(build_app(http, self.keys, lambda: contextlib.nullcontext(librarian)))
                server.capture_signals = contextlib.nullcontext  # only the main thread may
                address = f"http://127.0.0.1:{listening.getsockname()[1]}"
                self.started.set_result((address, librarian, asyncio.get_running_loop(), server))
                await server.serve(sockets=[listening])

    def encode(self):
        """Give a vector to every item that has none."""
        _, librarian, loop, _ = self.started.result()
        asyncio.run_coroutine_threadsafe(librarian.embed_pending(), loop).result(60)

    @property
    def access(self):
        """Where it is and the key, as adapters take them."""
        return {"url": self.started.result(60)[0], "api_key": self.key}

    def stop(self):
        self.started.result()[3].should_exit = True
        self.thread.join()


@pytest.fixture(scope="session")
def service(settings, librarian, tmp_path_factory):
    """One service for all adapters; `librarian` is there so that the graph is migrated and stays up."""
    served = Served(settings, KeyFile(tmp_path_factory.mktemp("adapter-keys") / "keys.json"))
    served.thread.start()
    yield served
    served.stop()
