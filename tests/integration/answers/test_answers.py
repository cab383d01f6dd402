import asyncio
import contextlib
import json

import pytest

from librarian.search.contracts import AnswerInput

QUERY = "how long did the rollback of harbor-api take"
BODY = {"query": QUERY}


async def posted(serving, served, namespace, **changes):
    async with serving(served, namespace, **changes) as client:
        answer = await client.post("/v1/answer", json=BODY)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def streamed(client):
    """Name and value of each event."""
    async with client.stream("POST", "/v1/answer", json=BODY, headers={"Accept": "text/event-stream"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        text = (await answer.aread()).decode()
    events = []
    for block in text.split("\n\n"):
        if block and not block.startswith(":"):
            name, data = block.split("\n")
            events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


async def test_citations_are_checked_against_the_hits(serving, asking, script, namespace, story):
    """A known citation stays, an invented one goes and is reported, and so is a sentence without any."""
    script.say = lambda ids: "It took 16 minutes [memory: tell]. Emma did it [memory: m-404]. [Memory：d-2]"
    answer = await posted(serving, asking(), namespace)
    assert (answer["status"], answer["method"], answer["model"]) == ("answered", "llm", "scripted")
    assert answer["text"] == "It took 16 minutes [memory: tell]. Emma did it. [memory: tell]"
    assert answer["citations"] == [{"id": "tell", "uid": "tell"}]
    assert answer["invented_citations"] == ["m-404"]
    assert answer["notes"] == []


async def test_memories_are_data_whatever_they_say(serving, asking, script, namespace, story):
    """A memory cannot leave its delimiters, speak as the system, or bring a citation of its own."""
    script.say = lambda ids: "16 minutes [memory: tell]."
    await posted(serving, asking(), namespace)
    (asked,) = script.requests
    system, user = asked["messages"]
    assert [system["role"], user["role"]] == ["system", "user"]
    assert "PWNED" not in system["content"]
    assert "PWNED" in user["content"]
    entries = user["content"].count('<memory id="')
    assert user["content"].count("</memory>") == entries == user["content"].count("<memory")
    assert "[memory: other]" not in user["content"]
    assert "<|im_start|>" not in user["content"]


async def test_a_hit_that_the_model_was_not_shown_cannot_be_cited(asking, script, namespace, story):
    """Hits that did not fit into the context support nothing."""
    served, uids, shown = asking(context_chars=500), ("tell", "ask", "mem", "fact", "orders", "other"), []
    script.say = lambda ids: shown.extend(ids) or "So " + " ".join(f"[memory: {uid}]" for uid in uids)
    answer = await served.answer(namespace, AnswerInput(query=QUERY))
    assert 0 < len(shown) < len(uids)
    assert {citation.id for citation in answer.citations} == set(shown)
    assert set(answer.invented_citations) == set(uids) - set(shown)
    assert any(f"saw the first {len(shown)} of" in note for note in answer.notes)


async def test_a_request_is_what_openai_s_protocol_says(asking, script, namespace, story):
    """The router's `intent` goes beside the standard fields, unless it is `none`; the key goes as a bearer token."""
    await asking(api_key="k-1", intent="librarian").answer(namespace, AnswerInput(query=QUERY))
    await asking(intent="none").answer(namespace, AnswerInput(query=QUERY))
    first, second = script.requests
    assert (first["model"], first["intent"], first["temperature"]) == ("scripted", "librarian", 0)
    assert "intent" not in second
    assert script.keys[0] == "Bearer k-1"


async def test_the_model_may_refuse(serving, asking, script, namespace, story):
    """The agreed token means: the hits do not answer."""
    script.say = lambda ids: "NO_ANSWER"
    answer = await posted(serving, asking(), namespace)
    assert (answer["status"], answer["text"], answer["citations"]) == ("refused", "", [])
    assert "found no answer" in answer["reason"]
    assert answer["hits"]


async def test_an_empty_namespace_refuses_without_asking(serving, asking, script, namespace):
    """No hits, no model, no guess."""
    answer = await posted(serving, asking(), namespace)
    assert (answer["status"], answer["hits"]) == ("refused", [])
    assert script.requests == []


async def test_without_a_model_the_answer_quotes(serving, librarian, namespace, story):
    """An extract says that it is one, and cites like any answer."""
    answer = await posted(serving, librarian, namespace)
    assert (answer["status"], answer["method"]) == ("answered", "extractive")
    assert answer["text"].startswith(
        "The rollback of harbor-api took 16 minutes, no longer. (Kenji, 2026-02-18) [memory: tell]"
    )
    assert answer["citations"][0]["uid"] == "tell"
    assert "LLM_BASE_URL" in answer["notes"][0]


async def test_a_quoted_sentence_brings_no_citation_along(librarian, namespace, ingest):
    """A memory that writes `[memory: …]` itself is quoted without it."""
    await ingest({"kind": "memory", "uid": "liar", "text": "The regatta was won by Emma [memory: proof-1]."})
    answer = await librarian.answer(namespace, AnswerInput(query="who won the regatta"))
    assert answer.text == "The regatta was won by Emma (memory: proof-1]. [memory: liar]"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"status": 503}, "503"),
        ({"status": 429}, "429"),
        ({"status": 401}, "LLM_ settings"),
        ({"status": 400}, "refuses"),
        ({"body": b"<html>"}, "no answer"),
        ({"body": b"{}"}, "no answer"),
        ({"body": b'{"choices": [{"message": {"content": null}}]}'}, "no answer"),
        ({"say": lambda ids: "It took a week [memory: m-404]."}, "cites none"),
    ],
)
async def test_a_broken_model_leaves_an_extract(serving, asking, script, namespace, story, broken, said):
    """Whatever the model's server does, the answer is an extract that says why; never a failure."""
    for name, value in broken.items():
        setattr(script, name, value)
    answer = await posted(serving, asking(), namespace)
    assert (answer["status"], answer["method"], answer["model"]) == ("answered", "extractive", None)
    assert said in answer["notes"][0]
    assert len(script.requests) <= 2


