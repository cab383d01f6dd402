"""Limits over the real server; writes hold their slots, since the graph that they wait for never comes."""

import asyncio
import json

import httpx
import pytest

from librarian.base.settings.settings import Settings

ROW = {"kind": "message", "text": "x"}
QUERY = {"queries": ["why?"]}


@pytest.fixture
def settings(tmp_path):
    return Settings.from_env(
        {
            "LIBRARIAN_HOME": str(tmp_path / "home"),
            "LIBRARIAN_MAX_CONCURRENT": "1",
            "LIBRARIAN_MAX_QUEUED": "1",
            "LIBRARIAN_RATE_LIMIT": "20/hour",
            "LIBRARIAN_MAX_TEXT_CHARS": "1000",
            "LIBRARIAN_MAX_BATCH_ROWS": "3",
        }
    )


def assert_problem(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


async def held(client, running, queued):
    """Wait until so many requests hold and await slots."""
    figures = {f"librarian_http_running {running}.0", f"librarian_http_queued {queued}.0"}
    while not figures <= set((await client.get("/metrics")).text.splitlines()):
        await asyncio.sleep(0.01)


async def write(client, headers, timeout_ms=60_000):
    headers = {**headers, "Request-Timeout-Ms": str(timeout_ms)}
    return await client.post("/v1/items", json=ROW, headers=headers, timeout=60)


async def test_above_slots_and_queue_requests_are_refused_at_once_and_probes_are_not(client, key_for):
    """One runs, one waits, the third is told to come again; /healthz, /readyz and /metrics answer as ever."""
    headers = key_for("admin", "a")
    tasks = []
    for running, queued in ((1, 0), (1, 1)):
        tasks.append(asyncio.create_task(write(client, headers)))
        await held(client, running, queued)
    refused = await client.post("/v1/search", json=QUERY, headers=headers)
    assert_problem(refused, 503, "overloaded")
    assert int(refused.headers["retry-after"]) > 0
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.get("/readyz")).json()["phase"] == "starting"
    assert 'librarian_http_refused_total{reason="overloaded"}' in (await client.get("/metrics")).text
    for task in tasks:
        task.cancel()
    await held(client, 0, 0)


async def test_waiting_counts_against_the_deadline(client, key_for):
    """A request whose time is up in the queue is answered, with why there is no graph, and its place is free."""
    headers = key_for("write", "a")
    running = asyncio.create_task(write(client, headers))
    await held(client, 1, 0)
    assert_problem(await write(client, headers, timeout_ms=100), 503, "not_ready")
    await held(client, 1, 0)
    running.cancel()
    await held(client, 0, 0)


async def test_clients_that_go_away_leave_their_slots_and_places(client, key_for):
    """Neither the running nor the waiting request of a client that has gone keeps anybody out."""
    headers = key_for("admin", "a")
    running = asyncio.create_task(write(client, headers))
    await held(client, 1, 0)
    waiting = asyncio.create_task(write(client, headers))
    await held(client, 1, 1)
    waiting.cancel()
    await held(client, 1, 0)
    running.cancel()
    await held(client, 0, 0)
    assert_problem(await client.post("/v1/search", json=QUERY, headers=headers), 503, "not_ready")


async def test_a_key_s_rate_is_its_own(client, key_for):
    """429 says when to come back; another key goes on. What lacks the scope counts as well."""
    entry, other = key_for("read", "a"), key_for("read", "a")
    for _ in range(10):
        assert_problem(await client.post("/v1/search", json=QUERY, headers=entry), 503, "not_ready")
        assert_problem(await client.post("/v1/items", json=ROW, headers=entry), 403, "forbidden")
    answer = await client.post("/v1/search", json=QUERY, headers=entry)
    assert_problem(answer, 429, "too_many_requests")
    assert 170 <= int(answer.headers["retry-after"]) <= 180  # 20 an hour: one in three minutes
    assert_problem(await client.post("/v1/search", json=QUERY, headers=other), 503, "not_ready")


