"""Connections of the SDK's own client."""

import contextlib
from collections.abc import AsyncIterator

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from librarian.base.keys import KeyFile
from librarian.base.settings.values import Rate
from librarian.http.mcp import MCP_PATH


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("mcp-keys") / "keys.json")


@pytest.fixture(scope="session")
async def address(serve_app, librarian, keys):
    """Of a service without a rate limit."""
    async with serve_app(librarian, keys, rate_limit=Rate(0, 1.0)) as url:
        yield url


@pytest.fixture
def connected(address, keys, namespace):
    """Connects over HTTP with a key of the given scopes and namespaces."""

    @contextlib.asynccontextmanager
    async def connect(
        *scopes: str, to: str = namespace, query: str = "", **headers: str
    ) -> AsyncIterator[ClientSession]:
        _, key = keys.create("agent", scopes=scopes or ("read", "write", "agent", "sweep"), namespaces=(to,))
        headers = {name.replace("_", "-"): value for name, value in headers.items()} | {
            "Authorization": f"Bearer {key}"
        }
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
            streamable_http_client(address + MCP_PATH + query, http_client=http) as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            yield session

    return connect
