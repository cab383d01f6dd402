"""A language model that is away, talks nonsense, or wants more than it may: the evidence is honest all the same."""

import asyncio
import json
import re

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

PATH = "/v1/librarian/search-agent"
FULL = {"Librarian-Detail": "full"}
LIE = "THE ANSWER IS 42"


def said(text):
    message = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return JSONResponse({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [message]})


def judged(prompt, evidence):
    """A judgement of every item in the prompt by one list of evidence."""
    numbers = [int(number) for number in re.findall(r'<item number="(\d+)"', prompt)]
    return json.dumps({"needs": [{"item": number, "evidence": evidence} for number in numbers]})


def honest(prompt):
    """Plans the question; takes the first letters of each candidate that speaks of the topic as a quote."""
    shown = re.findall(r'<candidate temp_index="(\d+)">\n(.*?)\n</candidate>', prompt, re.DOTALL)
    if not shown:
        return json.dumps({"queries": ["決定係数"]})
    return judged(prompt, [{"temp_index": int(index), "quote": text[:20]} for index, text in shown if "R²" in text])


class Model:
    """Speaks OpenAI's protocol; `reply` makes the text, or a whole response, of the user's last message."""

    def __init__(self) -> None:
        self.reply = honest
        self.prompts = []

    async def answer(self, request):
        asked = await request.json()
        self.prompts.append(asked["messages"][1]["content"])
        made = self.reply(asked["messages"][1]["content"])
        made = await made if asyncio.iscoroutine(made) else made
        return made if isinstance(made, Response) else said(made)


@pytest.fixture
def model():
    return Model()


@pytest.fixture
async def client(model, serving, listening):
    async with (
        listening(Starlette(routes=[Route("/v1/chat/completions", model.answer, methods=["POST"])])) as url,
        serving(LLM_BASE_URL=f"{url}/v1", LLM_MODEL="m", LLM_TIMEOUT="2") as client,
    ):
        yield client


async def found_by(client, asked):
    answer = await client.post(PATH, json=asked, headers=FULL)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_model_that_works_covers_everything(client, asked, model):
    """It sees texts and temp_index alone: no source, no page, no score, no address."""
    found = await found_by(client, asked)
    assert (found["status"], found["stopped_by"]) == ("COMPLETED", "covered")
    seen = "".join(model.prompts)
    assert "temp_index" in seen
    assert not any(word in seen for word in ("Lecture 03\n", "Syllabus", "score", "127.0.0.1"))


async def endless():
    async def drops():
        yield b'{"choices": [{"message": {"content": "'
        while True:
            yield b"x"
            await asyncio.sleep(0.02)

    return StreamingResponse(drops(), media_type="application/json")


@pytest.mark.parametrize(
    "reply",
    [
        lambda _: Response(status_code=500),
        lambda _: Response(status_code=400),
        lambda _: Response(b"<html>", media_type="application/json"),
        lambda _: "not json at all",
        lambda _: "I'm sorry, but I can't help with that.",
        lambda _: '{"needs": "all of them"}',
        lambda _: LIE,
        lambda _: endless(),
    ],
    ids=["fails", "rejects", "html", "garbage", "refuses", "other-shape", "answers", "endless"],
)
async def test_a_judge_that_fails_is_no_success(client, asked, model, reply):
    """The heuristics go on, what they found is given as the best so far, and the summary names the failure."""
    model.reply = reply
    found = await found_by(client, asked)
    assert found["status"] in ("PARTIAL", "NO_EVIDENCE")
    assert "The language model failed" in found["reasoning_summary"]
    assert LIE not in json.dumps(found)


async def test_a_model_that_is_away_is_no_success(serving, asked, unused_port):
    async with serving(LLM_BASE_URL=f"http://127.0.0.1:{unused_port}/v1", LLM_MODEL="m") as client:
        found = await found_by(client, asked)
    assert found["status"] == "PARTIAL"
    assert "The language model failed" in found["reasoning_summary"]


@pytest.mark.parametrize(
    "evidence",
    [
        [{"temp_index": 999, "quote": "決定係数"}],
        [{"temp_index": -1, "quote": "決定係数"}],
        [{"temp_index": 1, "quote": LIE}],
        [{"temp_index": 1, "quote": ""}],
    ],
    ids=["unseen", "negative", "invented-quote", "no-quote"],
)
async def test_evidence_that_does_not_exist_is_not_selected(client, asked, model, evidence):
    """An index that nobody has seen, or words that stand nowhere, cover nothing."""
    model.reply = lambda prompt: judged(prompt, evidence) if "<candidate" in prompt else honest(prompt)
    asked["task"]["max_retries"] = 2
    found = await found_by(client, asked)
    assert (found["status"], found["selected_evidence"]) == ("NO_EVIDENCE", [])
    assert LIE not in json.dumps(found)


async def test_without_tokens_the_heuristics_do_the_work(serving, listening, asked, model):
    """Checked before anything is spent: with none the model is never asked."""
    async with (
        listening(Starlette(routes=[Route("/v1/chat/completions", model.answer, methods=["POST"])])) as url,
        serving(LLM_BASE_URL=f"{url}/v1", LLM_MODEL="m", LIBRARIAN_AGENT_TOKEN_BUDGET="0") as client,
    ):
        found = await found_by(client, asked)
    assert found["status"] == "PARTIAL"
    assert "token budget was used up" in found["reasoning_summary"]
    assert model.prompts == []


async def test_the_reasoner_can_be_chosen(serving, listening, asked, model):
    """heuristic leaves a configured model alone."""
    async with (
        listening(Starlette(routes=[Route("/v1/chat/completions", model.answer, methods=["POST"])])) as url,
        serving(LLM_BASE_URL=f"{url}/v1", LLM_MODEL="m", LIBRARIAN_AGENT_REASONER="heuristic") as client,
    ):
        await found_by(client, asked)
    assert model.prompts == []
