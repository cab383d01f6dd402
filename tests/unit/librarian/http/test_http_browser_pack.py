"""The pack for Neo4j Browser over HTTP: open to pages of other origins, for reading, and for nothing else."""

import pytest

from librarian.analyst.browser_pack.pack import PACK_FILES

ORIGIN = {"Origin": "http://127.0.0.1:17474"}
ASKED = {
    **ORIGIN,
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "baggage,cache-control,pragma,sentry-trace,x-of-the-next-version",
}


@pytest.mark.parametrize("name", PACK_FILES)
async def test_a_page_of_another_origin_may_get_the_pack(client, name):
    """Without a key, after a preflight, and whatever the graph does."""
    asked = await client.options(f"/browser-pack/{name}", headers=ASKED)
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == "*"
    assert asked.headers["access-control-allow-methods"] == "GET"
    assert asked.headers["access-control-allow-headers"] == ASKED["Access-Control-Request-Headers"]
    got = await client.get(f"/browser-pack/{name}", headers=ORIGIN)
    assert got.status_code == 200
    assert got.headers["access-control-allow-origin"] == "*"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in got.headers["content-security-policy"]
    assert "access-control-allow-credentials" not in {**asked.headers, **got.headers}


async def test_nothing_else_is_open_to_other_origins(client):
    """No other path answers a preflight, and none of the pack takes anything."""
    for path in ("/v1/search", "/v1/items", "/healthz", "/docs"):
        answer = await client.options(path, headers=ASKED)
        assert answer.status_code == 405, path
        assert "access-control-allow-origin" not in answer.headers
    for path in ("/browser-pack/pack.py", "/browser-pack/queries", "/browser-pack/..%2fpack.py", "/browser-pack/"):
        assert (await client.get(path)).status_code == 404, path
    assert (await client.post("/browser-pack/guide.html")).status_code == 405


async def test_the_guide_names_the_service_and_the_namespace(client):
    """As its caller reaches it; a namespace that cannot be one is refused."""
    shown = (await client.get("/browser-pack/guide.html", params={"namespace": "team:a"})).text
    assert f":style {client.base_url}/browser-pack/analyst.grass" in shown.replace("//browser-pack", "/browser-pack")
    assert ":param namespace =&gt; '<span value-key=\"namespace\">team:a</span>'" in shown
    assert ">default</span>" in (await client.get("/browser-pack/guide.html")).text
    for query in ({"namespace": "a b"}, {"namespace": "<script>"}, {"other": "x"}):
        assert (await client.get("/browser-pack/guide.html", params=query)).status_code == 400, query
