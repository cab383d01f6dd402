import subprocess
import sys
from datetime import UTC, datetime

import pytest
from neo4j.graph import Graph, Node
from neo4j.time import DateTime

from graph.item import ITEM_CLASSES, ItemClass, JsonObject, item_of, stored_fields, written_properties
from graph.item import Fact as FactValue
from graph.item import Memory as MemoryValue
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

MOMENT = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
REVISED = (MemoryValue, FactValue)
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


@pytest.mark.parametrize("value_class", ITEM_CLASSES.values(), ids=lambda value_class: value_class.__name__)
def test_every_field_of_an_item_is_read_back_as_it_was_written(value_class: ItemClass) -> None:
    """By the value that the rest of the program works with, by the read-only model, and by the item's revision."""
    samples = {
        str: "text",
        JsonObject: '{"a": 1}',
        int: 3,
        float: 0.5,
        datetime: MOMENT,
        bool: True,
        tuple[str, ...]: ("a", "b"),
    }
    given = {name: samples[type_] for name, type_ in stored_fields(value_class).items()}
    stored = {name: list(value) if isinstance(value, tuple) else _stored(value) for name, value in given.items()}
    stored |= {"kind": value_class.kind.value, "starred": True}
    read = item_of(stored)
    assert type(read) is value_class
    assert {name: getattr(read, name) for name in given} == given
    models = {value_class.__name__: inflate_item, **({"Revision": Revision.inflate} if value_class in REVISED else {})}
    for label, inflate in models.items():
        inflated = inflate(node("Item", label, **stored))
        assert {name: getattr(inflated, name) for name in given} == {
            name: {"a": 1} if name == "attributes" else list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
        }


def test_what_ingest_writes_is_what_is_read() -> None:
    """The server sets the identity, the times and the version itself."""
    memory = MemoryValue(namespace="n", uid="u", text="t", tags=("a",), importance=7, occurred_at=MOMENT)
    by_server = {"namespace": "n", "uid": "u", "version": 1, "created_at": _stored(memory.created_at)}
    written = {name: value for name, value in written_properties(memory).items() if value is not None}
    assert item_of(written | by_server | {"occurred_at": _stored(MOMENT)}) == memory


def _stored(value: object) -> object:
    return DateTime.from_native(value) if isinstance(value, datetime) else value


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
