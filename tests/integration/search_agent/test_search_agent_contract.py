"""The search agent's requests and answers over HTTP, to the letter."""

import json

import pytest

from librarian.http.api import DOCUMENTED
from librarian.http.openapi import document

PATH = "/v1/librarian/search-agent"


def changed(asked, path, value=None):
    """The request with one field set, or taken away where no value is given."""
    *above, name = path.split(".")
    place = asked
    for key in above:
        place = place[key]
    if value is None:
        del place[name]
    else:
        place[name] = value
    return asked


async def test_the_example_selects_the_definition_the_formula_and_the_interpretation(client, asked, professor):
    """Three keys and no more; two or three pieces; every index was shown, and each why quotes its text."""
    answer = await client.post(PATH, json=asked)
    found = answer.json()
    assert (answer.status_code, set(found)) == (200, {"status", "selected_evidence", "reasoning_summary"})
    assert found["status"] == "COMPLETED"
    assert {one["temp_index"] for one in found["selected_evidence"]} <= {1, 2, 3}
    assert 2 <= len(found["selected_evidence"]) <= 3
    assert all(set(one) == {"temp_index", "why"} for one in found["selected_evidence"])
    assert "決定係数" in answer.text  # as it is, not escaped


async def test_full_detail_says_what_is_covered_and_what_ended_the_work(client, asked, professor):
    """Coverage by index, the number of searches, an id; no trace, and no uid, since documents are the Professor's."""
    found = (await client.post(PATH, json=asked, headers={"Librarian-Detail": "full"})).json()
    assert set(found["coverage"]) == {"definition", "formula", "interpretation_0_1"}
    assert (found["missing_items"], found["stopped_by"]) == ([], "covered")
    assert found["searches_used"] == len(professor.asked)
    assert found["trace_id"] == professor.asked[0]["request_id"]
    assert "trace" not in found
    assert not any("uid" in one for one in found["selected_evidence"])


async def test_a_trace_comes_when_it_is_asked_for(client, asked):
    """Every step by name, the first the task, the last the end."""
    found = (await client.post(PATH, json=asked, headers={"Librarian-Detail": "trace"})).json()
    steps = [step["step"] for step in found["trace"]["steps"]]
    assert (steps[0], steps[-1]) == ("task", "done")
    assert {"plan", "search", "evaluation"} <= set(steps)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("user_query", None, "$.user_query"),
        ("analyzed_info", None, "$.analyzed_info"),
        ("task", None, "$.task"),
        ("stop_conditions", None, "$.stop_conditions"),
        ("task.target_items", None, "$.task.target_items"),
        ("task.max_retries", None, "$.task.max_retries"),
        ("k", 10, "$.k"),
        ("task.k", 10, "$.task.k"),
        ("user_query", "", "$.user_query"),
        ("user_query", " 　\n", "$.user_query"),
        ("user_query", 3, "$.user_query"),
        ("task.target_items", [], "$.task.target_items"),
        ("task.target_items", "definition", "$.task.target_items"),
        ("task.target_items", ["definition", ""], "$.task.target_items[1]"),
        ("task.target_items", ["x"] * 101, "$.task.target_items"),
        ("task.max_retries", -1, "$.task.max_retries"),
        ("task.max_retries", 21, "$.task.max_retries"),
        ("task.max_retries", 10**9, "$.task.max_retries"),
        ("task.max_retries", 10**30, "$.task.max_retries"),
        ("task.max_retries", "5", "$.task.max_retries"),
        ("task.max_retries", 5.5, "$.task.max_retries"),
        ("task.max_retries", True, "$.task.max_retries"),
        ("analyzed_info", [], "$.analyzed_info"),
        ("analyzed_info.context", "長い" * 500_000, "$.analyzed_info.context"),
        ("stop_conditions", ["x"], "$.stop_conditions"),
    ],
)
async def test_the_first_fault_is_named_with_its_path(client, asked, professor, path, value, named):
    """400, and the Professor hears nothing of it."""
    answer = await client.post(PATH, json=changed(asked, path, value))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")
    assert answer.json()["field"] == named
    assert professor.asked == []


@pytest.mark.parametrize("body", ["", "[]", "null", "{", '"決定係数"', '{"user_query": "a", "user_query": "b"}'])
async def test_what_is_no_request_is_a_400(client, body):
    answer = await client.post(PATH, content=body.encode(), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


async def test_analyzed_info_is_open(client, asked):
    """Whatever else the Professor knows may stand there; nothing in it is required."""
    asked["analyzed_info"] = {"course": {"id": 7}, "difficulty": None}
    assert (await client.post(PATH, json=asked)).status_code == 200


async def test_no_refinement_means_one_round(client, asked, professor):
    """max_retries 0: what the plan asks, and no more."""
    asked["task"] = {"target_items": ["definition", "proof by induction"], "max_retries": 0}
    found = (await client.post(PATH, json=asked, headers={"Librarian-Detail": "trace"})).json()
    planned = next(step for step in found["trace"]["steps"] if step["step"] == "plan")["queries"]
    assert [one["query"] for one in professor.asked] == planned
    assert "refine" not in [step["step"] for step in found["trace"]["steps"]]
    assert found["status"] == "PARTIAL"


async def test_a_hundred_target_items_are_answered(client, asked):
    """Many are covered by nothing, and said to be missing."""
    asked["task"] = {"target_items": [f"定理{number}の証明" for number in range(100)], "max_retries": 20}
    answer = await client.post(PATH, json=asked, headers={"Librarian-Detail": "full"})
    assert answer.status_code == 200
    assert len(answer.json()["coverage"]) + len(answer.json()["missing_items"]) == 100


async def test_the_key_needs_the_scope_and_no_namespace(client, keys, asked):
    """A reader's key is refused, and so is none at all."""
    for scopes, status in ((["read"], 403), (["agent"], 200), (["admin"], 200)):
        _, key = keys.create("t", namespaces=["a", "b"], scopes=scopes)
        answer = await client.post(PATH, json=asked, headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == status, scopes
    assert (await client.post(PATH, json=asked, headers={"Authorization": ""})).status_code == 401


async def test_an_unknown_detail_is_a_400(client, asked):
    answer = await client.post(PATH, json=asked, headers={"Librarian-Detail": "everything"})
    assert (answer.status_code, answer.json()["field"]) == (400, "Librarian-Detail")


async def test_without_a_graph_the_rest_of_the_service_says_so(client, keys):
    """Ready, healthy, documented; what needs a graph is a 503 that names the reason."""
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["phase"]) == (200, "ready")
    assert (await client.get("/healthz")).status_code == 200
    _, key = keys.create("t", namespaces=["a"], scopes=["admin"])
    headers = {"Authorization": f"Bearer {key}"}
    for method, path, body in (("POST", "/v1/search", {"queries": ["x"]}), ("GET", "/v1/items", None)):
        answer = await client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")
        assert "--agent-only" in answer.json()["detail"]


def test_the_specification_s_examples_stand_in_the_document(asked):
    """The request as it is, and an answer of three keys; the headers that it reads are parameters."""
    operation = document(DOCUMENTED)["paths"][PATH]["post"]
    sent = operation["requestBody"]["content"]["application/json"]["examples"]
    assert asked in [example["value"] for example in sent.values()]
    answered = operation["responses"]["200"]["content"]["application/json"]["examples"]
    assert {"status", "selected_evidence", "reasoning_summary"} in [set(one["value"]) for one in answered.values()]
    assert {"502", "503", "400"} <= set(operation["responses"])
    assert "Librarian-Detail" in json.dumps(operation["parameters"])
