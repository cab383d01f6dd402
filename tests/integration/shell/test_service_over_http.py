import asyncio
import json

import pytest

NDJSON = "application/x-ndjson"


def message(uid, text, **more):
    return {"kind": "message", "uid": uid, "text": text, **more}


def ndjson(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


async def test_items_go_in_and_are_found(client, headers, librarian):
    """Rows stored by one request are seen by the next ones: by uid, by words, and, once encoded, by meaning."""
    rows = [
        message("m1", "The ferry to Lisbon leaves at nine.", author="Ana"),
        message("m2", "Bring bread and cheese."),
    ]
    stored = await client.post("/v1/items", json=rows, headers=headers)
    assert (stored.status_code, stored.json()["added"]) == (200, 2)
    again = await client.post("/v1/items", json=rows, headers=headers)
    assert (again.status_code, again.json()["added"], again.json()["unchanged"]) == (200, 0, 2)
    await librarian.embed_pending()
    item = await client.get("/v1/items/m1", headers=headers)
    assert (item.status_code, item.json()["text"]) == (200, "The ferry to Lisbon leaves at nine.")
    found = await client.post("/v1/search", json={"queries": ["when does the ship depart?"]}, headers=headers)
    assert (found.status_code, found.json()["results"][0]["uid"]) == (200, "m1")
    assert found.json()["arms"] == {"vector": "ok", "keyword": "ok"}


@pytest.mark.parametrize("form", ["array", "ndjson"])
async def test_a_bad_row_is_named_and_loses_nothing_else(client, headers, form):
    """207 when some rows were taken; each fault with the row's number and the field's path."""
    rows = [
        message("a", "one"),
        {"kind": "message"},
        {"kind": "memory", "text": "x", "importance": 99},
        message("b", "two"),
    ]
    body = json.dumps(rows) if form == "array" else ndjson(*rows)
    kind = "application/json" if form == "array" else NDJSON
    answer = await client.post("/v1/items", content=body, headers={**headers, "Content-Type": kind})
    report = answer.json()
    assert (answer.status_code, report["added"], report["failed"]) == (207, 2, 2)
    assert [error["line"] for error in report["errors"]] == [2, 3]
    assert all(error["field"].startswith("$") for error in report["errors"])
    assert report["errors"][1]["field"] == "$.importance"


async def test_when_no_row_was_taken_the_answer_is_422(client, headers):
    """And a body without rows is no fault."""
    answer = await client.post("/v1/items", json=[{"kind": "poem"}], headers=headers)
    assert (answer.status_code, answer.json()["failed"]) == (422, 1)
    assert (await client.post("/v1/items", json=[], headers=headers)).status_code == 200


async def test_one_object_is_a_body_too(client, headers):
    """A single row needs no array."""
    assert (await client.post("/v1/items", json=message("one", "x"), headers=headers)).json()["added"] == 1


async def test_a_stream_is_stored_as_it_comes(client, headers):
    """Rows of an NDJSON stream are stored before the stream has ended, so no side holds it whole."""
    seen_midway = asyncio.Event()

    async def stream():
        yield ndjson(*(message(f"s{n}", f"line {n}") for n in range(1000)))
        while (await client.get("/v1/items/s0", headers=headers)).status_code != 200:
            await asyncio.sleep(0.05)
        seen_midway.set()
        yield ndjson(message("last", "line 1000"))

    answer = await client.post("/v1/items", content=stream(), headers={**headers, "Content-Type": NDJSON})
    assert (answer.status_code, answer.json()["added"]) == (200, 1001)
    assert seen_midway.is_set()


@pytest.mark.parametrize(
    "row", [b'{"kind":"message","text":"\\ud800"}', b'{"kind":"message","text":"\xff"}', b"nonsense", b"[1]"]
)
async def test_a_line_that_is_no_row_fails_alone(client, headers, row):
    """Rows beside it are stored."""
    body = ndjson(message("before", "x")) + row + b"\n" + ndjson(message("after", "y"))
    answer = await client.post("/v1/items", content=body, headers={**headers, "Content-Type": NDJSON})
    assert (answer.status_code, answer.json()["added"], answer.json()["failed"]) == (207, 2, 1), answer.text


async def test_a_text_over_its_limit_is_refused_and_ten_megabytes_do_no_harm(client, headers):
    """The limit is named; the service lives."""
    answer = await client.post("/v1/items", json=[message("big", "x" * 10_000_000)], headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "$.text")
    assert (await client.get("/healthz")).status_code == 200


async def test_readyz_and_metrics_tell_of_the_real_graph(client, headers):
    """200 with every check; figures by statement name."""
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"], answer.json()["checks"]["graph"]) == (200, True, "ok")
    await client.post("/v1/search", json={"queries": ["x"]}, headers=headers)
    text = (await client.get("/metrics")).text
    assert 'librarian_neo4j_query_seconds_count{statement="' in text
    assert 'librarian_ingest_rows_total{outcome="added"}' in text
