"""Which requests are sent again, seen by a server that counts them."""

from types import SimpleNamespace

import httpx
import pytest

from librarian.client import ApiError, AsyncLibrarianClient, LibrarianClient, ServiceUnreachable, clients, protocol
from librarian.items.contracts import RememberInput
from librarian.search.contracts import SearchInput

PROBLEM = {"Content-Type": "application/problem+json"}


class Service:
    """Answers with the given (status, headers), one after another, the last for ever; "drop" breaks the connection."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        request.read()
        return self._answer(request)

    async def asynchronous(self, request):
        await request.aread()
        return self._answer(request)

    def _answer(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer == "drop":
            raise httpx.ReadError("gone")
        status, headers, body = answer
        return httpx.Response(status, headers=headers, content=body)


def problem(status, code="not_ready", **headers):
    body = b'{"title":"t","status":%d,"detail":"d","code":"%s","request_id":"r1"}' % (status, code.encode())
    return status, {**PROBLEM, **headers}, body


OK = (200, {"Content-Type": "application/json"}, b'{"namespaces": []}')
REPORT = (200, {"Content-Type": "application/json"}, b'{"added": 1}')


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that a client wanted; none is taken."""
    wanted = []

    async def asleep(seconds):
        wanted.append(seconds)

    # The names in the module, not the functions themselves: background tasks of the run's event loop sleep too.
    monkeypatch.setattr(clients, "time", SimpleNamespace(sleep=wanted.append))
    monkeypatch.setattr(clients, "asyncio", SimpleNamespace(sleep=asleep))
    return wanted


@pytest.fixture(params=["blocking", "asyncio"])
def call(request, pauses):
    """Calls a verb of either client over a service."""

    async def run(service, verb, *args, **kwargs):
        if request.param == "blocking":
            client = LibrarianClient("http://127.0.0.1:1", "secret")
            client.__dict__["_http"] = httpx.Client(base_url=client.url, transport=httpx.MockTransport(service))
            with client:
                return getattr(client, verb)(*args, **kwargs)
        client = AsyncLibrarianClient("http://127.0.0.1:1", "secret")
        transport = httpx.MockTransport(service.asynchronous)
        client.__dict__["_http"] = httpx.AsyncClient(base_url=client.url, transport=transport)
        async with client:
            return await getattr(client, verb)(*args, **kwargs)

    return run


@pytest.mark.parametrize("fault", ["drop", problem(503), problem(429, "too_many_requests")])
async def test_a_read_is_tried_again(call, pauses, fault):
    service = Service(fault, fault, OK)
    assert (await call(service, "namespaces")).namespaces == []
    assert len(service.requests) == 3
    assert len(pauses) == 2


async def test_retry_after_is_honoured_within_reason(call, pauses):
    await call(Service(problem(503, **{"Retry-After": "7"}), OK), "namespaces")
    assert pauses == [7.0]
    with pytest.raises(ApiError) as later:
        await call(Service(problem(503, **{"Retry-After": "600"}), OK), "namespaces")
    assert (later.value.retry_after_s, later.value.request_id) == (600, "r1")
    assert pauses == [7.0]


async def test_trying_ends(call, pauses):
    service = Service("drop")
    with pytest.raises(ServiceUnreachable):
        await call(service, "namespaces")
    assert len(service.requests) == protocol.ATTEMPTS


async def test_a_write_keeps_its_key_and_the_next_one_has_another(call, pauses):
    service = Service("drop", problem(404, "not_found"))
    for _ in range(2):
        with pytest.raises(ApiError, match="d"):
            await call(service, "remember", "n", RememberInput(text="x"))
    first, again, other = (request.headers["idempotency-key"] for request in service.requests)
    assert first == again != other


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 500, 502, 504])
async def test_no_other_status_is_tried_again(call, pauses, status):
    service = Service(problem(status, "conflict"), OK)
    with pytest.raises(ApiError) as refused:
        await call(service, "search", "n", SearchInput(queries=["x"]))
    assert (refused.value.status, len(service.requests), pauses) == (status, 1, [])


@pytest.mark.parametrize("fault", ["drop", problem(503)])
async def test_an_ingest_is_never_sent_again(call, pauses, fault):
    service = Service(fault, REPORT)
    with pytest.raises(ApiError):
        await call(service, "ingest", iter([{"kind": "memory", "text": "x"}]), namespace="n")
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        (200, {"Content-Type": "text/html"}, b"<html>"),
        (200, {"Content-Type": "application/json"}, b"[]"),
        (302, {"Location": "http://elsewhere"}, b""),
        (400, PROBLEM, b"no json"),
    ],
)
async def test_what_is_no_answer_of_librarian_is_an_error(call, answer):
    with pytest.raises(ApiError) as foreign:
        await call(Service(answer), "namespaces")
    assert foreign.value.code == "unknown_answer"
