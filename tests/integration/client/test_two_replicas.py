"""Two services on one database: what one wrote, the other reads, by the bookmark of the answer."""

import asyncio
import base64
import json
import re

import httpx
import pytest

from librarian.app import open_librarian
from librarian.client import AsyncLibrarianClient
from librarian.http.bookmarks import BOOKMARK_HEADER
from librarian.http.mcp import MCP_PATH
from librarian.items.contracts import ItemQuery, RememberInput

FORM = re.compile(r"FB:[A-Za-z0-9+/=_-]{1,500}(,FB:[A-Za-z0-9+/=_-]{1,500})*")


@pytest.fixture(scope="module")
async def other_url(serve_app, settings, librarian, service_keys):
    """A second service: another Librarian, with connections of its own, on the same database."""
    async with (
        open_librarian(settings, purpose="tests", linger_s=0) as replica,
        serve_app(replica, service_keys) as url,
    ):
        yield url


@pytest.fixture
def asking(admin_key, namespace):
    """Plain HTTP with the namespace's headers."""

    async def ask(method, url, *, bookmark=None, **more):
        headers = {"Authorization": f"Bearer {admin_key}", "Librarian-Namespace": namespace}
        if bookmark is not None:
            headers[BOOKMARK_HEADER] = bookmark
        async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=30) as client:
            return await client.request(method, url, **more)

    return ask


async def test_a_write_is_read_through_another_replica(asking, service_url, other_url):
    """The answer to a write carries a bookmark; the other service takes it, and reads what was written."""
    row = {"kind": "memory", "text": "Backups run at four."}
    written = await asking("PUT", f"{service_url}/v1/items/k1", json=row)
    assert written.status_code == 201
    bookmark = written.headers[BOOKMARK_HEADER]
    assert FORM.fullmatch(bookmark)
    read = await asking("GET", f"{other_url}/v1/items/k1", bookmark=bookmark)
    assert (read.status_code, read.json()["text"]) == (200, row["text"])
    assert BOOKMARK_HEADER not in read.headers


async def test_every_way_to_write_hands_a_bookmark_on(asking, service_url, other_url):
    """Streams, refused rows, replays of an Idempotency-Key and deletions too, each of them after the one before."""
    rows = b'{"kind": "memory", "uid": "a", "text": "x"}\n{"kind": "nonsense"}\n'
    lines = await asking(
        "POST", f"{service_url}/v1/items", content=rows, headers={"Content-Type": "application/x-ndjson"}
    )
    assert lines.status_code == 207
    once = {"Idempotency-Key": "k", "Content-Type": "application/merge-patch+json"}
    patches = [
        await asking("PATCH", f"{url}/v1/items/a", content=b'{"text": "y"}', headers=once)
        for url in (service_url, other_url)
    ]
    assert patches[1].headers["Idempotency-Replayed"] == "true"
    gone = await asking("DELETE", f"{other_url}/v1/items/a", bookmark=patches[1].headers[BOOKMARK_HEADER])
    assert gone.status_code == 200
    for answer in (lines, *patches, gone):
        assert FORM.fullmatch(answer.headers[BOOKMARK_HEADER])


@pytest.mark.parametrize(
    "bookmark",
    ["nonsense", "", "FB:", "FB:a b", "FB:" + "x" * 501, "FB:äö", ",".join(["FB:x"] * 65), "FB:kcwQnotabookmark"],
    ids=["another form", "nothing", "empty", "blank", "too long", "not ASCII", "too many", "damaged"],
)
async def test_what_is_no_bookmark_is_refused(asking, service_url, bookmark):
    """422 with a stable code, on reads and writes, before anything is done; nobody else is disturbed."""
    sent = bookmark.encode()
    for method, more in (("GET", {}), ("PUT", {"json": {"kind": "memory", "text": "x"}})):
        refused = await asking(method, f"{service_url}/v1/items/never", bookmark=sent, **more)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_bookmark")
    over_mcp = await asking("POST", f"{service_url}{MCP_PATH}", bookmark=sent, json={})
    assert over_mcp.json()["code"] == "invalid_bookmark"
    assert (await asking("GET", f"{service_url}/v1/items/never")).status_code == 404
    assert (await asking("GET", f"{service_url}/v1/items")).json()["items"] == []


