import asyncio
import contextlib
import json

import pytest

QUERY = {"queries": ["why?"]}
PROBLEM = "application/problem+json"


def assert_problem(answer, status, code):
    assert answer.headers["content-type"] == PROBLEM
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["request_id"] == answer.headers["request-id"]


async def test_the_namespace_is_the_header_s_or_that_of_a_key_bound_to_one(client, key_for):
    """A key for several namespaces must say which; the message names the header."""
    answer = await client.post("/v1/search", json=QUERY, headers=key_for("read", "*"))
    assert_problem(answer, 400, "invalid_input")
    assert answer.json()["field"] == "Librarian-Namespace"
    assert (await client.post("/v1/search", json=QUERY, headers=key_for("read", "a"))).status_code == 503


@pytest.mark.parametrize("namespace", [b"a b", b"", b"\xff", b"x" * 129, b"a/b"])
async def test_an_impossible_namespace_is_invalid_input(client, key_for, namespace):
    """A header that cannot be a namespace is the caller's fault, never a defect."""
    headers = [(b"librarian-namespace", namespace), (b"authorization", key_for("read", "*")["Authorization"].encode())]
    answer = await client.post("/v1/search", json=QUERY, headers=headers)
    assert_problem(answer, 400, "invalid_input")


async def test_a_namespace_may_be_japanese(client, key_for):
    """Header bytes are UTF-8."""
    headers = [
        (b"librarian-namespace", "会議".encode()),
        (b"authorization", key_for("read", "会議")["Authorization"].encode()),
    ]
    assert (await client.post("/v1/search", json=QUERY, headers=headers)).status_code == 503


async def test_before_the_graph_is_there_searches_are_told_when_to_come_back(client, key_for):
    """503 with Retry-After, at once."""
    answer = await client.post("/v1/search", json=QUERY, headers=key_for("read", "a"))
    assert_problem(answer, 503, "not_ready")
    assert int(answer.headers["retry-after"]) > 0


async def test_an_ingest_waits_for_the_graph_as_long_as_its_caller_grants(client, key_for):
    """A request that may wait does, and says in the end that the graph is not ready, not that time is up."""
    headers = {**key_for("write", "a"), "Request-Timeout-Ms": "600"}
    answer = await client.post("/v1/items", json=[], headers=headers)
    assert_problem(answer, 503, "not_ready")
    assert answer.headers["retry-after"]


async def test_a_failed_start_tells_clients_nothing_of_its_cause(client, key_for, starting):
    """A defect is a 500 without details."""
    starting.lifecycle.failed(RuntimeError("password=hunter2"))
    answer = await client.post("/v1/search", json=QUERY, headers=key_for("read", "a"))
    assert_problem(answer, 500, "internal_error")
    assert "hunter2" not in answer.text


async def test_probes_need_no_key_and_tell_life_from_readiness(client):
    """/healthz is 200 while the process lives; /readyz is 503 with reasons until the graph is there."""
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["phase"]) == (503, "starting")
    assert answer.json()["checks"]
    assert answer.headers["retry-after"]


async def test_metrics_count_requests_by_route_never_by_path(client, key_for):
    """A path that was sent is no label: uids would make a series each."""
    await client.get("/v1/items/secret-uid", headers=key_for("read", "a"))
    await client.get("/nowhere/secret-path")
    text = (await client.get("/metrics")).text
    assert 'librarian_http_requests_total{method="GET",route="/v1/items/{uid}",status="503"}' in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"queries": ["a"], "queries": ["b"]}', "$"),
        (b'{"queries": ["a"], "limit": NaN}', "$"),
        (b'{"queries": ["\\ud800"]}', "$"),
        (b'{"queries": ["\xff"]}', "$"),
        (b'{"queries": []}', "$.queries"),
        (b'{"queries": ["a"], "filters": {"kinds": ["x"]}}', "$.filters.kinds[0]"),
        (b'{"queries": ["a"], "k": 1}', "$.k"),
        (b"", "$"),
        (b"[" * 100_000, "$"),
    ],
)
async def test_a_body_that_cannot_be_used_is_a_400_naming_the_place(client, key_for, body, field):
    """Never a 500, never silently the last of two keys."""
    answer = await client.post(
        "/v1/search", content=body, headers={**key_for("read", "a"), "Content-Type": "application/json"}
    )
    assert_problem(answer, 400, "invalid_input")
    assert answer.json()["field"] == field


