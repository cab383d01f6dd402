"""`Idempotency-Key` over the real service and graph."""

import asyncio
import collections
import json
import uuid

import pytest
from starlette.responses import Response

from graph.errors import DatabaseBusy, QueryTimeout
from graph.idempotency import Claim, answer_key, claim_key, delete_expired_keys, release_key, renew_key
from librarian.base.errors import Conflict, NotReady, RequestInProgress
from librarian.http.idempotency import LEASE_S, MAX_KEPT_BYTES, answer_once

NDJSON = "application/x-ndjson"


def row(uid, text):
    return {"kind": "message", "uid": uid, "text": text}


def claim(namespace, key="k", request_hash="h"):
    return Claim(namespace, key, uuid.uuid4().hex, request_hash)


@pytest.fixture
def keyed(headers):
    return {**headers, "Idempotency-Key": uuid.uuid4().hex}


async def test_the_same_request_is_answered_by_the_same_bytes(client, keyed):
    """The second one changes nothing and gets what the first one got, status and type included."""
    first = await client.post("/v1/items", json=[row("a", "one")], headers=keyed)
    again = await client.post("/v1/items", json=[row("a", "one")], headers=keyed)
    assert (first.json()["added"], again.json()["added"]) == (1, 1)
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert first.headers["content-type"] == again.headers["content-type"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert first.headers["request-id"] != again.headers["request-id"]


async def test_an_answer_keeps_its_status_and_etag(client, keyed):
    """201 with the version of then, also when the item has changed since."""
    first = await client.put("/v1/items/p1", json=row("p1", "one"), headers=keyed)
    assert first.status_code == 201, first.text
    plain = {name: value for name, value in keyed.items() if name != "Idempotency-Key"}
    assert (await client.put("/v1/items/p1", json=row("p1", "two"), headers=plain)).status_code == 200
    again = await client.put("/v1/items/p1", json=row("p1", "one"), headers=keyed)
    assert (again.status_code, again.headers["etag"], again.content) == (201, first.headers["etag"], first.content)
    assert (await client.get("/v1/items/p1", headers=plain)).json()["text"] == "two"


async def test_a_stream_is_the_same_request_by_its_bytes(client, keyed):
    """An NDJSON body is read whole, however it is cut."""
    body = b"".join(json.dumps(row(f"n{n}", "x")).encode() + b"\n" for n in range(20))

    async def parts():
        for start in range(0, len(body), 100):
            yield body[start : start + 100]

    first = await client.post("/v1/items", content=body, headers={**keyed, "Content-Type": NDJSON})
    again = await client.post("/v1/items", content=parts(), headers={**keyed, "Content-Type": NDJSON})
    assert (first.json()["added"], again.content) == (20, first.content)
    assert again.headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize("other", ["body", "path", "query", "if-match"])
async def test_a_key_for_another_request_is_a_422(client, keyed, other):
    """One key, one request: nothing of the second one happens."""
    assert (await client.put("/v1/items/q1", json=row("q1", "one"), headers=keyed)).status_code == 201
    path = {"path": "/v1/items/q2", "query": "/v1/items/q1?x=1"}.get(other, "/v1/items/q1")
    uid = "q2" if other == "path" else "q1"
    more = {"If-Match": '"1"'} if other == "if-match" else {}
    answer = await client.put(path, json=row(uid, "two" if other == "body" else "one"), headers={**keyed, **more})
    # An unknown query parameter is refused before anybody looks at the key.
    expected = (400, "invalid_input") if other == "query" else (422, "idempotency_key_reused")
    assert (answer.status_code, answer.json()["code"]) == expected


async def test_nobody_gets_the_answer_of_another_api_key_or_namespace(client, keys, keyed, namespace):
    """The same header from another caller, or for another namespace, is a request of its own."""
    await client.put("/v1/items/z1", json=row("z1", "one"), headers=keyed)
    other = keys.create("other", namespaces=[namespace, f"{namespace}-2"], scopes=["write"])[1]
    theirs = {**keyed, "Authorization": f"Bearer {other}", "Librarian-Namespace": namespace}
    answer = await client.put("/v1/items/z1", json=row("z1", "one"), headers=theirs)
    assert (answer.status_code, "idempotency-replayed" in answer.headers) == (200, False)
    elsewhere = {**theirs, "Librarian-Namespace": f"{namespace}-2"}
    answer = await client.put("/v1/items/z1", json=row("z1", "one"), headers=elsewhere)
    assert (answer.status_code, "idempotency-replayed" in answer.headers) == (201, False)


async def test_of_twenty_equal_requests_at_once_one_runs(client, keyed):
    """The others are told that it runs, or get its answer."""
    body = [row(f"c{n}", f"text {n}") for n in range(300)]
    answers = await asyncio.gather(*(client.post("/v1/items", json=body, headers=keyed) for _ in range(20)))
    kinds = collections.Counter(
        "replayed" if "idempotency-replayed" in answer.headers else str(answer.status_code) for answer in answers
    )
    assert kinds["200"] == 1
    assert set(kinds) <= {"200", "409", "replayed"}
    assert {answer.json()["added"] for answer in answers if answer.status_code == 200} == {300}
    for answer in answers:
        if answer.status_code == 409:
            assert (answer.json()["code"], int(answer.headers["retry-after"]) > 0) == ("request_in_progress", True)


async def test_an_error_that_would_come_again_is_replayed(client, keyed):
    """404 now is the answer to this request, also when the item has come into being since."""
    plain = {name: value for name, value in keyed.items() if name != "Idempotency-Key"}
    first = await client.patch("/v1/items/later", json={"text": "x"}, headers=keyed)
    await client.put("/v1/items/later", json=row("later", "y"), headers=plain)
    again = await client.patch("/v1/items/later", json={"text": "x"}, headers=keyed)
    assert (first.status_code, again.status_code, again.content) == (404, 404, first.content)
    assert again.headers["content-type"] == "application/problem+json"


async def test_a_request_out_of_time_leaves_nothing_that_blocks_its_repetition(client, keyed):
    """504, and the very next try runs."""
    body = [row(f"t{n}", f"text {n}") for n in range(2000)]
    late = await client.post("/v1/items", json=body, headers={**keyed, "Request-Timeout-Ms": "300"})
    assert late.status_code == 504, late.text
    answer = await client.post("/v1/items", json=body, headers=keyed)
    assert (answer.status_code, answer.json()["failed"]) == (200, 0)
    assert "idempotency-replayed" not in answer.headers


@pytest.mark.parametrize("error", [NotReady(), DatabaseBusy(), ZeroDivisionError(), asyncio.CancelledError()])
async def test_what_fails_for_now_frees_its_key(executor, namespace, error):
    """Whatever another try may mend, defects included."""

    async def fail():
        raise error

    async def succeed():
        return Response("done")

    with pytest.raises(type(error)):
        await answer_once(executor, claim(namespace), 60, fail, request_id="r")
    answer = await answer_once(executor, claim(namespace), 60, succeed, request_id="r")
    assert (answer.body, "Idempotency-Replayed" in answer.headers) == (b"done", False)


async def test_a_key_is_free_when_its_request_runs_out_of_time_while_it_fails(executor, namespace):
    """A statement reaches the deadline of its request a moment before the request does."""

    async def fail():
        asyncio.get_running_loop().call_soon(running.cancel)
        raise QueryTimeout("the time was up")

    for _ in range(5):
        running = asyncio.create_task(answer_once(executor, claim(namespace), 60, fail, request_id="r"))
        with pytest.raises(asyncio.CancelledError):
            await running
        other = claim(namespace)
        assert (await claim_key(executor, other, LEASE_S)).granted
        await release_key(executor, other)


async def test_what_fails_for_good_is_kept(executor, namespace):
    """A conflict is an answer: the second request does not run."""

    async def fail():
        raise Conflict("no")

    async def never():
        raise AssertionError

    first = await answer_once(executor, claim(namespace), 60, fail, request_id="r")
    again = await answer_once(executor, claim(namespace), 60, never, request_id="r2")
    assert (first.status_code, again.status_code, again.body) == (409, 409, first.body)


async def test_an_answer_too_large_to_keep_frees_its_key(executor, namespace):
    """The repetition runs again; writes are idempotent themselves."""
    runs = []

    async def large():
        runs.append(1)
        return Response(b"x" * (MAX_KEPT_BYTES + 1))

    for _ in range(2):
        answer = await answer_once(executor, claim(namespace), 60, large, request_id="r")
        assert len(answer.body) > MAX_KEPT_BYTES
    assert len(runs) == 2


async def test_the_key_of_a_process_that_died_expires(executor, namespace):
    """By the server's clock, after the lease; until then others are told to wait."""
    dead = claim(namespace)
    assert (await claim_key(executor, dead, 1)).granted
    ran = []

    async def work():
        ran.append(1)
        return Response("done")

    with pytest.raises(RequestInProgress):
        await answer_once(executor, claim(namespace), 60, work, request_id="r")
    while not ran:
        await asyncio.sleep(0.1)
        try:
            await answer_once(executor, claim(namespace), 60, work, request_id="r")
        except RequestInProgress:
            continue
    await answer_key(executor, dead, "too late", 60)
    answer = await answer_once(executor, claim(namespace), 60, work, request_id="r")
    assert (answer.body, len(ran)) == (b"done", 1)


async def test_a_key_is_held_as_long_as_its_request_runs(executor, namespace):
    """Renewed, it outlives its lease; once answered or lost, renewing and freeing it do nothing."""
    first, second = claim(namespace), claim(namespace)
    assert (await claim_key(executor, first, 1)).granted
    for _ in range(4):
        await asyncio.sleep(0.4)
        await renew_key(executor, first, 1)
    assert not (await claim_key(executor, second, 1)).granted
    await renew_key(executor, second, LEASE_S)
    await release_key(executor, second)
    await answer_key(executor, first, "{}", 60)
    await release_key(executor, first)
    assert (await claim_key(executor, second, 1)).response == "{}"


async def test_an_expired_answer_is_never_replayed_and_is_removed(executor, namespace):
    """It counts as gone before it is gone."""
    old, kept = claim(namespace, "old"), claim(namespace, "kept")
    for entry, keep_s in ((old, 0), (kept, 60)):
        await claim_key(executor, entry, LEASE_S)
        await answer_key(executor, entry, "{}", keep_s)
    assert (await claim_key(executor, claim(namespace, "old"), 0)).granted
    await delete_expired_keys(executor)
    left, _, _ = await executor.driver.execute_query(
        "MATCH (r:IdempotencyRecord {namespace: $namespace}) RETURN r.key AS key", {"namespace": namespace}
    )
    assert [record["key"] for record in left] == ["kept"]


async def test_a_deleted_namespace_is_deleted_once(client, keyed, namespace):
    """The deletion of a namespace keeps its own key, and with it the answer, but none that was given before."""
    kept = {**keyed, "Idempotency-Key": uuid.uuid4().hex}
    assert (await client.post("/v1/items", json=[row("a", "one")], headers=kept)).status_code == 200
    plain = {name: value for name, value in keyed.items() if name != "Idempotency-Key"}
    path = f"/v1/namespaces/{namespace}:delete"
    confirmed = {"confirm_token": (await client.post(path, json={}, headers=plain)).json()["confirm_token"]}
    first, again = [await client.post(path, json=confirmed, headers=keyed) for _ in range(2)]
    assert first.status_code == 200, first.text
    assert (again.content, again.headers.get("idempotency-replayed")) == (first.content, "true")
    assert (await client.post(path, json={}, headers=plain)).status_code == 404
    stored = await client.post("/v1/items", json=[row("a", "one")], headers=kept)
    assert (stored.json()["added"], stored.headers.get("idempotency-replayed")) == (1, None)


async def test_a_read_has_no_need_of_a_key(client, keyed):
    """It runs every time."""
    for _ in range(2):
        answer = await client.post("/v1/search", json={"queries": ["x"]}, headers=keyed)
        assert (answer.status_code, "idempotency-replayed" in answer.headers) == (200, False)
