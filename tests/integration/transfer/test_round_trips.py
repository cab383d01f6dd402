"""Out of a namespace and back: nothing is lost, nothing is half, nothing of others is touched."""

import asyncio
import io

import msgspec
import pytest

from graph.exporting import pages
from librarian.base.errors import Conflict, InvalidExport, InvalidInput, NotFound
from librarian.search.contracts import SearchInput
from librarian.transfer import export as export_graph
from librarian.transfer.reading import examine

SECTIONS = {"conversation", "person", "file", "item", "sweep", "change", "edge"}


def lines(content, kind):
    rows = [msgspec.json.decode(line) for line in content.splitlines()]
    return [row for row in rows if row["row"] == kind]


async def counts(executor, namespace):
    """Nodes by labels and relationships by type, as they are stored; the order of messages included."""
    found, _, _ = await executor.driver.execute_query(
        "MATCH (n:!ChangeLog&!ChangeSet {namespace: $namespace}) OPTIONAL MATCH (n)-[r]->() "
        "RETURN labels(n) AS labels, type(r) AS type, count(*) AS n",
        {"namespace": namespace},
    )
    return sorted((sorted(record["labels"]), record["type"] or "", record["n"]) for record in found)


@pytest.mark.parametrize("vectors", [False, True])
async def test_export_import_export_is_equal_byte_for_byte(
    everything, exported, imported, emptied, executor, librarian, vectors
):
    """With items of every kind, history, evidence, citations, edges in each state, sweeps, and times as they were; the
    graph holds as many nodes and relationships of each kind as before.
    """
    before = await counts(executor, everything)
    first = await exported(everything, vectors=vectors)
    assert set(examine(io.BytesIO(first)).header.namespaces[0].items) == {"fact", "file_chunk", "memory", "message"}
    await emptied(everything)
    report = await imported(first)
    assert (report.skipped, report.resumed) == ({}, False)
    assert set(report.created) == SECTIONS
    assert await exported(everything, vectors=vectors) == first
    if not vectors:
        await librarian.embed_pending()
    assert await counts(executor, everything) == before


async def test_a_file_holds_what_there_is(everything, exported):
    """Spot checks of what an equal file alone would not prove: that the parts are in it at all."""
    content = await exported(everything, vectors=True)
    items = {row["uid"]: row for row in lines(content, "item")}
    assert items["new"]["properties"]["valid_from"] == {"$datetime": "2026-01-01T00:00:00Z"}
    assert items["old"]["properties"]["valid_to"] == {"$datetime": "2026-01-01T00:00:00Z"}
    assert [entry["text"] for entry in items["vague"]["revisions"]][:1] == ["Blue, mostly."]
    assert {entry["state"] for entry in items["new"]["citations"]} == {"current", "not_found"}
    assert items["waiting"]["labels"] == ["UnresolvedReferences"]
    assert all(row["vectors"] for row in items.values() if row["kind"] != "file_chunk")
    edges = lines(content, "edge")
    assert {"EVIDENCED_BY", "SUPERSEDES", "RELATES_TO", "BLOCKS"} <= {edge["type"] for edge in edges}
    (closing,) = [edge for edge in edges if edge["type"] == "SUPERSEDES"]
    assert "former_valid_to" in closing["properties"]
    assert {"name": "Invoice", "kind": "class"}.items() <= lines(content, "file")[0]["symbols"][1].items()
    assert lines(content, "change")
    assert lines(content, "sweep")[0]["properties"]["status"] == "applied"
    assert "tokens" not in str(items)


async def test_what_is_imported_is_found(everything, exported, imported, librarian):
    """Under another name, by words at once and by vectors: hashed words and vectors are the new namespace's own."""
    copy = f"{everything}-copy"
    await imported(await exported(everything, vectors=True), copy)
    found = await librarian.search(copy, SearchInput(queries=["Which quota was exceeded?"], explain=True))
    assert "problem" in [hit.uid for hit in found.results[:2]]
    assert found.arms["vector"] == "ok"
    words = await librarian.search(copy, SearchInput(queries=["京都"]))
    assert "m1" in [hit.uid for hit in words.results[:2]]
    assert (await librarian.get_item(copy, "new")).evidence


async def test_another_name_beside_the_original(everything, exported, imported, emptied):
    """uids stay, ids of edges change together wherever they stand, and the original stays as it was."""
    first = await exported(everything)
    copy = f"{everything}-copy"
    await imported(first, copy)
    assert await exported(everything) == first
    second = await exported(copy)
    assert [row["uid"] for row in lines(second, "item")] == [row["uid"] for row in lines(first, "item")]
    ids = [
        {edge["properties"].get("edge_id") for edge in lines(content, "edge")} - {None} for content in (first, second)
    ]
    assert len(ids[0]) == len(ids[1]) > 1
    assert not ids[0] & ids[1]
    changed = {row["properties"].get("edge_id") for row in lines(second, "change")} - {None}
    assert changed
    assert changed <= ids[1]
    await emptied(copy)
    await imported(first, copy)
    assert await exported(copy) == second