async def test_failed_authentications_are_not_free_and_lock_nobody_out(client, key_for):
    """One address gets 401 sixty times, then one more every second, else 429; a valid key from there works."""
    headers = key_for("read", "a")
    refusals = 0
    while (answer := await client.post("/v1/search", json=QUERY)).status_code == 401:
        refusals += 1
        assert refusals < 600, "it never got 429"
    assert refusals >= 60
    assert_problem(answer, 429, "too_many_requests")
    assert int(answer.headers["retry-after"]) == 1
    assert_problem(await client.post("/v1/search", json=QUERY, headers=headers), 503, "not_ready")


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/v1/search", {"queries": ["short", "x" * 1001]}, "$.queries[1]"),
        ("PUT", "/v1/items/u1", {"kind": "message", "text": "x" * 1001}, "$.text"),
        ("PATCH", "/v1/items/u1", {"text": "x" * 1001}, "$.text"),
        ("POST", "/v1/tools/remember", {"text": "猫" * 1001}, "$.text"),
        ("POST", "/v1/items/u1:correct", {"text": "x" * 2_000_000}, "$.text"),
    ],
)
async def test_a_text_over_the_limit_is_a_413_naming_it(client, key_for, method, path, body, field):
    """Also one beyond what any setting allows; bytes and escapes are not counted, characters are."""
    answer = await client.request(method, path, json=body, headers=key_for("admin", "a"))
    assert_problem(answer, 413, "payload_too_large")
    assert answer.json()["field"] == field
    assert "LIBRARIAN_MAX_TEXT_CHARS" in answer.json()["remedy"]


async def test_a_text_at_the_limit_passes_however_many_bytes_it_takes(client, key_for):
    """1,000 characters of three bytes each, escaped to six."""
    body = json.dumps({"queries": ["猫" * 1000]}).encode()
    answer = await client.post(
        "/v1/search", content=body, headers={**key_for("read", "a"), "Content-Type": "application/json"}
    )
    assert_problem(answer, 503, "not_ready")


async def test_an_array_over_its_limit_is_a_413_that_names_the_other_way(client, key_for):
    """Nothing of it is stored; NDJSON has no such limit."""
    headers = {**key_for("write", "a"), "Request-Timeout-Ms": "400"}
    answer = await client.post("/v1/items", json=[ROW] * 4, headers=headers)
    assert_problem(answer, 413, "payload_too_large")
    assert "LIBRARIAN_MAX_BATCH_ROWS" in answer.json()["detail"]
    assert "application/x-ndjson" in answer.json()["remedy"]
    assert_problem(await client.post("/v1/items", json=[ROW] * 3, headers=headers), 503, "not_ready")
    lines = b"".join(json.dumps(ROW).encode() + b"\n" for _ in range(4))
    ndjson = {**headers, "Content-Type": "application/x-ndjson"}
    assert_problem(await client.post("/v1/items", content=lines, headers=ndjson), 503, "not_ready")


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ü", "a\tb"])
async def test_an_idempotency_key_is_visible_ascii(client, key_for, key):
    """1 to 255 characters; on reads the header means nothing."""
    headers = [*key_for("admin", "a").items(), ("Idempotency-Key", key.encode())]
    answer = await client.post("/v1/items", json=ROW, headers=httpx.Headers(headers))
    assert_problem(answer, 400, "invalid_input")
    assert answer.json()["field"] == "Idempotency-Key"
    assert_problem(await client.post("/v1/search", json=QUERY, headers=httpx.Headers(headers)), 503, "not_ready")


async def test_two_idempotency_keys_are_none(client, key_for):
    """Nobody could say which one counts."""
    headers = [*key_for("write", "a").items(), ("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    assert_problem(await client.post("/v1/items", json=ROW, headers=headers), 400, "invalid_input")
