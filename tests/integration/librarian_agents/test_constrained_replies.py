"""A language model behind HTTP that is asked for JSON: with a schema where it can, without where it cannot."""

import asyncio
import json
import socket
import time
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from librarian_agents.chat.client import ChatConfig, OpenAIChat
from librarian_agents.errors import ChatModelRejected
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.llm import JUDGEMENT, QUERIES, LlmReasoner
from librarian_agents.search.types import Candidate, EvidenceTask
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from tests.unit.librarian_agents.scripted import ScriptedTool

TEXT = "R2 is defined as the share of variance that a model explains."
JUDGED = {"needs": [{"item": 1, "evidence": [{"temp_index": 1, "quote": "share of variance"}]}]}
TASK = EvidenceTask("What is R2?", ("definition",), 2)


@dataclass
class Server:
    """Says what the prompt wants; refuses requests with a schema, or all; may take long."""

    takes_schemas: bool = True
    refuses_all: bool = False
    delay_s: float = 0.0
    requests: list[dict] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.requests.append(body)
        self.asked.set()
        if self.refuses_all or ("response_format" in body and not self.takes_schemas):
            return JSONResponse({"error": {"message": "response_format is not supported"}}, 400)
        ends_at = time.monotonic() + self.delay_s
        while time.monotonic() < ends_at:
            if await request.is_disconnected():
                self.left.set()
            await asyncio.sleep(0.02)
        plans = "plan searches" in body["messages"][0]["content"]
        content = json.dumps({"queries": ["R2"]} if plans else JUDGED)
        frame = {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted"}
        return JSONResponse({**frame, "choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


@pytest.fixture
def server():
    return Server()


@pytest.fixture
async def model(server):
    """The chat client of a real server."""
    routes = [Route("/v1/chat/completions", server.answer, methods=["POST"])]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        running = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off"))
        serving = asyncio.create_task(running.serve(sockets=[listening]))
        chat = OpenAIChat(ChatConfig(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", "scripted", max_retries=0))
        yield chat
        await chat.aclose()
        running.should_exit = running.force_exit = True
        await serving


def run(model):
    reasoner = LlmReasoner(model, HeuristicReasoner(Scoring(terms, is_question, answering)))
    return SearchAgent(reasoner, Limits(), time).run(TASK, ScriptedTool([[Candidate(1, TEXT)]]))


async def test_replies_are_constrained_by_the_schema_of_each_step(server, model):
    """Where the server can, it is given the JSON schema of what is read."""
    found = await run(model)
    assert (found.status, found.stopped_by) == ("COMPLETED", "covered")
    forms = [asked["response_format"]["json_schema"]["schema"] for asked in server.requests]
    assert forms == [QUERIES, JUDGEMENT]


async def test_a_server_without_schemas_is_asked_without_and_not_tried_again(server, model):
    """One refusal is enough to know; the replies are checked all the same."""
    server.takes_schemas = False
    found = await run(model)
    assert (found.status, found.stopped_by) == ("COMPLETED", "covered")
    assert ["response_format" in asked for asked in server.requests] == [True, False, False]


async def test_a_server_that_refuses_everything_is_not_taken_for_one_without_schemas(server, model):
    """A refusal both with and without a schema says nothing of schemas."""
    server.refuses_all = True
    with pytest.raises(ChatModelRejected):
        await model.complete([], QUERIES)
    server.refuses_all = False
    await run(model)
    assert all("response_format" in asked for asked in server.requests[2:])


async def test_whoever_leaves_takes_the_request_to_the_model_along(server, model):
    """Cancelling the agent ends the model's request, not only our waiting for it."""
    server.delay_s = 5
    work = asyncio.create_task(run(model))
    await server.asked.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await asyncio.wait_for(server.left.wait(), 1)
