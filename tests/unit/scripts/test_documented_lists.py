"""Lists that pages give whole are whole."""

import re
from pathlib import Path

from graph.models import MARKERS, NODE_MODELS, edge_types
from graph.schema import INDEXES

PROJECT = Path(__file__).resolve().parents[3]
# A file or folder of ours on a page: `librarian/items/contracts.py`; a pattern such as `*-surface.txt` is none.
PATH = re.compile(
    r"(?<![\w/.{-])((?:benchmarks|cypher|deploy|examples|graph|librarian|librarian_agents|migrations|retrieval|scripts|tests|training)/[\w./-]*\w)(?![\w*{-]|\.\w)"
)
HEADINGS = re.compile(r"^(#+) (.+)\n+(#+) .+$", re.MULTILINE)
ACTION = re.compile(r'(?:\baudit|\b_changed)\(\s*"([a-z.]+)"')


def page(name):
    return (PROJECT / "docs" / name).read_text(encoding="utf-8")


def test_every_action_of_the_audit_log_is_told():
    """Whoever filters the log needs all of them."""
    sources = (path.read_text(encoding="utf-8") for path in (PROJECT / "librarian").rglob("*.py"))
    actions = {action for source in sources for action in ACTION.findall(source)}
    assert {"ingest", "item.put", "sweep"} <= actions
    assert {action for action in actions if f"`{action}`" not in page("operations.md")} == set()


def test_every_heading_has_something_below_it():
    """A heading directly before another one of its level, or a higher one, is a leftover."""
    pages = [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")]
    assert len(pages) > 50
    found = ((path, HEADINGS.finditer(path.read_text(encoding="utf-8"))) for path in pages)
    empty = [(path.name, two[2]) for path, pairs in found for two in pairs if len(two[1]) >= len(two[3])]
    assert empty == []


def test_every_decision_is_in_the_index():
    """With the title that it has now."""
    index = page("decisions/README.md")
    decisions = sorted((PROJECT / "docs" / "decisions").glob("[0-9]*.md"))
    titles = {path.name: path.read_text(encoding="utf-8").partition("\n")[0].partition(". ")[2] for path in decisions}
    assert len(titles) > 10
    assert [name for name, title in titles.items() if f"[{title}]({name})" not in index] == []


def test_the_data_model_tells_every_label_relationship_and_index():
    """Somebody writes Cypher by that page."""
    reported = page("data-model.md").replace("\\|", "|")
    links = {edge_type for edge_type in edge_types() if not re.search(rf"[:|]{edge_type}\b", reported)}
    labels = {
        label for label in (*NODE_MODELS, *MARKERS) if f"`{label}`" not in reported and f"({label})" not in reported
    }
    assert (links, labels, {rule.name for rule in INDEXES if f"`{rule.name}`" not in reported}) == (set(), set(), set())


def test_no_page_has_a_hole():
    """Marks that a writer has left to be filled in."""
    pages = [*(PROJECT / "docs").rglob("*.md"), PROJECT / "README.md"]
    holes = {str(path) for path in pages if re.search(r"@@|TODO|FIXME|\bTBD\b", path.read_text(encoding="utf-8"))}
    assert holes == set()


def test_every_page_is_in_the_table_of_contents():
    """A page that nobody links to is a page that nobody reads."""
    contents = page("README.md")
    pages = {path.name for path in (PROJECT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"({name})" not in contents} == set()


def test_every_path_on_a_page_leads_somewhere():
    """A reader looks for the file that a page names."""
    pages = [*(PROJECT / "docs").glob("*.md"), PROJECT / "README.md", PROJECT / "CONTRIBUTING.md"]
    named = {(path.name, name) for path in pages for name in PATH.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 30
    assert {(page, name) for page, name in named if "NNNN" not in name and not (PROJECT / name).exists()} == set()
