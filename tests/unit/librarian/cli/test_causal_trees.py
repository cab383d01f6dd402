"""How a walk through causes is printed as a tree."""

from datetime import UTC, datetime

from rich.console import Console

from librarian.causal.contracts import CausalOutput, ItemBrief, ReachedItem
from librarian.cli.causal import tree_of
from librarian.items.contracts import EdgeOut

DAY = datetime(2026, 2, 18, tzinfo=UTC)


def brief(uid):
    return {"uid": uid, "kind": "memory", "name": f"Name of {uid}", "type": None, "occurred_at": DAY, "text": ""}


def edge(source, target, confidence):
    return EdgeOut(
        edge_id=f"{source}-{target}",
        source=source,
        target=target,
        type="CAUSES",
        state="accepted",
        method="human",
        confidence=confidence,
        reason=None,
        source_quote=f"words of {source}",
        target_quote=None,
        run_id=None,
        created_at=None,
        reviewed_by=None,
        reviewed_at=None,
        model=None,
        prompt_version=None,
    )


def reached(uid, path, confidence):
    return ReachedItem(**brief(uid), depth=len(path), confidence=confidence, path=path, is_end=False)


def test_a_tree_shows_every_edge_and_says_what_its_numbers_and_quotes_are():
    """An item that comes again refers to where it stands above; numbers are of the edge, or of the way to the item."""
    found = CausalOutput(
        item=ItemBrief(**brief("end")),
        types=["CAUSES"],
        items=[
            reached("left", ["left-end"], 0.9),
            reached("right", ["right-end"], 0.8),
            reached("root", ["left-end", "root-left"], 0.45),
        ],
        edges=[
            edge("left", "end", 0.9),
            edge("right", "end", 0.8),
            edge("root", "left", 0.5),
            edge("root", "right", 0.7),
        ],
        more=False,
    )
    console = Console(width=200)
    with console.capture() as printed:
        console.print(tree_of(found))
    lines = [line.strip(" │├└─") for line in printed.get().splitlines()]
    assert [line for line in lines if "edge" in line] == [
        "◀─ CAUSES edge 0.90  Name of left  left · memory · 2026-02-18",
        "◀─ CAUSES edge 0.50, way 0.45  Name of root  root · memory · 2026-02-18",
        "◀─ CAUSES edge 0.80  Name of right  right · memory · 2026-02-18",
        "◀─ CAUSES edge 0.70  Name of root  (see above)",
    ]
    assert lines.count("Name of root: “words of root”") == 2
