"""The Model Context Protocol over streamable HTTP: the SDK's own client against the real service and graph."""

import asyncio
import json

import httpx
import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from librarian.http.bookmarks import BOOKMARK_HEADER
from librarian.http.mcp import MCP_PATH
from librarian.mcp.tools import TOOLS, chosen_tools

WANTED = {
    "semantic_search_facts", "semantic_search_messages", "semantic_search_memories", "search_all", "relevant_memory",
    "find_evidence", "find_file", "search_text", "locate", "remember", "correct", "forget", "link", "causes_of",
    "effects_of", "blockers_of", "sweep",
}  # fmt: skip
ROWS = [
    {
        "kind": "memory",
        "uid": "m1",
        "text": "We chose Postgres for billing because MySQL lost writes.",
        "name": "Postgres",
    },
    {"kind": "memory", "uid": "m2", "text": "MySQL lost writes in March.", "name": "Lost writes"},
    {"kind": "fact", "uid": "f1", "text": "Ada owns the billing service.", "name": "Owner"},
]


def text_of(result):
    """Return a tool's answer to the model."""
    return "".join(part.text for part in result.content)


def problem_of(result):
    """Return the reason why a tool refuses a call."""
    assert result.is_error
    return json.loads(text_of(result))


async def test_every_tool_is_listed_with_the_schemas_of_the_contracts(connected):
    """The same names, inputs and outputs as over HTTP, and the budget beside them."""
    async with connected() as session:
        listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert listed.keys() >= WANTED
    assert set(listed) == {tool.name for tool in TOOLS}
    for tool in TOOLS:
        properties = listed[tool.name].input_schema["properties"]
        assert set(properties) == {field.encode_name for field in msgspec.structs.fields(tool.input)} | {"max_tokens"}
        assert listed[tool.name].input_schema["type"] == listed[tool.name].output_schema["type"] == "object"
        assert "namespace" not in properties
    assert listed["search_all"].annotations.read_only_hint
    assert listed["forget"].annotations.destructive_hint


async def test_a_client_is_offered_the_toolsets_that_it_names(connected):
    """And no other tool can be called over that connection."""
    async with connected(query="?tools=search,keep") as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == chosen_tools("search,keep")
        assert not (await session.call_tool("remember", {"text": "Exports run at night."})).is_error
        with pytest.raises(MCPError, match="there is no tool 'sweep'"):
            await session.call_tool("sweep", {})


async def test_what_is_kept_is_found_and_structured(connected, ingest):
    """The client checks the answer against the schema that was listed."""
    await ingest(*ROWS)
    async with connected() as session:
        await session.list_tools()
        kept = await session.call_tool("remember", {"text": "Backups run at four.", "kind": "memory"})
        assert not kept.is_error, text_of(kept)
        found = await session.call_tool("semantic_search_memories", {"queries": ["Why Postgres for billing?"]})
    assert not found.is_error, text_of(found)
    assert found.structured_content["results"][0]["uid"] == "m1"
    assert json.loads(found.content[0].text) == found.structured_content


async def test_another_namespace_cannot_be_asked_for(connected, ingest, namespace):
    """Neither by an argument nor by a header: the key decides."""
    await ingest(*ROWS, into=f"{namespace}-other", embed=False)
    async with connected() as session:
        refused = problem_of(
            await session.call_tool("search_all", {"queries": ["Postgres"], "namespace": f"{namespace}-other"})
        )
        assert (refused["code"], refused["field"]) == ("invalid_input", "$.namespace")
        found = await session.call_tool("search_all", {"queries": ["Postgres"], "adaptive_threshold": False})
        assert found.structured_content["results"] == []
        with pytest.raises(MCPError):
            await session.read_resource("librarian://items/m1")
    async with connected("read", to="*", Librarian_Namespace=f"{namespace}-other") as session:
        found = await session.call_tool("search_all", {"queries": ["Postgres"], "adaptive_threshold": False})
        assert found.structured_content["results"]


async def test_a_key_sees_and_calls_what_its_scopes_allow(connected):
    """A key for reading is not even shown what it may not call."""
    async with connected("read") as session:
        listed = {tool.name for tool in (await session.list_tools()).tools}
        assert "search_all" in listed
        assert not listed & {"remember", "forget", "find_evidence"}
        refused = problem_of(await session.call_tool("remember", {"text": "x", "kind": "memory"}))
        assert refused["code"] == "forbidden"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
