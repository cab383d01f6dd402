"""Clients that ask for what is not theirs, send too much, or leave in the middle; over both transports."""

import asyncio
import contextlib
import json

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from librarian.base import metrics
from librarian.base.settings.values import Rate
from librarian.http.mcp import MCP_PATH

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def problem_of(answer):
    assert answer.is_error
    return json.loads(answer.content[0].text)


@pytest.fixture
def waiting(executor, namespace):
    """How many statements of this name run in the database."""

    async def count(statement):
        found, _, _ = await executor.driver.execute_query(
            "SHOW TRANSACTIONS YIELD metaData WHERE metaData.statement = $statement RETURN count(*) AS running",
            {"statement": statement},
        )
        return found[0]["running"]

    return count


@pytest.fixture
def held(executor, namespace):
    """A lock on every item of the namespace, until the end of the block."""

    @contextlib.asynccontextmanager
    async def hold():
        async with executor.driver.session() as session, await session.begin_transaction() as transaction:
            await (await transaction.run("MATCH (m:Item {namespace: $n}) SET m.held = 1", n=namespace)).consume()
            yield
            await transaction.rollback()

    return hold


async def test_the_work_of_a_client_that_leaves_ends(connected, ingest, held, waiting, executor, namespace, eventually):
    """Its statement on the database too, while it still waits for a lock; nothing of it happens afterwards."""
    await ingest({"kind": "memory", "uid": "m1", "text": "Backups run at four."}, embed=False)
    name = "change_item"

    async def call():
        async with connected() as session:
            await session.call_tool("correct", {"uid": "m1", "text": "Backups run at five."})

    async with held():
        leaving = asyncio.create_task(call())
        await eventually(lambda: _some(waiting(name)))
        leaving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await leaving
        await eventually(lambda: _none(waiting(name)))
    # Work that went on would get the lock now.
    await eventually(_idle)
    async with connected() as session:
        (content,) = (await session.read_resource("librarian://items/m1")).contents
    assert json.loads(content.text)["text"] == "Backups run at four."


async def _some(count):
    return await count > 0


async def _none(count):
    return await count == 0


async def _idle():
    return "librarian_http_running 0.0" in metrics.exposition().decode().splitlines()


async def test_a_body_over_the_limit_is_refused(serve_app, librarian, keys, namespace):
    """413 before it is read, announced or streamed."""
    _, key = keys.create("agent", scopes=["read"], namespaces=[namespace])
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    body = json.dumps({**CALL, "params": {"name": "search_all", "arguments": {"queries": ["x" * 200_000]}}}).encode()

    async def streamed():
        yield body

    async with (
        serve_app(librarian, keys, rate_limit=Rate(0, 1.0), max_body_bytes=100_000) as url,
        httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60) as client,
    ):
        for content in (body, streamed()):
            answer = await client.post(MCP_PATH, content=content, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")


async def test_over_standard_input_too(program, environment, librarian, namespace, ingest):
    """Another namespace and a huge argument are refused, the conversation goes on; when its client leaves, it ends."""
    await ingest(
        {"kind": "memory", "uid": "m1", "text": "Backups run at four."}, into=f"{namespace}-other", embed=False
    )
    started = StdioServerParameters(command=str(program), args=["mcp", "--namespace", namespace], env=environment)
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        asked = {"queries": ["Backups"], "adaptive_threshold": False}
        foreign = problem_of(await session.call_tool("search_all", {**asked, "namespace": f"{namespace}-other"}))
        assert "namespace" in foreign["detail"]
        huge = problem_of(await session.call_tool("remember", {"text": "x" * 1_100_000, "kind": "memory"}))
        assert (huge["code"], huge["field"]) == ("payload_too_large", "$.text")
        found = await session.call_tool("search_all", asked)
        assert found.structured_content["results"] == []


async def test_a_program_whose_client_leaves_ends(program, environment, librarian, namespace):
    """In the middle of a call, with exit code 0 and nothing but the protocol on standard output."""
    process = await asyncio.create_subprocess_exec(
        *(program, "mcp", "--namespace", namespace),
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode() + b"\n"
    )
    assert json.loads(await process.stdout.readline())["id"] == 0
    process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    call = {**CALL, "params": {"name": "search_all", "arguments": {"queries": ["Backups"]}}}
    process.stdin.write(json.dumps(call).encode() + b"\n")
    process.stdin.close()
    rest = await process.stdout.read()
    assert await process.wait() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
