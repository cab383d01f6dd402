"""Every operation without a key, without the scope, and beyond the key's namespace: generated from the table."""

import re

import pytest

from librarian.base.keys import SCOPES
from librarian.base.schemas import inlined_schema
from librarian.http.api import ENDPOINTS
from librarian.mcp.tools import TOOLS

# Whoever adds to it opens an operation to everybody who can reach the port.
OPEN = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/{file}", "/browser-pack/{file}"}
GUARDED = [endpoint for endpoint in ENDPOINTS if endpoint.scope is not None]
SCOPED = [endpoint for endpoint in GUARDED if endpoint.scope != "any"]
BRINGING_BACK = [
    endpoint for endpoint in GUARDED if endpoint.query and "even_if_forgotten" in endpoint.query.__struct_fields__
]
NAMESPACED = [endpoint for endpoint in GUARDED if endpoint.namespaced]


def name(endpoint):
    return endpoint.operation_id


async def sent(client, endpoint, headers=None, *, namespace="a", query=None):
    path = re.sub(r"\{(\w+)\}", lambda part: namespace if part[1] == "namespace" else "x", endpoint.path)
    json = {} if endpoint.body else None
    soon = {"Request-Timeout-Ms": "300"}  # writes would wait for the graph, which never comes
    return await client.request(endpoint.method, path, params=query, json=json, headers={**soon, **(headers or {})})


def test_only_the_known_operations_are_open():
    """An operation without a scope answers everybody."""
    assert {endpoint.path for endpoint in ENDPOINTS if endpoint.scope is None} <= OPEN
    assert all(endpoint.method == "GET" for endpoint in ENDPOINTS if endpoint.scope is None)


def test_what_changes_something_needs_more_than_read():
    """No write can be done with a key for reading, nor with just any key."""
    searches = {"/v1/search", "/v1/search/why-not", "/v1/relevant-memory", "/v1/answer", "/v1/context"}
    of_files = {"/v1/files/find", "/v1/files/locate", "/v1/files/search-text"}
    finding = {tool.name for tool in TOOLS if tool.name.startswith("semantic_search_")} | {
        "search_all",
        "relevant_memory",
        "context",
        "find_file",
        "search_text",
        "locate",
        "causes_of",
        "effects_of",
        "blockers_of",
        "enablers_of",
        "impact",
    }
    reading = searches | of_files | {f"/v1/tools/{name}" for name in finding}
    lax = {e.path for e in ENDPOINTS if e.method != "GET" and e.scope in (None, "any", "read")}
    assert lax - reading == set()


def test_a_namespace_in_the_path_is_checked():
    """An operation on a named namespace never skips the check of it."""
    assert all(endpoint.namespaced for endpoint in ENDPOINTS if "{namespace}" in endpoint.path)


@pytest.mark.parametrize("endpoint", GUARDED, ids=name)
async def test_without_a_valid_key_nothing_is_answered(client, key_for, keys, endpoint):
    """No key, another kind of one, an unknown and a revoked one: 401."""
    revoked = key_for("admin", "*")
    keys.revoke(keys.list()[-1].id)
    for headers in (None, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer lib_unknown"}, revoked):
        answer = await sent(client, endpoint, headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("endpoint", SCOPED, ids=name)
async def test_without_the_scope_it_is_forbidden(client, key_for, endpoint):
    """Each other scope alone, admin apart, does not open it."""
    for scope in SCOPES:
        answer = await sent(client, endpoint, key_for(scope, "a" if endpoint.namespaced else "*"))
        assert (answer.status_code == 403) is (scope not in (endpoint.scope, "admin")), (scope, answer.text)


@pytest.mark.parametrize("endpoint", BRINGING_BACK, ids=name)
async def test_only_an_admin_brings_back_what_was_forgotten(client, key_for, endpoint):
    """Whoever may write, and asks for `even_if_forgotten` without the scope admin, is refused before anything is."""
    query = {"even_if_forgotten": "true"}
    for scope in SCOPES:
        answer = await sent(client, endpoint, key_for(scope, "a"), query=query)
        assert (answer.status_code == 403) is (scope != "admin"), (scope, answer.text)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.scope != "read"], ids=lambda tool: tool.name)
async def test_no_tool_brings_back_what_was_forgotten(client, key_for, tool):
    """Not for an admin either: over MCP and HTTP tools take the same input, which has no such field."""
    assert "even_if_forgotten" not in inlined_schema(tool.input)["properties"]
    soon = {**key_for("admin", "*"), "Librarian-Namespace": "a", "Request-Timeout-Ms": "300"}
    answer = await client.post(f"/v1/tools/{tool.name}", json={"even_if_forgotten": True}, headers=soon)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input"), answer.text
    assert not {"lift", "lift_forgotten"} & {each.name for each in TOOLS}


@pytest.mark.parametrize("endpoint", NAMESPACED, ids=name)
async def test_beyond_the_key_s_namespaces_it_is_forbidden(client, key_for, endpoint):
    """Whether the namespace is named in the path or in the header."""
    headers = {**key_for("admin", "a", "app:*"), "Librarian-Namespace": "b"}
    answer = await sent(client, endpoint, headers, namespace="b")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
