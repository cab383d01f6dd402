"""The trace: only added to, free of secrets and ids, and leading to the same result again."""

import json
import time

import pytest

from librarian_agents.errors import InvalidTrace, ToolRetry
from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.llm import LlmReasoner
from librarian_agents.search.replay import replay
from librarian_agents.search.trace import Trace
from librarian_agents.search.types import Candidate, EvidenceTask
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from tests.unit.librarian_agents.scripted import ScriptedModel, ScriptedTool

SCORING = Scoring(terms, is_question, answering)
SECRETS = {
    "an OpenAI key": "sk-proj-abcdefghijklmnop1234",
    "a GitHub token": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "a bearer token": "Bearer abcdef.123456",
    "an address with a password": "postgres://admin:hunter2@db.example/x",
    "a setting": "password=correct-horse",
    "a setting in YAML": "api_key: 12345-abcde",
    "a web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc123",
    "an AWS key": "AKIAIOSFODNN7EXAMPLE",
    "a UUID": "123e4567-e89b-12d3-a456-426614174000",
    "a hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
}
HARMLESS = "R2 = 1 - SS_res / SS_tot; see https://example.org/a/b?c=d, 2026-11-21, v1.2.3, the token ring, 決定係数とは"


def written(**values):
    trace = Trace()
    trace.add("task", **values)
    return json.dumps(trace.to_dict(), ensure_ascii=False)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_secrets_and_ids_never_stand_in_a_trace(secret):
    kept = secret.removeprefix("Bearer ").removeprefix("password=").removeprefix("api_key: ")
    kept = kept.replace("postgres://", "").replace("@db.example/x", "")
    text = written(task={"user_query": f"why is {secret} refused?", "target_items": [secret]})
    assert json.dumps(kept)[1:-1] not in text
    assert "[redacted-1]" in text


def test_other_texts_stay_as_they_are():
    assert HARMLESS in written(query=HARMLESS)


def test_what_differed_still_differs_and_what_was_equal_is_equal():
    trace = Trace()
    trace.add("plan", queries=["id 123e4567-e89b-12d3-a456-426614174000", "id 123e4567-e89b-12d3-a456-426614174001"])
    trace.add("search", query="id 123e4567-e89b-12d3-a456-426614174000")
    assert trace.steps[0]["queries"] == ["id [redacted-1]", "id [redacted-2]"]
    assert trace.steps[1]["query"] == "id [redacted-1]"


def test_what_was_added_does_not_change_with_what_it_was_made_of():
    queries = ["one"]
    trace = Trace()
    trace.add("plan", queries=queries)
    queries.append("two")
    assert trace.steps[0]["queries"] == ["one"]


DOCUMENTS = [
    Candidate(
        1, "When A Man's A Man\nWhen a Man's a Man is a 1935 film directed by Edward F. Cline.", "films", "1", 0.9
    ),
    Candidate(
        2, "Edward F. Cline\nEdward Francis Cline (November 4, 1891) was a director. token=abcdef12345", "p", "9", 0.5
    ),
    Candidate(3, "Another film\nAnother film is a film by somebody.", "films", "2", 0.4),
]
TASK = {"user_query": "q", "target_items": ["a"], "max_retries": 1}
QUESTION = "When is the director of film When A Man'S A Man 's birthday?"


async def again(found):
    """The result of the replay of a trace that was written down and read."""
    return await replay(Trace.from_dict(json.loads(json.dumps(found.trace.to_dict()))), time)


def result(found):
    return found.trace.named("done")[0], found.coverage, found.missing_items, found.searches_used


async def asked(reasoner, tool, *items, **limits):
    task = EvidenceTask(QUESTION, items or (QUESTION,), 3)
    return await SearchAgent(reasoner, Limits(**limits), time).run(task, tool)


async def test_a_replay_gives_the_same_result():
    found = await asked(HeuristicReasoner(SCORING), ScriptedTool([DOCUMENTS]))
    assert len(found.selected_evidence) == 2
    assert result(await again(found)) == result(found)


async def test_a_replay_of_a_language_model_needs_none():
    judged = {"needs": [{"item": 1, "evidence": [{"temp_index": 2, "quote": "token=abcdef12345"}]}]}
    model = ScriptedModel(['{"queries": ["cline"]}', json.dumps(judged)])
    found = await asked(LlmReasoner(model, HeuristicReasoner(SCORING)), ScriptedTool([DOCUMENTS]))
    assert found.status == "COMPLETED"
    assert result(await again(found)) == result(found)


async def test_a_replay_fails_where_the_tool_failed():
    tool = ScriptedTool([DOCUMENTS[2:], ToolRetry()])
    found = await asked(HeuristicReasoner(SCORING), tool, "birthday", "place")
    assert found.stopped_by == "tool_failed"
    assert result(await again(found)) == result(found)


async def test_a_replay_ends_where_the_deadline_did():
    found = await asked(HeuristicReasoner(SCORING), ScriptedTool([DOCUMENTS]), deadline_s=0)
    assert found.stopped_by == "deadline"
    assert result(await again(found)) == result(found)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"version": 2, "steps": []},
        {"version": 1, "steps": [1]},
        {"version": 1, "steps": []},
        {"version": 1, "steps": [{"step": "task", "task": {}}, {"step": "done"}]},
        {"version": 1, "steps": [{"step": "task", "task": 5}, {"step": "done"}]},
        {"version": 1, "steps": [{"step": "task", "task": TASK}, {"step": "done"}]},
        {"version": 1, "steps": [{"step": "task", "task": TASK, "limits": {"speed": 5}}, {"step": "done"}]},
        {"version": 1, "steps": [{"step": "task", "task": TASK | {"target_items": [5]}}, {"step": "done"}]},
        {"version": 1, "steps": [{"step": "task", "task": TASK, "limits": {}}, {"step": "done"}]},
    ],
)
async def test_what_is_no_trace_is_refused(broken):
    with pytest.raises(InvalidTrace):
        await replay(Trace.from_dict(broken), time)


async def test_a_trace_whose_steps_do_not_fit_together_is_refused():
    found = await asked(HeuristicReasoner(SCORING), ScriptedTool([DOCUMENTS]))
    data = json.loads(json.dumps(found.trace.to_dict()))
    for step in data["steps"]:
        if step["step"] == "search":
            step["query"] = "something else"
    with pytest.raises(InvalidTrace, match="another search"):
        await replay(Trace.from_dict(data), time)
