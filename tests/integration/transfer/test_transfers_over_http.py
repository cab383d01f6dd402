"""Namespaces downloaded and uploaded."""

import gzip

import httpx
import pytest

from librarian.base.keys import KeyFile

ROWS = [{"kind": "memory", "uid": f"k{n}", "text": f"text {n}"} for n in range(3)]


@pytest.fixture
async def service(librarian, serve_app, namespace, tmp_path):
    keys = KeyFile(tmp_path / "keys.json")
    secret = keys.create("admin", namespaces=[namespace, f"{namespace}:*"], scopes=["admin"])[1]
    async with serve_app(librarian, keys) as url, httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:

        async def call(method, path, **options):
            headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"}
            return await http.request(method, f"/v1/namespaces/{path}", headers=headers, **options)

        yield call


async def test_a_namespace_goes_out_and_comes_back_under_another_name(service, ingest, namespace, exported):
    """The download is what `export` writes; an upload may be zipped, and conflicts unless somebody chooses."""
    await ingest(*ROWS, embed=False)
    got = await service("GET", f"{namespace}/export", params={"vectors": "true"})
    assert got.status_code == 200
    assert got.content == await exported(namespace, vectors=True)
    assert got.headers["content-type"] == "application/x-ndjson"
    assert got.headers["librarian-export-exact"] == "true"
    assert got.headers["content-disposition"] == f"attachment; filename*=UTF-8''{namespace}.jsonl"
    for sent in (got.content, gzip.compress(got.content)):
        put = await service("POST", f"{namespace}:2/import", content=sent, params={"existing": "replace"})
        assert (put.status_code, put.json()["created"]) == (200, {"item": 3})
    again = await service("POST", f"{namespace}:2/import", content=got.content)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\x1f\x8b broken", b'{"kind": "memory", "text": "x"}\n'])
async def test_a_bad_upload_is_refused(service, ingest, namespace, exported, content):
    """Before anything is written."""
    await ingest(*ROWS, embed=False)
    before = await exported(namespace)
    for sent in (content, before[:-30]):
        put = await service("POST", f"{namespace}/import", content=sent, params={"existing": "replace"})
        assert (put.status_code, put.json()["code"]) == (400, "invalid_export")
    assert await exported(namespace) == before


async def test_what_is_not_there_is_not_found(service, namespace):
    """As everywhere."""
    assert (await service("GET", f"{namespace}/export")).status_code == 404
