"""Pictures of the architecture, the paths of a search and of a swept memory, and the search agent's steps."""

import re
from collections.abc import Sequence
from itertools import pairwise

from librarian_agents.search.loop import drawing
from scripts.pictures import Arrow, Box, Picture

_STEP = re.compile(r"^\t(\w+) (-->|-\.->) (\w+);$", re.MULTILINE)
_STEPS = {
    "__start__": (24, 60, "request"),
    "plan": (184, 60, "plan"),
    "search": (344, 60, "search"),
    "evaluate": (504, 60, "evaluate"),
    "select": (664, 60, "select"),
    "__end__": (824, 60, "evidence"),
    "refine": (504, 170, "refine"),
}


def _box(column: float, row: float, title: str, *lines: str, columns: float = 1, fill: str = "plain") -> Box:
    return Box(24 + column * 196, 24 + row * 104, columns * 196 - 24, 64, title, lines, fill)


def architecture() -> Picture:
    """Draw the callers and callees from the users down to the database."""
    boxes = {
        "agent": _box(0, 0, "memory_agent", "tool calls"),
        "professor": _box(1, 0, "the Professor", "asks for evidence"),
        "operator": _box(2, 0, "operator", "shell, probes, metrics"),
        "program": _box(3, 0, "Python program", "in its own process"),
        "analyst": _box(5, 0, "analyst", "Neo4j Browser"),
        "mcp": _box(0, 1, "MCP", "stdio, streamable HTTP", fill="ours"),
        "http": _box(1, 1, "HTTP", "JSON, events, web page", fill="ours"),
        "cli": _box(2, 1, "command line", "one module a feature", fill="ours"),
        "facade": _box(0, 2, "librarian", "one facade of rooms, one table of operations", columns=4, fill="ours"),
        "keys": _box(4, 2, "key file", "hashes, not in the graph", fill="store"),
        "agents": _box(0, 3, "librarian_agents", "search agent, sweeps", fill="ours"),
        "migrations": _box(1, 3, "migrations", "plan, lock, apply", fill="ours"),
        "retrieval": _box(2, 3, "retrieval", "arms, fusion, encoders", fill="ours"),
        "models": _box(3, 3, "model servers", "reranker, embeddings", fill="optional"),
        "llm": _box(0, 4, "language model", "answers, judgements", fill="optional"),
        "graph": _box(1, 4, "graph", "domain verbs, executor: all that speaks Bolt", columns=2, fill="ours"),
        "cypher": _box(3, 4, "cypher", "statements as text", fill="ours"),
        "neo4j": _box(1, 5, "Neo4j", "managed by Librarian, or your own", columns=5, fill="store"),
    }
    calls = (
        *(("agent", "mcp"), ("professor", "http"), ("operator", "cli"), ("program", "facade"), ("analyst", "neo4j")),
        *(("mcp", "facade"), ("http", "facade"), ("cli", "facade"), ("facade", "agents"), ("facade", "retrieval")),
        *(("facade", "migrations"), ("facade", "keys"), ("retrieval", "graph"), ("migrations", "graph")),
        *(("graph", "cypher"), ("graph", "neo4j")),
    )
    arrows = [Arrow(source, target) for source, target in calls]
    arrows += [Arrow("retrieval", "models", dashed=True), Arrow("agents", "llm", dashed=True)]
    return Picture(
        "Architecture",
        "Users at the top call the faces of the package librarian; below it retrieval, librarian_agents and "
        "migrations, then graph and cypher, and Neo4j at the bottom. Dashed boxes are optional.",
        boxes,
        arrows,
    )


