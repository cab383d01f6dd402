"""The clients over the real service."""

import asyncio

import msgspec
import pytest

from librarian.client import ApiError, AsyncLibrarianClient, LibrarianClient
from librarian.items.contracts import (
    CorrectInput,
    DeleteInput,
    EdgeQuery,
    ItemQuery,
    LinkInput,
    MemoryIn,
    RememberInput,
    UnlinkInput,
)
from librarian.search.contracts import RelevantInput, SearchInput


def same(entry, other):
    """As JSON: times among the properties of an item come as texts."""
    return msgspec.json.encode(entry) == msgspec.json.encode(other)


async def test_every_verb_answers_what_the_facade_answers(remote, librarian, namespace):
    """Items, edges and namespaces live their whole life through the client; the graph agrees."""
    kept = await remote.remember(namespace, RememberInput(text="The disk is full.", uid="a", tags=["x", "y"]))
    assert (kept.outcome, kept.item.uid) == ("added", "a")
    outcomes = [(await remote.put_item(namespace, "b", MemoryIn(text=text))).outcome for text in ("one", "one", "two")]
    assert outcomes == ["added", "unchanged", "updated"]
    patched = await remote.patch_item(namespace, "b", {"text": "three"}, if_version=2)
    assert (patched.version, patched.text) == (3, "three")
    corrected = await remote.correct(namespace, "a", CorrectInput(uid="a", text="It was inodes.", reason="df"))
    assert corrected.item == await remote.get_item(namespace, "a")
    assert same(corrected.item, await librarian.get_item(namespace, "a"))
    assert same(await remote.revisions(namespace, "a"), await librarian.revisions(namespace, "a"))
    query = ItemQuery(tags=["x", "y"], limit=1)
    assert [item.uid for item in (await remote.list_items(namespace, query)).items] == ["a"]

    linked = await remote.link(namespace, LinkInput(source="a", type="CAUSES", target="b"))
    edges = await remote.list_edges(namespace, EdgeQuery(types=["CAUSES", "BLOCKS"]))
    assert edges.edges == [linked.edge] == [await remote.get_edge(namespace, linked.edge.edge_id)]
    gone = await remote.unlink(namespace, UnlinkInput(source="a", type="CAUSES", target="b"))
    assert gone.edge_id == linked.edge.edge_id

    found = await remote.search(namespace, SearchInput(queries=["inodes"]))
    assert "a" in [hit.uid for hit in found.results]
    assert "a" in [hit.uid for hit in (await remote.relevant_memory(namespace, RelevantInput(query="inodes"))).hits]
    assert namespace in [entry.namespace for entry in (await remote.namespaces()).namespaces]
    assert (await remote.readiness()).ready

    assert (await remote.delete_item(namespace, "b")).items == 1
    preview = await remote.delete_items(namespace, DeleteInput(uids=["a"]))
    assert (await librarian.get_item(namespace, "a")).uid == "a"
    done = await remote.delete_items(namespace, DeleteInput(uids=["a"], confirm_token=preview.confirm_token))
    assert (done.deleted, done.counts.items) == (True, 1)


async def test_an_error_tells_everything_that_the_service_says(service_url, admin_key, remote, namespace):
    """Status, code, field and request id of the problem; the wrong key is refused."""
    with pytest.raises(ApiError) as missing:
        await remote.get_item(namespace, "..")
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    assert missing.value.request_id
    with pytest.raises(ApiError) as stale:
        await remote.patch_item(namespace, "nobody", {"text": "x"}, if_version=1)
    assert stale.value.status == 404
    async with AsyncLibrarianClient(service_url, "lib_wrong") as stranger:
        with pytest.raises(ApiError) as refused:
            await stranger.namespaces()
    assert (refused.value.status, refused.value.code) == (401, "unauthenticated")
    assert refused.value.remedy or refused.value.detail
    assert admin_key not in repr(vars(refused.value))


async def test_rows_keep_their_lines_from_any_source(remote, namespace):
    """The report names the caller's lines, also with gaps between them; a namespace may be of any script."""
    named = f"{namespace}-日本"

    async def lines():
        yield 3, b'{"kind": "memory", "uid": "a", "text": "one"}'
        yield 7, b'{"kind": "memory"}'

    report = await remote.ingest(lines(), namespace=named)
    assert (report.added, report.failed, report.errors[0].line) == (1, 1, 7)
    again = await remote.ingest([{"kind": "memory", "uid": "a", "text": "one"}], namespace=named)
    assert again.unchanged == 1
    bad = await remote.ingest([{"kind": "memory"}], namespace=named)
    assert (bad.failed, bad.total) == (1, 1)
    assert (await remote.get_item(named, "a")).text == "one"


async def test_the_blocking_client_has_the_same_verbs(service_url, admin_key, namespace):
    """The same description of each request, sent without an event loop."""

    def work():
        with LibrarianClient(service_url, admin_key) as client:
            client.ingest(
                ({"kind": "memory", "uid": f"u{n}", "text": f"note {n}"} for n in range(3)), namespace=namespace
            )
            return client.list_items(namespace, ItemQuery(order="oldest"))

    assert {item.uid for item in (await asyncio.to_thread(work)).items} == {"u0", "u1", "u2"}
