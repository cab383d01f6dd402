"""A sweep connects memories with the files that they name."""

from librarian.items.contracts import EdgeQuery
from librarian.sweep.contracts import SweepRequest

CODE = "import os\n" * 300 + "\n\nclass LockTimeout(Exception):\n    seconds = 30\n"
MEMORIES = [
    {"uid": "by-path", "text": "Decision: we keep api/lock.py as it is. Nobody dares to touch it."},
    {"uid": "by-name", "text": "Problem: LockTimeout is raised too early on slow disks."},
    {"uid": "by-both", "text": "Insight: LockTimeout in lock.py:304 counts seconds, not minutes."},
    {"uid": "unclear", "text": "Reference: twin.py is there twice."},
    {"uid": "neither", "text": "Insight: lunch is better on Fridays."},
]


async def test_files_that_memories_name_are_proposed(librarian, namespace, ingest, tree):
    """By a path or a definition that only one file has, with quotes from both; never accepted without a human."""
    root = tree({"api/lock.py": CODE, "a/twin.py": "x = 1\n", "b/twin.py": "x = 2\n"})
    await librarian.index_files(namespace, root)
    await ingest(*({"kind": "memory", **row} for row in MEMORIES), embed=False)
    await librarian.sweep(namespace, SweepRequest())
    edges = (await librarian.list_edges(namespace, EdgeQuery(states=["proposed"]))).edges
    quotes = {}
    for edge in edges:
        assert edge.type == "RELATES_TO"
        memory, own, other = edge.target, edge.target_quote, edge.source_quote
        if edge.source in {row["uid"] for row in MEMORIES}:
            memory, own, other = edge.source, edge.source_quote, edge.target_quote
        quotes.setdefault(memory, []).append((own, other))
    assert quotes == {
        "by-path": [("Decision: we keep api/lock.py as it is.", "import os")],
        "by-name": [("Problem: LockTimeout is raised too early on slow disks.", "class LockTimeout(Exception):")],
        "by-both": [("Insight: LockTimeout in lock.py:304 counts seconds, not minutes.", "    seconds = 30")],
    }
    again = await librarian.sweep(namespace, SweepRequest())
    assert [change for change in again.changes if change.edge_state == "proposed"] == []
