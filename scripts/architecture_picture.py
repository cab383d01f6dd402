"""The architecture and the search agent's steps as pictures."""

import re

from agents.search_agent import drawing
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
    """Who calls what, from the users down to the database."""
    boxes = {
        "agent": _box(0, 0, "memory_agent", "tool calls"),
        "professor": _box(1, 0, "the Professor", "asks for evidence"),
        "operator": _box(2, 0, "operator", "shell, probes, metrics"),
        "program": _box(3, 0, "Python program", "in its own process"),
        "analyst": _box(5, 0, "analyst", "Neo4j Browser"),
        "mcp": _box(0, 1, "MCP", "stdio, streamable HTTP", fill="ours"),
        "http": _box(1, 1, "HTTP", "JSON, events, web page", fill="ours"),
        "cli": _box(2, 1, "command line", "one module a command", fill="ours"),
        "facade": _box(0, 2, "librarian", "one facade, use cases, contracts, settings", columns=4, fill="ours"),
        "keys": _box(4, 2, "key file", "hashes, not in the graph", fill="store"),
        "agents": _box(0, 3, "agents", "search agent, sweeps", fill="ours"),
        "migrations": _box(1, 3, "migrations", "plan, lock, apply", fill="ours"),
        "retrieval": _box(2, 3, "retrieval", "arms, fusion, encoders", fill="ours"),
        "models": _box(3, 3, "model servers", "reranker, embeddings", fill="optional"),
        "llm": _box(0, 4, "language model", "answers, judgements", fill="optional"),
        "graph": _box(1, 4, "graph", "domain verbs, executor: all that speaks Bolt", columns=2, fill="ours"),
        "cypher": _box(3, 4, "cypher", "statements as text", fill="ours"),
        "neo4j": _box(1, 5, "Neo4j", "managed by Librarian, or one of yours", columns=5, fill="store"),
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
        "Users at the top call the faces of the package librarian; below it retrieval, agents and migrations, then "
        "graph and cypher, and Neo4j at the bottom. Dashed boxes are optional.",
        boxes,
        arrows,
    )


def search_agent() -> Picture:
    """The steps of the search agent and the ways between them, as LangGraph compiles them."""
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
