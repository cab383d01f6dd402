"""The entry of the change feed for each kind of change, and following: to the end of streams, keys and processes."""

import asyncio
import random

import pytest

from librarian.client import ApiError, AsyncLibrarianClient
from librarian.items.contracts import Correction, DeleteInput, LinkInput, UnlinkInput
from librarian.transfer.feed.contracts import ChangeQuery


@pytest.fixture
def told(librarian, namespace):
    """The changes of the test's namespace since the last call, as (action, kind, uid)."""
    cursor = "0"

    async def since():
        nonlocal cursor
        page = await librarian.changes(namespace, ChangeQuery(after=cursor, limit=500))
        cursor = page.cursor
        return [(change.action, change.kind, change.uid) for change in page.changes]

    return since


FACT = {"kind": "fact", "uid": "f", "subject": "Ada", "predicate": "lives in", "object": "Lisbon", "evidence": ["m"]}


async def test_each_change_of_an_item_is_told(ingest, librarian, namespace, told):
    """Added, changed, ended, superseded, holding again, deleted and forgotten; the same row again is no change."""
    await ingest({"kind": "message", "uid": "m", "text": "I live in Lisbon", "conversation_id": "c"}, FACT, embed=False)
    assert sorted(await told()) == [("added", "fact", "f"), ("added", "message", "m")]
    await ingest(FACT, embed=False)
    assert await told() == []
    await librarian.patch_item(namespace, "f", {"confidence": 0.5})
    assert await told() == [("changed", "fact", "f")]
    newer = (await librarian.correct(namespace, "f", Correction(object="Porto"))).item.uid
    assert sorted(await told()) == [("added", "fact", newer), ("superseded", "fact", "f")]
    await librarian.delete_item(namespace, newer)
    assert sorted(await told()) == [("forgotten", "fact", newer), ("reopened", "fact", "f")]
    await librarian.patch_item(namespace, "f", {"valid_to": "2026-01-01T00:00:00Z"})
    assert await told() == [("ended", "fact", "f")]
    asked = DeleteInput(uids=["f", "m"])
    preview = await librarian.delete_items(namespace, asked)
    await librarian.delete_items(namespace, DeleteInput(uids=["f", "m"], confirm_token=preview.confirm_token))
    assert sorted(await told()) == [("forgotten", "fact", "f"), ("forgotten", "message", "m")]


async def test_edges_files_and_a_namespace_are_told(ingest, librarian, namespace, told):
    """An edge that is drawn and removed, a file that is stored, changed and deleted, and all that goes with a
    namespace.
    """
    await ingest({"kind": "memory", "uid": "a", "text": "a"}, {"kind": "memory", "uid": "b", "text": "b"}, embed=False)
    await told()
    edge = (await librarian.link(namespace, LinkInput(source="a", type="CAUSES", target="b"))).edge.edge_id
    await librarian.unlink(namespace, UnlinkInput(edge_id=edge))
    assert await told() == [("added", "edge", edge), ("deleted", "edge", edge)]
    for text in (b"x = 1\n", b"x = 2\n"):
        await librarian.put_file(namespace, "one.py", text)
    await librarian.delete_file(namespace, "one.py")
    paths = [("added", "file", "one.py"), *2 * [("changed", "file", "one.py")], ("deleted", "file", "one.py")]
    assert await told() == paths
    preview = await librarian.delete_namespace(namespace)
    await librarian.delete_namespace(namespace, preview.confirm_token)
    assert sorted(await told()) == [("deleted", "memory", "a"), ("deleted", "memory", "b")]


async def test_what_is_forgotten_leaves_no_text_in_the_feed(ingest, executor, librarian, namespace):
    """A change names what it is about, and nothing that was said."""
    await ingest(FACT | {"uid": "secret-free"}, embed=False)
    await librarian.delete_item(namespace, "secret-free")
    rows = await executor.driver.execute_query(
        "MATCH (s:ChangeSet {namespace: $ns}) RETURN s.changes AS c", ns=namespace
    )
    assert not [word for word in ("Ada", "Lisbon", "lives") if word in str(rows.records)]