# The files that a search passes, in order, verified by a test: each awaits the next, and the answer returns through the
# same ones. Beside them the calls on the way back: the row, then the file and its task.
_SEARCH_DOWN = (
    ("librarian/http/server.py", "socket, TLS, draining at the end"),
    ("librarian/http/middleware.py", "request id, log line, problems, body limit"),
    ("librarian/http/bookmarks.py", "reads what the caller has written"),
    ("librarian/base/problems.py", "any error as a value"),
    ("librarian/http/deadline.py", "ends a request whose time is up"),
    ("librarian/http/endpoints.py", "key, rate, scope, slot; decodes SearchInput"),
    ("librarian/http/calls.py", "calls the room's method; renders its output"),
    ("librarian/search/room.py", "the room, with its pipeline and its defaults"),
    ("librarian/search/search.py", "SearchInput becomes a SearchPlan"),
    ("retrieval/pipeline.py", "languages, vectors, a deeper look when too few fit"),
    ("retrieval/arms.py", "both arms in one statement for each query"),
    ("graph/search.py", "filters become parameters, rows become values"),
    ("graph/executor.py", "one managed read transaction within the deadline"),
    ("cypher/search.cypher", "vector index and full text, bound to $namespace"),
)
_SEARCH_UP = (
    (11, "retrieval/pool.py", "candidates with properties and missing cosines"),
    (10, "retrieval/linear.py", "signals and both arms fused into one score"),
    (9, "retrieval/dedupe.py", "items that say the same are dropped"),
    (8, "librarian/search/results.py", "hits with evidence, dates and explanation"),
)
# The files that a memory passes in a sweep, and the value that each passes on.
_SWEEP = (
    ("librarian/sweep/room.py", "takes a SweepRequest from HTTP, CLI, tool or Python"),
    ("librarian/sweep/run.py", "holds the lease, reports progress, resumes"),
    ("librarian/sweep/plan.py", "reads the memories page by page"),
    ("graph/sweep.py", "1. SweptMemory: the stored memory and its version"),
    ("librarian_agents/sweep/classify.py", "2. Verdict: type, confidence, reason"),
    ("librarian_agents/sweep/template.py", "the same sentences in sections, nothing lost"),
)
_SWEEP_BACK = (
    (5, "librarian/sweep/texts.py", "3. Retype | Template | Flag"),
    (4, "librarian/sweep/edges.py", "3. Edge | Merge, with librarian_agents/sweep/causal.py"),
    (3, "librarian/sweep/apply.py", "chunks of 100 memories"),
    (2, "graph/sweep_writes.py", "4. RecordedChange, with revisions and edges"),
    (1, "librarian/sweep/changes.py", "5. SweepChange: the line of the report"),
    (0, "librarian/sweep/undo.py", "from the recorded changes back, byte for byte"),
)


def search_path() -> Picture:
    """Draw a search from the socket to Cypher and back, file by file."""
    return _there_and_back(
        "The way of a search",
        "Left, from top to bottom: the files that a request passes down to the statement. Right, from bottom to top: "
        "what becomes of its rows.",
        _SEARCH_DOWN,
        _SEARCH_UP,
        turn=13,
    )


def sweep_path() -> Picture:
    """Draw a swept memory from the request to the report, file by file, with the values that represent it."""
    return _there_and_back(
        "The way of a swept memory",
        "Left, from top to bottom: how a memory is read and judged. Right, from bottom to top: how the changes are "
        "planned, applied, reported and undone. Numbers name the five values that stand for it.",
        _SWEEP,
        _SWEEP_BACK,
        turn=5,
    )


def _there_and_back(
    title: str,
    description: str,
    down: Sequence[tuple[str, str]],
    up: Sequence[tuple[int, str, str]],
    *,
    turn: int,
) -> Picture:
    """Draw two columns of files; after the row `turn` the path continues in the right column."""
    boxes = {file: _step(0, row, file, does) for row, (file, does) in enumerate(down)}
    boxes |= {file: _step(1, row, file, does) for row, file, does in up}
    files = [file for file, _ in down]
    back = [files[turn], *(file for _, file, _ in up)]
    arrows = [Arrow(*ends) for ends in (*pairwise(files), *pairwise(back))]
    return Picture(title, description, boxes, arrows)


def _step(column: int, row: int, file: str, does: str) -> Box:
    fill = {"graph": "store", "cypher": "store", "retrieval": "item", "librarian_agents": "item"}.get(
        file.partition("/")[0], "ours"
    )
    return Box(24 + column * 424, 24 + row * 76, 384, 48, file, [does], fill)


def search_agent() -> Picture:
    """Return the steps of the search agent and the transitions between them, as compiled by LangGraph."""
    boxes = {name: Box(x, y, 120, 48, title, fill=_fill(name)) for name, (x, y, title) in _STEPS.items()}
    ways = _STEP.findall(drawing())
    arrows = [Arrow(source, target, dashed=kind != "-->") for source, kind, target in ways]
    return Picture(
        "The steps of the search agent",
        "; ".join(f"{_STEPS[source][2]} leads to {_STEPS[target][2]}" for source, _, target in ways),
        boxes,
        arrows,
    )


def _fill(step: str) -> str:
    return "plain" if step.startswith("__") else "ours"
