"""Nothing of what was forgotten is left in the graph: neither in nodes, edges, indexes nor kept answers."""

from graph.idempotency import Claim, answer_key, claim_key
from librarian.items.contracts import DeleteInput, LinkInput
from librarian.sweep.contracts import SweepRequest

PLANTED = "zanzibar4711"
ROWS = [
    {"kind": "message", "uid": "m", "message_id": "m", "conversation_id": "c", "author": "Ada",
     "text": f"The code of the safe is {PLANTED}, I think.", "caption": f"a note that says {PLANTED}"},
    {"kind": "fact", "uid": "f", "subject": "the safe", "predicate": "opens with", "object": PLANTED,
     "evidence": ["m", "file:safe.py#L1-L2"], "attributes": {"code": PLANTED}},
    {"kind": "memory", "uid": "k", "text": f"Problem: the safe failed to open, error: {PLANTED} was refused."},
    {"kind": "memory", "uid": "twin", "text": f"Problem: the safe failed to open, error: {PLANTED} was refused!"},
    {"kind": "memory", "uid": "neighbour", "text": "Decision: the safe gets a new lock because it failed to open."},
]  # fmt: skip
CODE = f"def {PLANTED}():\n    return '{PLANTED}'\n".encode()
# Every property of every node and edge, lists included.
SCAN = (
    "CALL () { MATCH (n) RETURN labels(n) AS what, properties(n) AS held "
    "UNION ALL MATCH ()-[r]->() RETURN [type(r)] AS what, properties(r) AS held } "
    "WITH what, held UNWIND keys(held) AS name "
    "WITH what, name, held[name] AS value "
    "WITH what, name, CASE WHEN value IS :: LIST<STRING> THEN value ELSE [toStringOrNull(value)] END AS texts "
    "WHERE any(each IN texts WHERE toLower(each) CONTAINS $planted) RETURN what, name"
)


async def test_nothing_is_left_in_the_graph(librarian, executor, ingest, namespace):
    """After changes, quotations, citations, vectors, a sweep and a kept answer; the neighbour is as it was."""
    await librarian.put_file(namespace, "safe.py", CODE)
    assert (await ingest(*ROWS)).failed == 0
    await librarian.patch_item(namespace, "k", {"text": f"{ROWS[2]['text']} It was {PLANTED} again."})
    quoted = LinkInput(source="k", target="neighbour", type="CAUSES", source_quote=PLANTED, reason=PLANTED)
    await librarian.link(namespace, quoted)
    await librarian.sweep(namespace, SweepRequest())
    claim = Claim(namespace, "key", "owner", "hash")
    await claim_key(executor, claim, 60)
    await answer_key(executor, claim, f'{{"uid": "k", "text": "{PLANTED}"}}', 60)
    neighbour = await librarian.get_item(namespace, "neighbour")
    chunks = [
        row["uid"] for row in await executor.fetch_all("list_chunks", {"namespace": namespace, "paths": ["safe.py"]})
    ]
    asked = DeleteInput(uids=["m", "f", "k", "twin", *chunks])
    preview = await librarian.delete_items(namespace, asked)
    asked.confirm_token = preview.confirm_token
    assert (await librarian.delete_items(namespace, asked)).counts.items == 4 + len(chunks)
    found, _, _ = await executor.driver.execute_query(SCAN, {"planted": PLANTED})
    assert [record.values() for record in found] == []
    for index in ("item_text", "chunk_text", "file_outline"):
        hits, _, _ = await executor.driver.execute_query(
            "CALL db.index.fulltext.queryNodes($index, $planted) YIELD node RETURN node",
            {"index": index, "planted": PLANTED},
        )
        assert hits == []
    assert (await librarian.get_item(namespace, "neighbour")).text == neighbour.text
