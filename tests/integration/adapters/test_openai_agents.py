"""A session that the OpenAI Agents SDK runs with, and tools that its agents call."""

import json
from uuid import uuid4

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, Session, SQLiteSession, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from librarian.adapters.openai_agents import LibrarianSession, LibrarianTools
from librarian.client import AsyncLibrarianClient
from librarian.search.contracts import SearchInput

ITEMS = [
    {"role": "user", "content": "Which seats does Ada like?"},
    {"type": "function_call", "name": "recall", "arguments": '{"question": "seats"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "window seats"},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "She said so."}]},
    {"role": "assistant", "type": "message", "status": "completed", "id": "m1",
     "content": [{"type": "output_text", "text": "Window seats, since 2019.", "annotations": []}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/seat.png"}]},
    {"role": "user", "content": "Thanks, that is what I wanted to know about her seats."},
]  # fmt: skip


class Scripted(Model):
    """Says what it is told to say, and hears what it is asked."""

    def __init__(self, *outputs):
        self.outputs, self.heard = list(outputs), []

    async def get_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002  # the SDK's name
        self.heard.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def says(text):
    content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
    return ResponseOutputMessage(
        id=f"m-{uuid4().hex}", type="message", role="assistant", status="completed", content=content
    )


def calls(name, **arguments):
    return ResponseFunctionToolCall(
        type="function_call", name=name, call_id=uuid4().hex, arguments=json.dumps(arguments)
    )


@pytest.fixture
async def session(service, namespace):
    async with LibrarianSession("s1", namespace=namespace, **service.access) as session:
        yield session


async def test_it_agrees_with_the_sdk_s_own_session(session):
    """Items of every type come back as they were, all or the latest; the last one can be taken back and said again."""
    reference = SQLiteSession("s1")
    assert isinstance(session, Session)
    for each in (session, reference):
        await each.add_items([])
        await each.add_items(ITEMS[:3])
        await each.add_items(ITEMS[3:])
    for limit in (None, 0, 1, 3, 100):
        assert await session.get_items(limit) == await reference.get_items(limit)
    assert await session.get_items() == ITEMS
    for _ in range(2):
        assert await session.pop_item() == await reference.pop_item() == ITEMS[-1]
        for each in (session, reference):
            await each.add_items(ITEMS[-1:])
    for each in (session, reference):
        await each.clear_session()
    assert await session.pop_item() == await reference.pop_item() is None
    await session.add_items(ITEMS)
    assert await session.get_items() == ITEMS
    reference.close()


async def test_sessions_are_apart_and_found_by_a_search(session, service, namespace):
    await session.add_items(ITEMS)
    async with LibrarianSession("s2", namespace=namespace, **service.access) as other:
        assert await other.get_items() == []
    async with AsyncLibrarianClient(**service.access) as client:
        found = await client.search(namespace, SearchInput(queries=["window seats since 2019"], limit=1))
    assert (found.results[0].content, found.results[0].conversation_id) == ("Window seats, since 2019.", "s1")


async def test_an_agent_remembers_over_runs(session, service, namespace):
    """In the SDK itself: the session carries the turns, the tools what was kept in an earlier session."""
    async with LibrarianTools(namespace, **service.access) as tools:
        model = Scripted(
            calls("remember", text="Ada likes window seats."),
            says("I will remember that."),
            calls("recall", question="Which seats does Ada like?"),
            says("Window seats."),
        )
        agent = Agent(name="booker", model=model, tools=tools.all())
        config = RunConfig(tracing_disabled=True)
        first = await Runner.run(agent, "Ada likes window seats.", session=session, run_config=config)
        second = await Runner.run(agent, "Which seats does Ada like?", session=session, run_config=config)
    assert (first.final_output, second.final_output) == ("I will remember that.", "Window seats.")
    kept, recalled = model.heard[1][-1], model.heard[3][-1]
    assert kept["output"].startswith("remembered as ")
    assert "Ada likes window seats." in recalled["output"]
    assert [item.get("role") or item["type"] for item in await session.get_items()] == [
        "user", "function_call", "function_call_output", "assistant",
    ] * 2  # fmt: skip


async def test_tools_have_strict_schemas(service, namespace):
    tools = LibrarianTools(namespace, **service.access)
    assert [tool.name for tool in tools.all()] == ["recall", "remember"]
    for tool in tools.all():
        assert tool.strict_json_schema
        assert tool.params_json_schema["additionalProperties"] is False
        assert "Args:" not in tool.description
