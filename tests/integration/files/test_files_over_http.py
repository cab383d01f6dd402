"""The operations on files over HTTP."""

import contextlib
from dataclasses import replace

import pytest

from librarian.base.keys import KeyFile
from librarian.base.settings.values import Rate


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")


@pytest.fixture
async def client(serve_app, librarian, keys, namespace):
    """A client with a key for everything in the test's namespace."""
    import httpx

    secret = keys.create("test", namespaces=[namespace], scopes=["admin"])[1]
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        serve_app(librarian, keys, rate_limit=Rate(0, 1.0)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, headers=headers) as client,
    ):
        yield client


@pytest.fixture
def allowing(librarian, monkeypatch):
    """Allows a folder to be indexed."""

    @contextlib.contextmanager
    def allow(*roots):
        with monkeypatch.context() as patch:
            patch.setattr(librarian.files, "_settings", replace(librarian.settings.files, roots=roots))
            yield

    return allow


async def test_a_round_trip(client, tree, allowing):
    """Index, find, search, locate, read, list and delete."""
    root = tree({"src/app.py": "class App:\n    pass\n", "b.txt": "App\n"})
    with allowing(root.parent):
        report = (await client.post("/v1/files/index", json={"root": str(root)})).json()
    assert report["added"] == 2
    assert (await client.post("/v1/files/find", json={"name": "app"})).json()["paths"] == ["src/app.py"]
    found = (await client.post("/v1/files/search-text", json={"query": "App"})).json()
    assert [(hit["path"], hit["line"], hit["defines"]) for hit in found["hits"]] == [
        ("src/app.py", 1, "class"), ("b.txt", 1, None),
    ]  # fmt: skip
    lines = (await client.post("/v1/tools/search_text", json={"query": "App"})).json()
    assert lines["lines"] == ["src/app.py:1: class App:", "b.txt:1: App"]
    assert (await client.post("/v1/tools/find_file", json={"name": "app"})).json()["paths"] == ["src/app.py"]
    assert (await client.post("/v1/tools/locate", json={"query": "app.py"})).json()["paths"] == ["src/app.py"]
    assert (await client.get("/v1/files/src/app.py", params={"start": 2})).json()["text"] == "    pass"
    assert [file["path"] for file in (await client.get("/v1/files")).json()["files"]] == ["b.txt", "src/app.py"]
    assert (await client.delete("/v1/files/b.txt")).status_code == 200
    assert (await client.get("/v1/files/b.txt")).status_code == 404


async def test_a_folder_outside_the_list_is_forbidden(client, tree, allowing, tmp_path):
    """No list, another folder, a way out by dots or a link: 403, and nothing of the folder in the answer."""
    root = tree({"a.py": "x\n"})
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(root)
    assert (await client.post("/v1/files/index", json={"root": str(root)})).status_code == 403
    with allowing(allowed):
        for place in (str(root), f"{allowed}/../tree", f"{allowed}/link", "relative", "/", "/etc\0"):
            answer = await client.post("/v1/files/index", json={"root": place})
            assert answer.status_code == 403, place
            assert answer.json()["code"] == "forbidden"
        assert (await client.post("/v1/files/index", json={"root": str(allowed)})).status_code == 200


async def test_uploading(client):
    """201, then 200 and unchanged, then updated; a binary file has no text; any path that stays below is one."""
    first = await client.put("/v1/files/notes/a%20b.txt", content=b"needle\n", params={"root": "laptop:/notes"})
    assert (first.status_code, first.json()["outcome"]) == (201, "added")
    assert (first.json()["file"]["path"], first.json()["file"]["root"]) == ("notes/a b.txt", "laptop:/notes")
    again = await client.put("/v1/files/notes/a%20b.txt", content=b"needle\n")
    assert (again.status_code, again.json()["outcome"]) == (200, "unchanged")
    changed = await client.put("/v1/files/notes/a%20b.txt", content=b"needle\nneedle\n")
    assert changed.json()["outcome"] == "updated"
    hits = (await client.post("/v1/files/search-text", json={"query": "needle"})).json()["hits"]
    assert [hit["line"] for hit in hits] == [1, 2]
    binary = (await client.put("/v1/files/x.bin", content=b"\0")).json()["file"]
    assert (binary["unread"], binary["sha256"]) == ("binary", None)


@pytest.mark.parametrize("path", ["a/%2E%2E/b", "%2Fetc/passwd", "a//b", "a/%00", "a/"])
async def test_a_path_that_leaves_its_root_is_refused(client, path):
    """Upwards, absolute, or with empty parts."""
    answer = await client.put(f"/v1/files/{path}", content=b"x")
    assert (answer.status_code, answer.json()["field"]) == (400, "path")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": ""}, "$.query"),
        ({"query": "("  , "regex": True}, "$.query"),
        ({"query": "x", "globs": ["{"]}, "$.globs"),
        ({"query": "x", "languages": ["klingon"]}, "$.languages"),
        ({"query": "x", "limit": 0}, "$.limit"),
        ({"query": "x", "context": 21}, "$.context"),
        ({"query": "a\nb"}, "$.query"),
    ],
)  # fmt: skip
async def test_a_search_that_means_nothing_is_refused(client, body, field):
    """400, with the field."""
    answer = await client.post("/v1/files/search-text", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
