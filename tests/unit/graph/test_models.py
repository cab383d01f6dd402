import subprocess
import sys

import pytest
from neo4j.graph import Graph, Node

from graph.item import ITEM_CLASSES, item_of, stored_fields
from graph.models import (
    ITEM_MODELS,
    MARKERS,
    NODE_MODELS,
    Fact,
    Item,
    Memory,
    Message,
    ReadOnlyModel,
    Revision,
    edge_types,
    inflate_item,
    property_names,
)
from graph.schema import CONSTRAINTS, INDEXES, Rule
from graph.types import EdgeType

RULES = (*CONSTRAINTS, *INDEXES)
EDGE_RULES = [rule for rule in RULES if set(rule.labels) <= edge_types().keys()]
NODE_RULES = [rule for rule in RULES if rule not in EDGE_RULES]
WRITES = ("save", "delete", "refresh", "cypher", "create", "create_or_update", "get_or_create", "bulk_save")
LINK_ACTIONS = (
    "connect",
    "disconnect",
    "disconnect_all",
    "replace",
    "reconnect",
    "all",
    "single",
    "get",
    "relationship",
)


def node(*labels: str, **properties: object) -> Node:
    return Node(Graph(), "4:x:1", 1, labels, properties)


@pytest.mark.parametrize("rule", NODE_RULES, ids=lambda rule: rule.name)
def test_schema_rules_speak_of_declared_labels_and_properties(rule: Rule) -> None:
    for label in rule.labels:
        model = Item if label in MARKERS else NODE_MODELS[label]
        assert property_names(model) >= set(rule.properties)


@pytest.mark.parametrize("rule", EDGE_RULES, ids=lambda rule: rule.name)
def test_schema_rules_speak_of_declared_relationships(rule: Rule) -> None:
    for name in rule.labels:
        model = edge_types()[name]
        assert model is not None
        assert property_names(model) >= set(rule.properties)


def test_every_typed_edge_is_declared() -> None:
    assert set(EdgeType) <= edge_types().keys()


@pytest.mark.parametrize("model", NODE_MODELS.values(), ids=lambda model: model.__name__)
def test_every_model_says_what_it_is_and_what_is_its_key(model: type) -> None:
    assert model.__doc__
    assert any(definition.required for definition in model.defined_properties(aliases=False, rels=False).values())


@pytest.mark.parametrize("value_class", ITEM_CLASSES.values(), ids=lambda value_class: value_class.__name__)
def test_what_an_item_holds_is_declared_once(value_class: type) -> None:
    """The model of a label, and a revision of it, have the fields of the value class, which stands in graph/item.py."""
    own = stored_fields(value_class).keys()
    assert property_names(ITEM_MODELS[value_class.__name__]) == own | {"kind", "search_text", "tokens"}
    if value_class.__name__ in ("Memory", "Fact"):
        assert own <= property_names(Revision)


def test_a_node_becomes_a_value_without_what_others_added() -> None:
    """Times given as text, lists, absent fields; a repr that says nothing of what the item holds."""
    stored = {"kind": "memory", "namespace": "n", "uid": "u", "text": "secret", "tags": ["a"], "starred": True}
    memory = item_of(stored | {"created_at": "2026-05-01T09:00:00+09:00[Asia/Tokyo]", "type": None})
    assert (type(memory).__name__, memory.tags, memory.version) == ("Memory", ("a",), 1)
    assert memory.created_at.isoformat() == "2026-05-01T09:00:00+09:00"
    assert repr(memory) == "<Memory u>"


@pytest.mark.parametrize("label", ITEM_MODELS)
def test_an_item_is_inflated_by_its_label_whatever_analysts_added(label: str) -> None:
    found = inflate_item(node("Item", label, "Starred", "PendingEmbedding", namespace="n", uid="u", starred=True))
    assert type(found) is ITEM_MODELS[label]
    assert (found.namespace, found.uid, found.text) == ("n", "u", None)


def test_a_node_that_is_no_item_is_refused() -> None:
    with pytest.raises(ValueError, match="Person"):
        inflate_item(node("Person", namespace="n"))


@pytest.mark.parametrize("name", WRITES)
async def test_a_model_is_no_way_into_the_graph(name: str) -> None:
    with pytest.raises(ReadOnlyModel):
        await getattr(Memory(uid="u"), name)()


async def test_a_bulk_write_is_refused() -> None:
    with pytest.raises(ReadOnlyModel):
        Message.nodes  # noqa: B018 - looking at it is what is refused


@pytest.mark.parametrize("name", LINK_ACTIONS)
async def test_a_declared_relationship_cannot_be_drawn(name: str) -> None:
    with pytest.raises(ReadOnlyModel):
        await getattr(Fact(uid="u").about, name)()


def test_importing_the_models_is_silent_and_opens_nothing() -> None:
    """The import prints nothing, warns of nothing, and leaves neomodel without a driver."""
    script = "import graph.models; from neomodel import adb; assert adb.driver is None"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