async def test_other_content_types_are_refused_by_name(client, key_for):
    """415 says what is read."""
    answer = await client.post(
        "/v1/items", content="a=b", headers={**key_for("write", "a"), "Content-Type": "text/csv"}
    )
    assert_problem(answer, 415, "unsupported_media_type")
    assert "application/x-ndjson" in answer.json()["remedy"]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_body_over_the_limit_is_a_413(client, key_for, streamed):
    """Announced or streamed, the limit holds."""

    async def parts():
        for _ in range(20):
            yield b" " * 100_000

    content = parts() if streamed else b" " * 2_000_000
    answer = await client.post(
        "/v1/search", content=content, headers={**key_for("read", "a"), "Content-Type": "application/json"}
    )
    assert_problem(answer, 413, "payload_too_large")


async def test_request_ids_are_taken_over_or_made(client):
    """The caller's id comes back, one that could break a log line does not."""
    assert (await client.get("/healthz", headers={"Request-Id": "abc-1"})).headers["request-id"] == "abc-1"
    made = (await client.get("/healthz", headers={"Request-Id": 'x" y'})).headers["request-id"]
    assert made != 'x" y'
    assert len(made) == 32


@pytest.mark.parametrize("sent", ["0", "-1", "1.5", "soon", "", "9" * 10])
async def test_a_deadline_must_be_a_number_of_milliseconds(client, sent):
    """The header is checked on every route."""
    answer = await client.get("/healthz", headers={"Request-Timeout-Ms": sent})
    assert_problem(answer, 400, "invalid_input")
    assert answer.json()["field"] == "Request-Timeout-Ms"


async def test_unknown_paths_and_methods_are_problems_too(client):
    """404 and 405 speak problem+json like everything else."""
    assert_problem(await client.get("/v2/nothing"), 404, "not_found")
    answer = await client.get("/v1/search")
    assert_problem(answer, 405, "method_not_allowed")
    assert "POST" in answer.headers["allow"]


async def test_a_damaged_key_file_lets_nobody_in_and_keeps_its_path_to_itself(client, key_for, keys):
    """Authentication fails closed."""
    headers = key_for("admin", "*")
    keys.path.write_text("{")
    answer = await client.post("/v1/search", json=QUERY, headers=headers)
    assert_problem(answer, 500, "keys_file")
    assert str(keys.path) not in json.dumps(answer.json())


