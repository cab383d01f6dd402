"""Values at the far ends of their types, over HTTP: the caller's fault is told, and nothing is a defect."""

import httpx
import pytest

BEYOND_UTC = ("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00")
MEMORY = {"kind": "memory", "text": "x"}


@pytest.fixture
async def client(service, key):
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=service, headers=headers, trust_env=False, timeout=60) as client:
        yield client


@pytest.mark.parametrize("time", BEYOND_UTC)
async def test_a_time_that_utc_has_no_year_for_is_invalid_input(client, time):
    """In filters, in rows and in corrections alike."""
    for method, path, body in (
        ("POST", "/v1/search", {"queries": ["x"], "filters": {"as_of": time}}),
        ("POST", "/v1/items:delete", {"filters": {"occurred_from": time}}),
        ("PUT", "/v1/items/m1", {**MEMORY, "occurred_at": time}),
        ("POST", "/v1/tools/remember", {"text": "x", "occurred_at": time}),
    ):
        answer = await client.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input"), path
        assert time in answer.json()["detail"]
    listed = await client.get("/v1/items", params={"occurred_to": time})
    assert listed.status_code == 400
    stored = await client.post("/v1/items", json=[{**MEMORY, "occurred_at": time}, MEMORY])
    assert (stored.status_code, stored.json()["added"], stored.json()["errors"][0]["line"]) == (207, 1, 1)


@pytest.mark.parametrize("char", ["\0", "\x1f", "\x85", "\u2028", "\ufeff", "\uffff", "😀", "\u202e", '"', "\\"])
async def test_any_character_is_a_value_or_invalid_input(client, char):
    """Stored, searched and filtered by, or refused; a graph or an index never chokes on it."""
    for path, body in (
        ("/v1/items", {**MEMORY, "text": f"a{char}b", "name": char, "domain": char, "tags": [char]}),
        ("/v1/items", {**MEMORY, "uid": f"u{char}"}),
        ("/v1/items", {"kind": "fact", "text": "x", "attributes": {char: char}, "evidence": [char]}),
        ("/v1/search", {"queries": [char, f"a{char}b"], "filters": {"domain": char, "tags": [char]}}),
    ):
        assert (await client.post(path, json=body)).status_code in {200, 400, 422}, (path, body)
    assert (await client.get("/v1/items", params={"domain": char})).status_code == 200
