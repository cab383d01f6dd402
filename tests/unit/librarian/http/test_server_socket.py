import asyncio
import contextlib
import socket
import tempfile
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import HttpSettings
from librarian.http.app import build_app
from librarian.http.server import Server, listen


@pytest.fixture
def path():
    """Where a socket may be: its path has 100 characters at most."""
    with tempfile.TemporaryDirectory(prefix="lib") as folder:
        yield Path(folder) / "service.sock"


@pytest.fixture
def serving(keys, starting):
    """Serves the application, at a Unix socket too; when the block ends the service has ended."""

    @contextlib.asynccontextmanager
    async def connect():
        yield starting

    @contextlib.asynccontextmanager
    async def serve(path):
        http = HttpSettings(port=0)
        with listen(http) as listening:
            server = Server(build_app(http, keys, connect))
            running = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                await server.listen_at(path)
                yield
            finally:
                while not server.started:
                    await asyncio.sleep(0.01)
                server.should_exit = True
                await running

    return serve


async def health_at(path):
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return (await client.get("/healthz")).status_code


async def test_commands_of_the_owner_reach_it_at_a_socket_until_it_ends(serving, path):
    async with serving(path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert await health_at(path) == 200
    assert list(path.parent.iterdir()) == []


async def test_a_second_service_takes_the_place_and_the_first_leaves_it_alone(serving, path):
    async with contextlib.AsyncExitStack() as second:
        async with serving(path):
            await second.enter_async_context(serving(path))
        assert await health_at(path) == 200
    assert not path.exists()


async def test_a_path_that_is_too_long_for_a_socket_is_told_and_nothing_stays(serving, path):
    with pytest.raises(OSError, match="too long"):
        async with serving(path.with_name("s" * 120)):
            pass
    assert list(path.parent.iterdir()) == []


def test_a_taken_port_names_the_setting():
    with listen(HttpSettings(port=0)) as first, pytest.raises(SettingsError) as caught:
        listen(HttpSettings(port=first.getsockname()[1]))
    assert caught.value.field == "LIBRARIAN_PORT"
    assert "LIBRARIAN_PORT" in caught.value.remedy


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_plain_http_stays_on_this_machine_unless_told_otherwise(host):
    with pytest.raises(SettingsError, match="plain HTTP") as caught:
        listen(HttpSettings(host=host, port=0))
    assert "LIBRARIAN_ALLOW_INSECURE_BIND" in caught.value.remedy


def test_the_operator_can_open_it():
    http = HttpSettings(host="0.0.0.0", port=0)
    with listen(replace(http, allow_insecure_bind=True)) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


def test_an_address_of_another_machine_is_explained():
    http = HttpSettings(host="192.0.2.1", port=0, allow_insecure_bind=True)
    with pytest.raises(SettingsError) as caught:
        listen(http)
    assert caught.value.field == "LIBRARIAN_HOST"


def test_a_socket_is_free_again_after_a_refusal():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError):
            listen(HttpSettings(port=port))
    with listen(HttpSettings(port=port)) as listening:
        assert listening.getsockname()[1] == port


def test_answers_do_not_wait_for_acknowledgements():
    """A connection sends small packets at once; otherwise each answer takes 40 ms longer."""
    with listen(HttpSettings(port=0)) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
