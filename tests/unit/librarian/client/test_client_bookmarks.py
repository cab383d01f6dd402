"""A client's memory of its writes, seen by a server that notes what it is sent."""

from types import SimpleNamespace

import httpx
import pytest

from librarian.client import ApiError, LibrarianClient, clients
from librarian.client.bookmarks import BOOKMARK_HEADER, Bookmarks
from librarian.http import bookmarks as service
from librarian.items.contracts import RememberInput

OK = (200, {"Content-Type": "application/json"}, b'{"namespaces": []}')
PROBLEM = {"Content-Type": "application/problem+json"}


def learned(value):
    return {BOOKMARK_HEADER.lower(): value}


def test_header_and_number_are_those_of_the_service():
    assert service.BOOKMARK_HEADER == BOOKMARK_HEADER
    kept = Bookmarks()
    for number in range(service.MOST_BOOKMARKS + 3):
        kept.learn("", learned(f"FB:{number}"))
    names = kept.value.split(",")
    assert (len(names), names[-1]) == (service.MOST_BOOKMARKS, f"FB:{service.MOST_BOOKMARKS + 2}")


def test_an_answer_stands_for_what_was_sent():
    kept = Bookmarks("FB:a")
    kept.learn("FB:a", learned("FB:b"))
    assert kept.value == "FB:b"


def test_answers_that_cross_are_both_kept():
    kept = Bookmarks("FB:a")
    kept.learn("FB:a", learned("FB:b"))
    kept.learn("FB:a", learned("FB:c"))
    assert kept.value == "FB:b,FB:c"


def test_an_answer_to_a_read_changes_nothing():
    kept = Bookmarks("FB:a")
    kept.learn("FB:a", {})
    assert kept.value == "FB:a"


@pytest.fixture
def answering(monkeypatch):
    """Clients whose service answers as told, and the bookmarks that it was sent."""
    sent = []

    def client(*answers, **options):
        waiting = list(answers)

        def answer(request):
            request.read()
            sent.append(request.headers.get(BOOKMARK_HEADER))
            status, headers, body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return httpx.Response(status, headers=headers, content=body)

        made = LibrarianClient("http://127.0.0.1:1", "key", **options)
        made._options["transport"] = httpx.MockTransport(answer)
        return made

    monkeypatch.setattr(clients, "time", SimpleNamespace(sleep=lambda _seconds: None))
    client.sent = sent
    return client


@pytest.mark.parametrize(("status", "code"), [(422, "invalid_bookmark"), (503, "bookmark_not_reached")])
def test_a_bookmark_that_no_database_knows_is_told_once(answering, status, code):
    """The request fails, as what it was to build on is unknown; the next one goes without."""
    body = b'{"title":"t","status":%d,"detail":"d","code":"%s"}' % (status, code.encode())
    with answering((status, {**PROBLEM, "Retry-After": "1"}, body), bookmark="FB:gone") as client:
        with pytest.raises(ApiError) as refused:
            client.remember("n", RememberInput(text="x", kind="memory"))
        assert (refused.value.code, client.bookmark) == (code, "")
    assert set(answering.sent) == {"FB:gone"}
