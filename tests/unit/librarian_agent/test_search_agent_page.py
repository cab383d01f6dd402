"""docs/search-agent.md tells the truth: the graph is drawn from the agent itself, and every setting stands there.

RENEW=1 .venv/bin/pytest tests/unit/librarian_agent/test_search_agent_page.py draws the graph anew.
"""

import os
from pathlib import Path

from agents.search_agent import drawing
from librarian.settings import Settings

PAGE = Path(__file__).resolve().parents[3] / "docs" / "search-agent.md"
BEGIN = "<!-- drawn from the agent's graph: begin -->\n"
END = "<!-- drawn from the agent's graph: end -->\n"


def drawn(page):
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}```mermaid\n{drawing().strip()}\n```\n{END}{tail}"


def test_the_drawn_graph_is_the_agent_s():
    """Its nodes and edges as LangGraph compiles them."""
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("RENEW"):
        PAGE.write_text(drawn(page), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == drawn(page), "renew it; this module's docstring says how"


def test_every_setting_of_the_agent_stands_on_the_page():
    """With its default."""
    page = PAGE.read_text(encoding="utf-8")
    ours = [
        entry for entry in Settings.from_env({}).entries if entry.name.startswith(("PROFESSOR_", "LIBRARIAN_AGENT_"))
    ]
    assert len(ours) >= 8
    for entry in ours:
        shown = f"`{entry.value}`" if entry.value.isalpha() else entry.value or "none"
        assert f"| `{entry.name}` | {shown} |" in page, entry.name
