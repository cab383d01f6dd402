"""`librarian mcp`: the SDK's own client over standard input and output of the installed command."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def test_a_conversation_over_standard_input_and_output(program, environment, librarian, namespace, ingest):
    """Tools are listed, one keeps, another finds, in the namespace of the option, and nothing else is printed."""
    await ingest({"kind": "memory", "uid": "m1", "text": "Backups run at four."}, into=f"{namespace}-other")
    started = StdioServerParameters(command=str(program), args=["mcp", "--namespace", namespace], env=environment)
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        assert "find_evidence" in {tool.name for tool in (await session.list_tools()).tools}
        kept = await session.call_tool("remember", {"text": "Backups run at five.", "kind": "memory"})
        assert not kept.is_error, kept.content
        found = await session.call_tool("search_all", {"queries": ["Backups"], "adaptive_threshold": False})
        assert [hit["content"] for hit in found.structured_content["results"]] == ["Backups run at five."]
        files = await session.call_tool("find_file", {"name": "README"})
        assert not files.is_error


async def test_a_connection_for_reading_cannot_change_anything(program, environment, librarian, namespace):
    """Not even by a tool that it does not list."""
    args = ["mcp", "--namespace", namespace, "--read-only"]
    started = StdioServerParameters(command=str(program), args=args, env=environment)
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        assert not {"remember", "forget", "link"} & {tool.name for tool in (await session.list_tools()).tools}
        refused = await session.call_tool("remember", {"text": "x", "kind": "memory"})
        assert json.loads(refused.content[0].text)["code"] == "forbidden"


@pytest.fixture
def configured(program, environment):
    """Runs `librarian mcp install`; gives what it prints."""

    def run(*args):
        done = subprocess.run([program, "mcp", "install", *args], env=environment, capture_output=True, check=True)
        return done.stdout.decode()

    return run


def body(printed):
    """Without the line that says where it goes."""
    return printed.split("\n", 1)[1]


def test_configurations_are_valid_and_start_this_program(configured, installed, environment):
    """JSON and TOML as the clients read them; without a name all are printed."""
    cursor = json.loads(body(configured("cursor", "--namespace", "app:ada")))["mcpServers"]["librarian"]
    assert cursor["args"] == ["mcp", "--namespace", "app:ada"]
    assert Path(cursor["command"]).samefile(installed)
    assert cursor["env"] == {name: environment[name] for name in ("LIBRARIAN_HOME", "LIBRARIAN_CACHE")}
    vscode = json.loads(body(configured("vscode", "--read-only")))["servers"]["librarian"]
    assert (vscode["type"], vscode["args"][-1]) == ("stdio", "--read-only")
    codex = tomllib.loads(body(configured("codex")))["mcp_servers"]["librarian"]
    assert codex["env"] == cursor["env"]
    assert configured().count("# ") == 6


def test_a_client_may_connect_to_a_service_instead(configured):
    """By its address and a key that is to be filled in; none is printed."""
    url = "https://memory.example:8765/"
    vscode = json.loads(body(configured("vscode", "--url", url)))["servers"]["librarian"]
    assert (vscode["type"], vscode["url"]) == ("http", "https://memory.example:8765/mcp")
    assert vscode["headers"]["Authorization"].startswith("Bearer <")
    codex = tomllib.loads(body(configured("codex", "--url", url)))["mcp_servers"]["librarian"]
    assert codex["http_headers"] == vscode["headers"]
