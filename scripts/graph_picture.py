"""A picture of the data model, from the program's models and rules."""

from collections import defaultdict
from typing import Any

from graph.models import ITEM_MODELS, NODE_MODELS
from graph.schema import CONSTRAINTS
from scripts.pictures import Arrow, Box, Picture

_WIDTH, _HEIGHT = 190, 62
_COLUMN, _ROW = 320, 138
_LEFT, _TOP = 24, 70
# Column and row of each label; a label without a position is an error, so that the picture is complete.
_PLACES = {
    "Conversation": (0, 0),
    "Message": (1, 0),
    "EmbeddingSpace": (3, 0),
    "Person": (0, 1),
    "Fact": (1, 1),
    "Item": (2, 1),
    "Embedding": (3, 1),
    "SweepRun": (0, 2),
    "Memory": (1, 2),
    "Revision": (3, 2),
    "File": (0, 3),
    "FileChunk": (1, 3),
    "Citation": (2, 3),
    "Migration": (3, 3),
    "Symbol": (0, 4),
    "AnalystCopy": (1, 4),
    "IdempotencyRecord": (2, 4),
    "Lock": (3, 4),
    "Tombstone": (0, 5),
    "TombstoneMark": (1, 5),
    "TombstoneSalts": (2, 5),
    "ChangeLog": (3, 5),
    "ChangeSet": (0, 6),
    "Webhook": (1, 6),
}


def data_model() -> Picture:
    """Draw every label with its key, and every relationship; items are blue. Raises KeyError for a label without a
    position.
    """
    keys = {rule.labels[0]: rule.properties for rule in CONSTRAINTS}
    boxes = {label: _box(label, keys.get(label, ())) for label in NODE_MODELS}
    return Picture(
        "The data model",
        "Labels with the properties that identify a node, and the relationships between them. "
        "Message, Fact, Memory and FileChunk nodes are Item nodes too.",
        boxes,
        _arrows(),
    )


def _box(label: str, key: tuple[str, ...]) -> Box:
    column, row = _PLACES[label]
    item = label == "Item" or label in ITEM_MODELS
    lines = ["also an Item"] if label in ITEM_MODELS else [", ".join(key)] if key else []
    fill = "item" if item else "plain"
    return Box(_LEFT + column * _COLUMN, _TOP + row * _ROW, _WIDTH, _HEIGHT, label, lines, fill)


def _arrows() -> list[Arrow]:
    """Return one arrow per pair of labels, with the types of the relationships declared by its model."""
    types: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for label, model in NODE_MODELS.items():
        inherited = set(_links(NODE_MODELS["Item"])) if label in ITEM_MODELS else set()
        for name, definition in _links(model).items():
            if name not in inherited:
                types[label, definition["target"]].append(definition["type"])
    return [Arrow(source, target, labels) for (source, target), labels in types.items()]


def _links(model: Any) -> dict[str, dict[str, str]]:
    """Return the relationships of a model by name, inherited ones included, each with type and target."""
    properties = model.defined_properties(aliases=False, properties=False)
    return {
        name: {"type": relation.definition["relation_type"], "target": _target(relation)}
        for name, relation in properties.items()
    }


def _target(relationship: Any) -> str:
    """Return the declared label at the other end; neomodel's own look-up finds any class of that name."""
    return str(relationship._raw_class)  # noqa: SLF001 - not public anywhere