async def test_a_namespace_that_holds_something_is_refused(everything, exported, imported):
    """Unless somebody chooses; nothing is changed."""
    before = await exported(everything)
    with pytest.raises(Conflict, match="is not empty"):
        await imported(before)
    assert await exported(everything) == before


async def test_skip_keeps_what_is_there_and_adds_the_rest(everything, exported, imported, librarian):
    """An item that changed since stays as it is now, one that was deleted comes back with its edges."""
    first = await exported(everything)
    await librarian.patch_item(everything, "vague", {"text": "Red now."})
    await librarian.delete_item(everything, "cause")
    report = await imported(first, existing="skip", even_if_forgotten=True)
    assert report.created["item"] == 1
    assert report.skipped["item"] == len(lines(first, "item")) - 1
    assert report.created["edge"] > 0
    second = await exported(everything)
    edges = [[(e["source"], e["type"], e["target"]) for e in lines(content, "edge")] for content in (first, second)]
    assert edges[0] == edges[1]
    kept = {row["uid"]: row for row in lines(second, "item")}["vague"]
    assert kept["properties"]["text"] == "Red now."
    again = await imported(first, existing="skip")
    assert set(again.created.values()) == {0}


async def test_replace_leaves_nothing_of_what_was(everything, exported, imported, ingest):
    """Items added after the export are gone, and the namespace is as it was."""
    first = await exported(everything)
    await ingest({"kind": "memory", "uid": "later", "text": "Came later."}, embed=False)
    await imported(first, existing="replace")
    assert await exported(everything) == first


@pytest.mark.parametrize("existing", ["refuse", "replace"])
async def test_an_interrupted_import_goes_on_and_no_other_file_comes_between(
    everything, exported, imported, emptied, ingest, namespace, executor, existing
):
    """Stopped after any chunk it goes on with the same file and ends equal; meanwhile another file is refused."""
    first = await exported(everything)
    if existing == "refuse":
        await emptied(everything)

    def stop_after(rows):
        def progress(done, _total):
            if done > rows:
                raise ZeroDivisionError

        return progress

    stopped = 0
    for rows in (0, 3, 12, 20):
        with pytest.raises(ZeroDivisionError):
            await imported(first, existing=existing, on_progress=stop_after(rows))
        stopped += 1
    assert stopped == 4
    other = f"{namespace}-other"
    await ingest({"kind": "memory", "text": "x"}, into=other, embed=False)
    foreign = (await exported(other)).replace(other.encode(), everything.encode())
    with pytest.raises(InvalidExport):  # its hash is another one
        await imported(foreign)
    with pytest.raises(Conflict, match="was interrupted"):
        await imported(await exported(other), everything)
    report = await imported(first, existing=existing)
    assert report.resumed
    assert await exported(everything) == first
    rows = await executor.fetch_all("list_imports")
    assert everything not in [row["namespace"] for row in rows]


@pytest.mark.parametrize(
    ("spoil", "existing"),
    [
        (lambda content: content[:-300], "replace"),
        (lambda content: content.replace(b"Green", b"Blue!"), "replace"),
        (lambda _: b'{"kind": "memory", "text": "a row for ingest"}\n', "replace"),
        (lambda content: content.replace(b'"version":1', b'"version":0', 1), "skip"),
    ],
    ids=["truncated", "changed", "foreign", "old format"],
)
async def test_a_bad_file_changes_nothing(everything, exported, imported, spoil, existing):
    """Although it may replace everything."""
    before = await exported(everything)
    with pytest.raises(InvalidExport):
        await imported(spoil(before), existing=existing)
    assert await exported(everything) == before


async def test_what_nobody_has_is_not_exported(librarian, namespace, exported, ingest):
    """A misspelt namespace is an error, not an empty file; several namespaces cannot get one name."""
    with pytest.raises(NotFound):
        await exported(namespace)
    for name in (namespace, f"{namespace}-b"):
        await ingest({"kind": "memory", "text": "x"}, into=name, embed=False)
    both = await exported(namespace, f"{namespace}-b")
    assert examine(io.BytesIO(both)).rows == {namespace: 1, f"{namespace}-b": 1}
    with pytest.raises(InvalidInput, match="2 namespaces"):
        await librarian.import_from(io.BytesIO(both), "one")