async def test_a_bookmark_is_no_key(service_url):
    """Who has none is told so first, whatever bookmark is sent."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.get(f"{service_url}/v1/items", headers={BOOKMARK_HEADER: "nonsense"})
    assert answer.status_code == 401


async def test_clients_carry_it_along(service_url, other_url, admin_key, namespace):
    """A client sends what it has written, and another one is made with it."""
    async with AsyncLibrarianClient(service_url, admin_key) as writer:
        assert writer.bookmark == ""
        kept = await writer.remember(namespace, RememberInput(text="Backups run at five.", kind="memory"))
        first = writer.bookmark
        assert FORM.fullmatch(first)
        await writer.remember(namespace, RememberInput(text="Restores are tested.", kind="memory"))
        assert writer.bookmark != first
        async with AsyncLibrarianClient(other_url, admin_key, bookmark=writer.bookmark) as reader:
            listed = await reader.list_items(namespace, ItemQuery())
            assert len(listed.items) == 2
            assert kept.item.uid in {item.uid for item in listed.items}
            assert reader.bookmark == writer.bookmark


async def test_commands_carry_it_along(cli, service_url, namespace, tmp_path):
    """A command builds on the last one's write through a service; a bookmark that no database knows is forgotten."""
    where = {"LIBRARIAN_REMOTE": service_url, "LIBRARIAN_NAMESPACE": namespace, "LIBRARIAN_CACHE": str(tmp_path)}
    note = tmp_path / "bookmarks.json"
    assert (await cli("remember", "Backups run at six.", **where))[0] == 0
    kept = json.loads(note.read_bytes())
    assert FORM.fullmatch(kept[service_url]["bookmark"])
    note.write_text(json.dumps({service_url: {**kept[service_url], "bookmark": "FB:damaged"}}))
    code, _, err = await cli("list", **where)
    assert (code, "cannot read this bookmark" in err) == (65, True)
    code, out, _ = await cli("list", **where)
    assert (code, "Backups run at six." in out) == (0, True)


async def test_a_service_waits_for_the_work_of_a_bookmark(asking, other_url, executor, namespace, monkeypatch):
    """It does not answer from before it: a bookmark whose work never comes ends with 503, and says so."""
    monkeypatch.setattr("librarian.http.bookmarks.PATIENCE_S", 0.5)
    answer = await asking("GET", f"{other_url}/v1/items", bookmark=await future_bookmark(executor))
    assert (answer.status_code, answer.json()["code"]) == (503, "bookmark_not_reached")
    assert answer.headers["Retry-After"]
    assert (await asking("GET", f"{other_url}/v1/items")).status_code == 200


async def future_bookmark(executor):
    """A bookmark of the database itself, of a transaction that is far ahead.

    It is a packed list of the database's id (16 bytes), the transaction's number and a map.
    """
    async with executor.driver.session() as session:
        await (await session.run("RETURN 1")).consume()
        (own,) = (await session.last_bookmarks()).raw_values
    packed = base64.b64decode(own.removeprefix("FB:"))
    head = packed[: packed.index(b"\xcc\x10") + 2 + 16]
    far_ahead = b"\xcb" + (2**40).to_bytes(8, "big")
    return "FB:" + base64.b64encode(head + far_ahead + packed[-1:]).decode()


async def test_replicas_under_load_count_together(asking, service_url, other_url):
    """Writers on both raise one number, each from the version it has read: no step is lost, none counts twice."""
    row = {"kind": "fact", "uid": "n", "subject": "counter", "predicate": "is at", "object": "0"}
    stored = await asking("PUT", f"{service_url}/v1/items/n", json=row)
    bookmark = stored.headers[BOOKMARK_HEADER]

    async def raise_it(url):
        raised = 0
        while raised < 5:
            before = await asking("GET", f"{url}/v1/items/n", bookmark=bookmark)
            count = int(before.json()["properties"]["object"]) + 1
            headers = {"If-Match": before.headers["etag"]}
            done = await asking("PATCH", f"{url}/v1/items/n", json={"object": str(count)}, headers=headers)
            assert done.status_code in (200, 412, 409, 503), done.text
            raised += done.status_code == 200

    await asyncio.gather(*(raise_it(url) for url in (service_url, other_url) for _ in range(3)))
    last = await asking("GET", f"{service_url}/v1/items/n")
    assert (last.json()["properties"]["object"], last.json()["version"]) == ("30", 31)