async def test_a_follower_that_reconnects_at_random_misses_nothing(serving, keys, namespace):
    """Two replicas, writers at both, and a follower that changes between them in mid-stream: all that was acknowledged
    comes once and in order.
    """
    key = keys.create("both", namespaces=[namespace], scopes=["read", "write"])[1]
    sent = {"Authorization": f"Bearer {key}"}
    async with serving() as one, serving() as other:
        acknowledged, seen = set(), []

        async def write(client, writer):
            for n in range(15):
                uid = f"{writer}-{n}"
                stored = await client.post(
                    "/v1/items", json=[{"kind": "memory", "uid": uid, "text": uid}], headers=sent
                )
                assert stored.status_code == 200, stored.text
                acknowledged.add(uid)

        async def follow():
            after = "0"
            while len(seen) < 60:
                replica = random.choice([one, other])
                async with AsyncLibrarianClient(str(replica.base_url), key) as client:
                    some = random.randint(1, 9)
                    async for change in client.follow_changes(namespace, after):
                        if hasattr(change, "seq"):
                            seen.append(change)
                            some -= 1
                        after = change.cursor
                        if not some or len(seen) == 60:
                            break

        async with asyncio.timeout(60):
            await asyncio.gather(
                follow(), *(write(client, f"w{n}") for n, client in enumerate((one, one, other, other)))
            )
    assert [change.seq for change in seen] == list(range(1, 61))
    assert {change.uid for change in seen} == acknowledged


async def test_idle_streams_take_no_slot_and_have_a_limit(serving, keys, namespace):
    """Where one request runs at a time, three streams stay open beside it; the fourth of a key is a 429."""
    key = keys.create("idle", namespaces=[namespace], scopes=["read"])[1]
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    async with serving(max_concurrent=1, max_queued=0, max_change_streams=3) as client:
        async with (
            client.stream("GET", "/v1/changes", headers=headers) as first,
            client.stream("GET", "/v1/changes", headers=headers),
            client.stream("GET", "/v1/changes", headers=headers),
        ):
            lines = first.aiter_lines()
            assert [await anext(lines) for _ in range(3)] == ["id: 0", "event: cursor", 'data: {"cursor":"0"}']
            refused = await client.get("/v1/changes", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
            plain = await client.get("/v1/changes", headers={"Authorization": f"Bearer {key}"})
            assert plain.json() == {"changes": [], "cursor": "0", "more": False}
        async with asyncio.timeout(10):
            while (
                await client.send(client.build_request("GET", "/v1/changes", headers=headers), stream=True)
            ).is_error:
                await asyncio.sleep(0.05)


async def test_a_stream_ends_with_its_key_and_outlives_the_deadline_of_a_request(serving, keys, namespace):
    """A revoked key's stream says so and ends; until then it lasts longer than a request may."""
    entry, key = keys.create("short", namespaces=[namespace], scopes=["read"])
    async with serving(request_timeout_s=1.0) as client, AsyncLibrarianClient(str(client.base_url), key) as follower:
        changes = follower.follow_changes(namespace)
        await anext(changes)
        waiting = asyncio.create_task(anext(changes))
        await asyncio.sleep(1.5)
        assert not waiting.done()
        keys.revoke(entry.id)
        with pytest.raises(ApiError) as error:
            await waiting
        assert error.value.code == "unauthenticated"


async def test_an_old_cursor_is_gone_with_a_remedy(client, headers):
    """410 before a stream begins, too; a text that is no cursor is a 400."""
    for accept in ("application/json", "text/event-stream"):
        answer = await client.get("/v1/changes", params={"after": "7-0123abcd"}, headers=headers | {"Accept": accept})
        assert (answer.status_code, answer.json()["code"]) == (410, "changes_gone")
        assert "without `after`" in answer.json()["detail"]
    assert (await client.get("/v1/changes", params={"after": "7"}, headers=headers)).status_code == 400
    resumed = headers | {"Last-Event-ID": "nonsense"}
    assert (await client.get("/v1/changes", headers=resumed)).status_code == 400