async def raw(client, data):
    """Return the service's answer to bytes that no client library would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"BREW / HTTP/1.1", 400),
        (b"TRACE /v1/search HTTP/1.1", 405),
        (b"OPTIONS * HTTP/1.1", 404),
        (b"GET /v1/items/%00 HTTP/1.1", 401),
        (b"GET /v1/items/%c0%ae HTTP/1.1", 400),
        (b"GET /\x00 HTTP/1.1", 400),
        (b"GET /v1/search\xff HTTP/1.1", 400),
        (b"GET //v1/search HTTP/1.1", 404),
        (b"GET http://elsewhere/healthz HTTP/1.1", 200),
        (b"GET /healthz HTTP/9.9", 400),
        (b"HEAD /healthz HTTP/1.1", 200),
        (b"HEAD /v1/items/x HTTP/1.1", 401),
    ],
)
async def test_odd_requests_are_answered_and_never_a_500(client, request_line, status):
    """Unknown methods, broken encodings, other versions: the parser's 400, or a problem as for any request."""
    answer = await raw(client, request_line + b"\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()), answer[:300]
    assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize("header", [b"Request-Id: a\rSet-Cookie: b", b"Request-Id: a\xe2\x80\xa8b", b"Request-Id: a b"])
async def test_nothing_that_was_sent_becomes_a_header(client, header):
    """An id that is not plain is replaced, so that no line of the answer or the log is the caller's."""
    answer = await raw(client, b"GET /v2 HTTP/1.1\r\nHost: x\r\n" + header + b"\r\nConnection: close\r\n\r\n")
    assert b"set-cookie" not in answer.lower()
    assert header.partition(b": ")[2] not in answer


async def test_a_head_without_end_is_cut_off(client):
    """Headers are not collected for ever: 64 KiB are enough for every request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: ")
    with contextlib.suppress(ConnectionError):
        for _ in range(64):
            writer.write(b"x" * 65_536)
            await writer.drain()
    with contextlib.suppress(ConnectionError):
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    assert reader.at_eof() or isinstance(reader.exception(), ConnectionError)


async def test_a_client_that_goes_on_sending_after_its_answer_is_cut_off(client, key_for):
    """It may read its answer first; a body that never ends does not keep its connection for ever."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(b"POST /v1/items HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert b" 401 " in await reader.readuntil(b"\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        while not reader.at_eof():
            writer.write(b"1000\r\n" + b" " * 4096 + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_a_refused_body_that_came_whole_keeps_the_connection(client):
    """Most refusals cost no new connection."""
    answer = await client.post("/v1/search", json=QUERY)
    assert (answer.status_code, answer.headers.get("connection")) == (401, None)


@pytest.mark.parametrize("path", ["/v1/items/%ff", "/v1/items/a%c3", "/v1/items?cursor=%ff", "/v1/files/x%fe"])
async def test_an_address_that_is_no_utf_8_is_refused(client, key_for, path):
    """Otherwise all bytes that are none would be one letter, and %fe the same item as %ff."""
    answer = await client.get(path, headers=key_for("admin", "a"))
    assert_problem(answer, 400, "invalid_input")
    assert answer.json()["field"] == ("query" if "?" in path else "path")


@pytest.mark.parametrize("depth", [90, 101, 500, 940, 943, 944, 945, 946, 947, 950, 1000, 5000])
async def test_nesting_is_answered_at_every_depth(client, key_for, depth):
    """Deep JSON is a 400 that says so, wherever Python's own limit lies; what is allowed is judged by its fields."""
    value = "[" * depth + "1" + "]" * depth
    sent = f'{{"queries": ["a"], "filters": {value}}}', f'{{"attributes": {{"a": {value}}}, "subject": "s"}}'
    # A write would wait half a minute for the graph.
    headers = {**key_for("admin", "a"), "Content-Type": "application/json", "Request-Timeout-Ms": "300"}
    for (method, path), body in zip((("POST", "/v1/search"), ("PATCH", "/v1/items/x")), sent, strict=True):
        answer = await client.request(method, path, content=body, headers=headers)
        if method == "PATCH" and depth < 100:
            assert answer.status_code == 503  # only the graph is missing
            continue
        assert_problem(answer, 400, "invalid_input")


async def test_a_request_whose_head_does_not_come_is_ended(client, monkeypatch):
    """Neither a connection that says nothing nor one that stops in the middle of its head is kept open; one that is
    used, is.
    """
    monkeypatch.setattr("librarian.http.server.HEAD_TIMEOUT_S", 0.3)
    for sent, said in ((b"", b""), (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"HTTP/1.1 408 ")):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(sent)
        async with asyncio.timeout(30):
            assert (await reader.read()).startswith(said)
        writer.close()
        await writer.wait_closed()
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    for _ in range(3):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in await reader.readuntil(b"}")
        await asyncio.sleep(0.2)
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_mcp_offers_no_stream_to_listen_to(client, key_for, method):
    """The server has nothing to say of its own accord: an idle stream would only hold a slot."""
    answer = await client.request(method, "/mcp", headers={**key_for("read", "a"), "Accept": "text/event-stream"})
    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"Host": "attacker.example"}, "Host"),
        ({"Host": "attacker.example:8765", "Origin": "http://attacker.example:8765"}, "Host"),
        ({"Origin": "https://attacker.example"}, "Origin"),
        ({"Origin": "null"}, "Origin"),
        ({"Host": "localhost:1", "Origin": "http://localhost:6274"}, None),
        ({"Host": "[::1]:8765"}, None),
        ({}, None),
    ],
)
async def test_mcp_answers_to_its_own_names_alone(client, key_for, headers, field):
    """A page whose name leads to this machine (DNS rebinding), or that of another site, is refused before its key."""
    answer = await client.post("/mcp", json={}, headers={**key_for("read", "*"), **headers})
    assert answer.json()["field"] == (field or "Librarian-Namespace"), answer.text
    assert answer.status_code == (400 if field is None else 403)


async def test_forwarded_addresses_are_not_believed_by_default(client):
    """Whoever is on this machine does not get round the limit of failed authentications by naming other addresses."""
    statuses = [
        (await client.get("/v1/tools", headers={"X-Forwarded-For": f"192.0.2.{number}"})).status_code
        for number in range(90)
    ]
    assert set(statuses) == {401, 429}