async def test_a_busy_model_is_asked_again(asking, script, namespace, story):
    """One refusal for want of capacity is no reason for an extract."""
    script.status, script.failures = 429, 1
    answer = await asking().answer(namespace, AnswerInput(query=QUERY))
    assert answer.method == "llm"
    assert len(script.requests) == 2


async def test_a_model_that_is_down_leaves_an_extract(asking, namespace, story, unused_tcp_url):
    """Nobody listens there."""
    answer = await asking(base_url=unused_tcp_url).answer(namespace, AnswerInput(query=QUERY))
    assert (answer.method, "cannot be reached" in answer.notes[0]) == ("extractive", True)


async def test_the_request_s_deadline_leaves_time_for_an_extract(serving, asking, script, namespace, story):
    """A model slower than the request may last is not waited for."""
    script.delay_s = 60.0
    answer = await posted(serving, asking(), namespace, request_timeout_s=3.0)
    assert answer["method"] == "extractive"
    assert "in time" in answer["notes"][0]


async def test_a_stream_shows_checked_text_only(serving, asking, script, namespace, story):
    """Hits, pieces that never hold part of an invented citation, and the whole answer, equal to them."""
    script.say = lambda ids: "It took 16 minutes [memory: tell], not a week [memory: m-404]. Sure."
    async with serving(asking(), namespace) as client:
        events = await streamed(client)
    names = [name for name, _ in events]
    assert names == ["hits", *["delta"] * (len(names) - 2), "answer"]
    answer = events[-1][1]
    shown = "".join(value["text"] for name, value in events if name == "delta")
    assert shown == answer["text"] == "It took 16 minutes [memory: tell], not a week. Sure."
    assert names.count("delta") > 5
    assert (answer["invented_citations"], answer["uncited_sentences"]) == (["m-404"], ["Sure."])
    assert events[0][1]["hits"] == answer["hits"]


async def test_a_stream_that_breaks_off_ends_with_an_extract(serving, asking, script, namespace, story):
    """The last event alone counts, and there always is one."""
    script.say, script.cut_after = lambda ids: "It took 16 minutes [memory: tell].", 5
    async with serving(asking(), namespace) as client:
        events = await streamed(client)
    name, answer = events[-1]
    assert (name, answer["method"]) == ("answer", "extractive")
    assert "ended the connection" in answer["notes"][0]


async def test_a_client_that_leaves_stops_the_model(serving, asking, script, namespace, story):
    """The model's server sees that nobody waits any more."""
    script.delay_s, script.say = 0.05, lambda ids: "word " * 4000
    async with serving(asking(), namespace) as client:
        async with client.stream("POST", "/v1/answer", json=BODY, headers={"Accept": "text/event-stream"}) as answer:
            async for line in answer.aiter_lines():
                if line == "event: delta":
                    break
        async with asyncio.timeout(10):
            await script.left.wait()


async def test_bad_input_is_refused_before_a_stream_begins(serving, asking, namespace):
    """A stream is promised to good requests only; others get a problem with its status."""
    async with serving(asking(), namespace) as client:
        answer = await client.post("/v1/answer", json={"query": ""}, headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer.json()["field"]) == (400, "$.query")


@pytest.fixture
async def unused_tcp_url():
    with contextlib.closing(await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)) as server:
        port = server.sockets[0].getsockname()[1]
    await server.wait_closed()
    return f"http://127.0.0.1:{port}/v1"