async def test_without_a_valid_key_nothing_is_answered(address, headers):
    """401 before the protocol begins."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.post(address + MCP_PATH, json={}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search_all", {"queries": []}, "$.queries"),
        ("search_all", {"queries": ["x"], "limit": 51}, "$.limit"),
        ("search_all", {"queries": ["x"], "max_tokens": 1}, "$.max_tokens"),
        ("search_all", {"queries": ["x"], "max_tokens": True}, "$.max_tokens"),
        ("remember", {}, "$.text"),
        ("causes_of", {"uid": "nobody"}, "uid"),
    ],
)
async def test_what_is_wrong_is_told_to_the_model(connected, tool, arguments, field):
    """As an answer that names the field, so that it can mend its call."""
    async with connected() as session:
        assert problem_of(await session.call_tool(tool, arguments))["field"].removeprefix("$.") == field.removeprefix(
            "$."
        )


async def test_a_huge_argument_is_refused(connected):
    """By the limit of a single text, like everywhere."""
    async with connected() as session:
        refused = problem_of(await session.call_tool("remember", {"text": "x" * 1_100_000, "kind": "memory"}))
    assert (refused["code"], refused["field"]) == ("payload_too_large", "$.text")


async def test_an_unknown_tool_is_an_error_of_the_protocol(connected):
    """No model is told of it: its client is at fault."""
    async with connected() as session:
        with pytest.raises(MCPError, match="there is no tool 'dance'"):
            await session.call_tool("dance", {})


async def test_an_answer_is_cut_to_its_budget(connected, ingest):
    """The best hits stay, and what was left out is said."""
    rows = [{"kind": "memory", "uid": f"m{n}", "text": f"Postgres note {n}: " + "it is fast. " * 60} for n in range(20)]
    await ingest(*rows, embed=False)
    question = {"queries": ["Postgres note"], "limit": 20, "adaptive_threshold": False}
    async with connected() as session:
        whole = await session.call_tool("search_all", {**question, "max_tokens": 100_000})
        cut = await session.call_tool("search_all", {**question, "max_tokens": 1000})
    uids = [[hit["uid"] for hit in answer.structured_content["results"]] for answer in (whole, cut)]
    assert 0 < len(uids[1]) < len(uids[0]) == 20
    assert uids[0][: len(uids[1])] == uids[1]
    assert len(cut.content[0].text) <= 3000
    assert "Left out" in cut.content[1].text


async def test_items_are_resources(connected, ingest):
    """Listed with their names, read with their texts, by uids of any letters."""
    await ingest(*ROWS, {"kind": "memory", "uid": "決定:1", "text": "決定: 毎週リリース"}, embed=False)
    async with connected() as session:
        listed = await session.list_resources()
        assert {resource.name for resource in listed.resources} >= {"Postgres", "Owner"}
        assert len(listed.resources) == 4
        assert (await session.list_resource_templates()).resource_templates[0].uri_template == "librarian://items/{uid}"
        odd = next(resource.uri for resource in listed.resources if "%" in resource.uri)
        (content,) = (await session.read_resource(odd)).contents
        assert json.loads(content.text)["text"] == "決定: 毎週リリース"
        for uri in ("librarian://items/nobody", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await session.read_resource(uri)


async def test_the_three_jobs_are_prompts(connected):
    """Filled with what is given; a missing argument is named."""
    async with connected() as session:
        prompts = (await session.list_prompts()).prompts
        assert len(prompts) == 3
        for prompt in prompts:
            (argument,) = prompt.arguments
            filled = await session.get_prompt(prompt.name, {argument.name: "Why {question}?"})
            assert filled.messages[0].content.text.endswith("Why {question}?")
            with pytest.raises(MCPError, match="requires it"):
                await session.get_prompt(prompt.name, {})


async def test_only_a_tool_that_says_what_it_is_at_answers_with_a_stream(address, keys, namespace):
    """The others answer with JSON, which can carry the bookmark of what they wrote; so does what cannot be read."""
    _, key = keys.create("agent", scopes=["read", "write", "agent"], namespaces=[namespace])
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}

    async def post(message):
        return await client.post(MCP_PATH, json=message)

    async def called(tool, arguments):
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return await post(asked)

    async with httpx.AsyncClient(base_url=address, headers=headers, trust_env=False) as client:
        kept = await called("remember", {"text": "Backups run at five.", "kind": "memory"})
        assert kept.headers["content-type"] == "application/json"
        assert not kept.json()["result"].get("isError"), kept.text
        assert kept.headers[BOOKMARK_HEADER].startswith("FB:")
        streamed = await called("find_evidence", {"question": "When do backups run?", "target_items": ["time"]})
        assert streamed.headers["content-type"].startswith("text/event-stream")
        for odd in ([], 1, {}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": None}):
            refused = await post(odd)
            assert (refused.headers["content-type"], "error" in refused.json()) == ("application/json", True), odd


async def test_long_work_says_what_it_is_at(connected, ingest):
    """The steps of the search agent arrive as progress."""
    await ingest(*ROWS)
    steps = []

    async def heard(progress, _total, message):
        steps.append((progress, message))

    async with connected() as session:
        found = await session.call_tool(
            "find_evidence", {"question": "Why Postgres?", "target_items": ["reason"]}, progress_callback=heard
        )
    assert not found.is_error, text_of(found)
    assert [count for count, _ in steps] == list(range(1, len(steps) + 1))
    assert {"plan", "search"} <= {message for _, message in steps}


async def test_forgetting_takes_a_preview_first(connected, ingest):
    """Nothing is deleted before the token of the preview is sent."""
    await ingest(*ROWS, embed=False)
    async with connected() as session:
        preview = (await session.call_tool("forget", {"uids": ["m1"]})).structured_content
        assert not preview["deleted"]
        assert (await session.read_resource("librarian://items/m1")).contents
        done = await session.call_tool("forget", {"uids": ["m1"], "confirm_token": preview["confirm_token"]})
        assert done.structured_content["deleted"], text_of(done)
        with pytest.raises(MCPError):
            await session.read_resource("librarian://items/m1")


async def test_a_client_that_leaves_disturbs_nobody(address, keys, namespace, connected, ingest):
    """Its call is cancelled; the next connection works.

    The connection is broken by hand: the SDK's client may fail by itself where an answer meets its closed session.
    """
    await ingest(*ROWS, embed=False)
    _, key = keys.create("leaving", scopes=["read"], namespaces=[namespace])
    params = {"name": "search_all", "arguments": {"queries": ["Postgres"]}}
    request = httpx.Request(
        "POST",
        address + MCP_PATH,
        headers={"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"},
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
    )
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    for _ in range(3):
        _, writer = await asyncio.open_connection(request.url.host, request.url.port)
        writer.write(f"POST {MCP_PATH} HTTP/1.1\r\n{head}\r\n".encode() + request.content)
        await writer.drain()
        writer.transport.abort()
    async with connected() as session:
        assert not (await session.call_tool("search_all", {"queries": ["Postgres"]})).is_error