async def test_an_export_amid_an_ingest_holds_whole_batches_and_no_loose_ends(
    librarian, executor, ingest, namespace, imported
):
    """Each of many exports beside four writers is exact, holds what was acknowledged before it began, each batch whole
    or not at all with its edges and evidence, and can be imported without a remainder.
    """
    acknowledged: list[int] = []
    size, batches = 10, 24
    waiting = iter(range(batches))

    async def writer():
        for batch in waiting:
            uids = [f"b{batch:03}-{n}" for n in range(size)]
            rows = [{"kind": "message", "uid": uid, "text": f"row {uid}", "conversation_id": "c"} for uid in uids]
            fact = {"kind": "fact", "uid": f"b{batch:03}-fact", "text": "t", "evidence": [uids[0]]}
            edge = {"kind": "edge", "source": uids[0], "target": uids[1], "type": "CAUSES"}
            from_old = {"kind": "edge", "source": "root", "target": uids[0], "type": "ENABLES"}
            assert (await ingest(*rows, fact, edge, from_old, embed=False)).failed == 0
            acknowledged.append(batch)

    async def reader():
        for enough in (2, 8, 14, 20):
            while len(acknowledged) < enough:
                await asyncio.sleep(0.02)
            file, before = io.BytesIO(), list(acknowledged)
            report = await librarian.export_into(file, [namespace])
            files.append((file.getvalue(), before, report.exact))

    files: list[tuple[bytes, list[int], bool]] = []
    await ingest({"kind": "memory", "uid": "root", "text": "was there before"}, embed=False)
    await asyncio.gather(writer(), writer(), writer(), writer(), reader())
    assert len(files) == 4
    for content, before, exact in files:
        assert exact
        held: dict[str, int] = {}
        for row in lines(content, "item")[:-1]:  # without the root
            held[row["uid"][:4]] = held.get(row["uid"][:4], 0) + 1
        assert set(held.values()) == {size + 1}
        assert {f"b{batch:03}" for batch in before} <= held.keys()
        assert len(lines(content, "edge")) == 3 * len(held)
    largest = files[-1][0]
    report = await imported(largest, f"{namespace}-copy")
    assert report.skipped == {}
    chain, _, _ = await executor.driver.execute_query(
        "MATCH (:Message {namespace: $namespace})-[r:NEXT]->() RETURN count(r) AS links",
        {"namespace": f"{namespace}-copy"},
    )
    messages = [row for row in lines(largest, "item") if row["kind"] == "message"]
    assert chain[0]["links"] == len(messages) - 1


@pytest.mark.parametrize(("changes", "exact", "text"), [(1, True, "new 1"), (99, False, "new 2")])
async def test_a_change_amid_an_export_is_noticed(librarian, ingest, namespace, monkeypatch, changes, exact, text):
    """A change of something that was there makes the export begin anew; when that never ends, it says so, and
    the file is whole all the same.
    """
    await ingest(*({"kind": "memory", "uid": f"k{n}", "text": f"text {n}"} for n in range(5)), embed=False)
    made = iter(range(1, changes + 1))

    async def pages_and_a_change(*args, **options):
        async for page in pages(*args, **options):
            yield page
        if (number := next(made, None)) is not None:
            await librarian.patch_item(namespace, "k1", {"text": f"new {number}"})

    monkeypatch.setattr(export_graph, "pages", pages_and_a_change)
    file = io.BytesIO()
    report = await librarian.export_into(file, [namespace])
    assert report.exact is exact
    assert examine(io.BytesIO(file.getvalue())).rows == {namespace: 5}
    assert lines(file.getvalue(), "item")[1]["properties"]["text"] == text


async def test_a_deletion_amid_an_export_leaves_no_loose_ends(librarian, ingest, namespace, imported, monkeypatch):
    """Nodes are read before the edges between them, so that no edge leads to what was gone before it was read."""
    rows = [{"kind": "memory", "uid": f"k{n}", "text": f"text {n}"} for n in range(5)]
    edges = [{"kind": "edge", "source": f"k{n}", "target": f"k{n + 1}", "type": "CAUSES"} for n in range(4)]
    await ingest(*rows, *edges, embed=False)
    gone = iter(["k0", "k2", "k4"])

    async def pages_and_a_deletion(*args, **options):
        async for page in pages(*args, **options):
            yield page
            if page[0] == "item":
                await librarian.delete_item(namespace, next(gone))

    monkeypatch.setattr(export_graph, "pages", pages_and_a_deletion)
    file = io.BytesIO()
    assert not (await librarian.export_into(file, [namespace])).exact
    report = await imported(file.getvalue(), f"{namespace}-copy")
    assert report.skipped == {}
