"""The pack for Neo4j Browser, by the rules of the Browser's own parsers (5.24.0), and by what the graph holds."""

import io
import re
import zipfile

import pytest

from graph.models import MARKERS, NODE_MODELS, edge_types, property_names
from librarian.analyst.browser_pack.pack import PACK_FILES, archive, guide, pack_file, saved_queries

QUERIES = saved_queries()
# About every namespace on purpose, for people who may see all of them.
ACROSS_NAMESPACES = {"namespaces", "live-or-copy"}
WRITING = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|DROP|LOAD|FOREACH|ALTER|GRANT)\b")
KINDS = ("Memory", "Fact", "Message", "FileChunk", "Person", "Conversation", "SweepRun")
# What the Browser strips of a guide before it shows it: attributes of events, scripts.
STRIPPED = re.compile(
    r"""(\s+(on[^\s=]+)[^\s=]*\s*=\s*("[^"]*"|'[^']*'|[\w\-.:]+\s*))|<script\b|href=["'].*javascript:""", re.IGNORECASE
)


def style_rules():
    """The style as the Browser reads it: quotes fall away, a declaration is what has one colon."""
    text = pack_file("analyst.grass", base_url="", namespace="").decode()
    found = {}
    for selector, body in re.findall(r"([\w.]+)\s*\{((?:[^{}\"]|\"[^\"]*\")*)\}", text):
        pairs = [part.split(":") for part in body.replace('"', "").split(";")]
        found[selector] = {pair[0].strip(): pair[1].strip() for pair in pairs if len(pair) == 2}
        assert [pair for pair in pairs if len(pair) > 2] == []
    assert re.sub(r"[\w.]+\s*\{(?:[^{}\"]|\"[^\"]*\")*\}", "", text).strip() == "", "the Browser knows no comments"
    return found


STYLE = style_rules()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_a_saved_query_says_what_it_is_and_names_its_parameters(query):
    """The Browser lists a query by its first comment; an analyst sees in the others what to set."""
    head = [line for line in query.text.splitlines() if line.startswith("//")]
    assert query.text.startswith("\n".join(head)), "comments stand on top"
    assert head[0].startswith("// ")
    assert query.summary.endswith(".")
    assert all(line.startswith("// :param ") for line in head[2:])
    assert set(query.parameters) == set(re.findall(r"\$(\w+)", query.cypher))
    assert WRITING.search(query.cypher) is None
    assert ";" not in query.text
    assert ("namespace" in query.parameters) == (query.name not in ACROSS_NAMESPACES)


def test_titles_and_names_tell_queries_apart():
    """In the Browser's list as well as in the guide."""
    assert len({query.title for query in QUERIES}) == len({query.name for query in QUERIES}) == len(QUERIES)


@pytest.mark.parametrize("label", sorted(NODE_MODELS))
def test_every_label_has_a_colour_and_a_caption_of_its_own_properties(label):
    """Without a rule the Browser would choose; a caption of a property that is not there is empty."""
    rule = STYLE[f"node.{label}"]
    assert rule.keys() >= {"color", "border-color", "text-color-internal", "caption"}
    assert set(re.findall(r"\{(\w+)\}", rule["caption"])) <= property_names(NODE_MODELS[label])


@pytest.mark.parametrize("marker", sorted(MARKERS))
def test_a_marker_does_not_hide_what_an_item_is(marker):
    """Of two rules the later one counts; for a label without any the Browser would add one at the end."""
    order = [rule.removeprefix("node.") for rule in STYLE]
    assert max(order.index("Item"), order.index(marker)) < min(map(order.index, KINDS))


@pytest.mark.parametrize("edge_type", sorted(edge_types()))
def test_every_relationship_has_a_colour_and_a_caption(edge_type):
    """Its type, or what its properties say."""
    rule, model = STYLE[f"relationship.{edge_type}"], edge_types()[edge_type]
    assert rule.keys() >= {"color", "shaft-width", "caption"}
    named = set(re.findall(r"\{(\w+)\}", rule["caption"]))
    assert (named <= property_names(model)) if named else rule["caption"] == "<type>"


def test_a_proposal_is_told_from_a_cause():
    """By its colour, its width, and its state."""
    cause, proposal = STYLE["relationship.CAUSES"], STYLE["relationship.PROPOSED"]
    assert proposal["caption"] == "{state} {type}"
    assert (cause["color"], cause["shaft-width"]) != (proposal["color"], proposal["shaft-width"])


def test_labels_look_different():
    """Kinds of items can be told apart by colour alone."""
    assert len({STYLE[f"node.{label}"]["color"] for label in KINDS}) == len(KINDS)


def test_the_guide_shows_queries_whole_and_names_its_service():
    """Each as text in a block that runs at a click; nothing is left to fill in, and the Browser strips nothing."""
    shown = guide("http://127.0.0.1:8765", "team:a")
    assert "{{" not in shown
    assert ":style http://127.0.0.1:8765/browser-pack/analyst.grass" in shown
    assert "team:a" in shown
    assert STRIPPED.search(shown) is None
    titles = [query.title for query in QUERIES if f"<h5>{query.title}</h5>" in shown]
    assert len(titles) >= 25
    assert "(root:Item)-[:CAUSES*1..8]-&gt;(:Item {namespace: $namespace, uid: $uid})" in shown


def test_the_guide_is_safe_from_what_a_caller_names():
    """Host and namespace come from the request."""
    shown = guide('http://x"><img src=x>', "<b>")
    assert "<img" not in shown
    assert "<b>'" not in shown


def test_the_archive_holds_every_query_in_its_folder_and_is_always_the_same():
    """The Browser makes a folder of the path, and a favourite of each file."""
    with zipfile.ZipFile(io.BytesIO(archive())) as opened:
        texts = {name: opened.read(name).decode() for name in opened.namelist()}
    assert len(texts) == len(QUERIES)
    assert texts["Librarian 4 causes/root-causes.cypher"].startswith("// Root causes of an item\n")
    archive.cache_clear()
    again = archive()
    with zipfile.ZipFile(io.BytesIO(again)) as opened:
        assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert again == pack_file(PACK_FILES[2], base_url="", namespace="")
