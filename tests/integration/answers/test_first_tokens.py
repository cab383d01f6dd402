"""The first token of a server's reply and its alternatives, over HTTP."""

import json

import pytest

from librarian_agents.chat.client import ChatConfig, OpenAIChat
from librarian_agents.chat.model import ChatMessage
from librarian_agents.errors import ChatModelUnavailable
from librarian_agents.sweep.classify import Verdict
from librarian_agents.sweep.label import SURE, label_memory
from librarian_agents.sweep.memory_types import MemoryType

ASKED = [ChatMessage("user", "Which letter?")]
OPEN = Verdict(MemoryType.INSIGHT, 0.4, "head")


@pytest.fixture
async def model(model_url):
    """A client of the scripted server."""
    chat = OpenAIChat(ChatConfig(model_url, "scripted", max_retries=0))
    yield chat
    await chat.aclose()


def reply(content, logprobs):
    """A reply as a server writes it."""
    choice = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": content}}
    made = {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted"}
    return json.dumps({**made, "choices": [{**choice, "logprobs": logprobs}]}).encode()


def tops(**logprobs):
    """Alternatives of the first token."""
    listed = [{"token": token, "logprob": value, "bytes": None} for token, value in logprobs.items()]
    return {"content": [{**listed[0], "top_logprobs": listed}], "refusal": None}


async def test_one_token_is_asked_for_and_its_alternatives_are_told(model, script):
    """The request is for one token with log-probabilities, and all alternatives come back."""
    script.body = reply("D", tops(D=-0.1, C=-2.5))
    assert await model.first_tokens(ASKED) == {"D": -0.1, "C": -2.5}
    (request,) = script.requests
    assert (request["max_tokens"], request["logprobs"], request["top_logprobs"]) == (1, True, 10)


@pytest.mark.parametrize("logprobs", [None, {"content": None, "refusal": None}, {"content": [], "refusal": None}])
async def test_a_server_without_log_probabilities_has_none(model, script, logprobs):
    """Absent log-probabilities are an empty answer, not an error."""
    script.body = reply("D", logprobs)
    assert await model.first_tokens(ASKED) == {}


async def test_a_server_that_refuses_them_is_asked_for_json(model, script):
    """A 400 to log-probabilities leads to the request with a schema."""
    script.status, script.failures = 400, 1
    script.say = lambda _: json.dumps({"type": "Insight", "sure": True})
    verdict = await label_memory(model, "The rollback was slow.", OPEN)
    assert (verdict.type, verdict.confidence) == (MemoryType.INSIGHT, SURE)
    assert [request.get("logprobs") for request in script.requests] == [True, None]


async def test_a_server_that_fails_is_an_error(model, script):
    """A busy server is not mistaken for one without log-probabilities."""
    script.status = 503
    with pytest.raises(ChatModelUnavailable):
        await model.first_tokens(ASKED)
