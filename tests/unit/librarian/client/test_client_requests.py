"""Requests as pure values: paths, rows as lines, addresses, and that both clients have every verb."""

import inspect

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Match

from librarian.base.errors import InvalidInput, SettingsError
from librarian.client import AsyncLibrarianClient, LibrarianClient, protocol, rows, verbs
from librarian.client.verbs import VERBS
from librarian.http.api import DOCUMENTED
from librarian.http.auth import NAMESPACE_HEADER
from librarian.http.endpoints import routes_of
from librarian.http.idempotency import KEY_HEADER
from librarian.items.contracts import EdgeQuery, ItemQuery
from librarian.operations import OPERATIONS
from librarian.search.contracts import SearchInput, SearchOutput


@pytest.mark.parametrize("verb", VERBS)
def test_both_clients_have_every_verb_with_its_parameters(verb):
    wanted = [*inspect.signature(VERBS[verb]).parameters]
    for client in (LibrarianClient, AsyncLibrarianClient):
        method = getattr(client, verb)
        assert [*inspect.signature(method).parameters] == ["self", *wanted]
        assert method.__doc__ == VERBS[verb].__doc__


def test_headers_are_those_of_the_service():
    assert (verbs.NAMESPACE_HEADER, verbs.IDEMPOTENCY_HEADER) == (NAMESPACE_HEADER, KEY_HEADER)


@given(st.text(min_size=1, max_size=20))
def test_any_uid_is_one_part_of_the_path(uid):
    path = VERBS["get_item"]("n", uid).path
    assert path.count("/") == 3
    assert path.rpartition("/")[2] not in (".", "..")


def test_lists_are_repeated_names():
    assert VERBS["list_items"]("n", ItemQuery(tags=["a", "b"], limit=3)).params == (
        ("tags", "a"),
        ("tags", "b"),
        ("limit", "3"),
    )
    assert VERBS["list_edges"]("n", EdgeQuery()).params == ()


INPUTS = {
    asked.__name__: asked
    for operation in OPERATIONS
    for asked in (operation.input, operation.http and operation.http.query)
    if isinstance(asked, type) and issubclass(asked, msgspec.Struct)
}


@pytest.mark.parametrize("name", INPUTS)
def test_what_has_its_default_is_not_sent(name):
    """A service from before a field was added goes on answering requests that do without it."""
    optional = [
        field.name
        for field in msgspec.structs.fields(INPUTS[name])
        if not field.required and field.default is not msgspec.UNSET
    ]
    assert not optional or INPUTS[name].__struct_config__.omit_defaults


def test_a_search_sends_what_is_asked_alone():
    request = VERBS["search"]("n", SearchInput(queries=["why"], limit=3))
    assert request.body == b'{"queries":["why"],"limit":3}'


def test_a_field_that_an_older_service_does_not_know_has_a_remedy():
    problem = {"code": "invalid_input", "detail": "Object contains unknown field `namespaces`", "field": "$.namespaces"}
    reply = verbs.Reply(400, {"content-type": "application/problem+json"}, msgspec.json.encode(problem))
    refused = protocol.outcome_of(VERBS["search"]("n", SearchInput(queries=["why"], namespaces=["a"])), reply)
    assert not isinstance(refused, SearchOutput)
    assert "update the service" in refused.remedy


def test_writes_have_routes_that_honour_the_key():
    request = VERBS["delete_namespace"]("a:b")
    scope = {"type": "http", "method": request.method, "path": "/v1/namespaces/a:b:delete"}
    assert any(route.matches(scope)[0] is Match.FULL for route in routes_of(DOCUMENTED))


@given(st.lists(st.integers(1, 50), unique=True).map(sorted))
def test_each_row_stands_on_its_line(numbers):
    sent = b"".join(rows.ndjson([(number, b"%d" % number) for number in numbers]))
    assert {n: line for n, line in enumerate(sent.split(b"\n"), 1) if line} == {n: b"%d" % n for n in numbers}


def test_rows_that_fit_no_line_are_refused():
    for bad in ([(2, b"{}"), (1, b"{}")], [(1, b"{\n}")]):
        with pytest.raises(InvalidInput):
            list(rows.ndjson(bad))


def test_small_rows_travel_together():
    chunks = list(rows.ndjson({"text": "x" * 100} for _ in range(2000)))
    assert len(chunks) < 10
    assert sum(chunk.count(b"\n") for chunk in chunks) == 2000
    assert msgspec.json.decode(chunks[0].split(b"\n")[0]) == {"text": "x" * 100}


@pytest.mark.parametrize("url", ["http://192.0.2.1", "http://example.org:8765", "ftp://x", "https://u:p@x", "x", None])
def test_an_address_that_would_betray_the_key_is_refused(url):
    with pytest.raises(SettingsError) as refused:
        protocol.checked_address(url, allow_insecure=False)
    assert "u:p" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8765/", "http://[::1]:1", "http://localhost", "https://example.org/x"]
)
def test_loopback_and_https_are_fine(url):
    assert protocol.checked_address(url, allow_insecure=False) == url.rstrip("/")


def test_insecure_has_to_be_said():
    assert protocol.checked_address("http://example.org", allow_insecure=True) == "http://example.org"


def test_the_key_of_the_environment_goes_to_its_own_service_only(monkeypatch):
    monkeypatch.setenv("LIBRARIAN_REMOTE", "https://own.example")
    monkeypatch.setenv("LIBRARIAN_API_KEY", "secret")
    request = VERBS["namespaces"]()
    own, other = LibrarianClient(), LibrarianClient("https://other.example")
    assert own._prepared(request, None)["headers"]["Authorization"] == b"Bearer secret"
    assert "Authorization" not in other._prepared(request, None)["headers"]
    assert "secret" not in repr(own)
