"""The graph as declared: every label, property and relationship, as neomodel classes.

They describe what exists and turn nodes that statements return into typed objects; tests compare them with the server.
The fields of items come from the classes of `graph.item`, where each is declared once. They are not a second way into
the graph: reading and writing through them raises ReadOnlyModel, because only the statements of `cypher/` keep
namespaces apart and search properties complete. Import this module where start-up time does not matter: neomodel takes
a third of a second.

An absent property is None. Times are native and carry their zone.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from neo4j.graph import Node
from neomodel import (
    ArrayProperty,
    AsyncRelationshipManager,
    AsyncRelationshipTo,
    AsyncStructuredNode,
    AsyncStructuredRel,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    JSONProperty,
    StringProperty,
)
from neomodel import DateTimeNeo4jFormatProperty as TimeProperty
from neomodel.async_.node import NodeMeta

from graph import item
from graph.item import stored_fields

MARKERS: Mapping[str, str] = MappingProxyType(
    {
        "PendingEmbedding": "an Item that lacks a vector in the active embedding space; a worker clears it",
        "PendingFacts": "a Message that came in and was not read for facts yet; a worker reads it",
        "EmbeddingRefused": "an Item whose text the encoder of the active space does not take",
        "CjkText": "an Item whose search_text holds Chinese, Japanese or Korean letters; the cjk full-text index",
        "UnresolvedReferences": "a Fact or Memory that names evidence or older facts which are not all there yet",
        "Unsettled": "an Item that has changed in the transaction under way, which judges what rests on it at its end",
        "Unlinked": "a Conversation whose NEXT order must be rebuilt",
    }
)
"""Additional labels of nodes and their meanings. An embedding space adds `Embedding_<space>`."""


_KEY = ("namespace", "uid")
_PROPERTIES: Mapping[Any, Any] = MappingProxyType(
    {
        str: StringProperty,
        int: IntegerProperty,
        float: FloatProperty,
        bool: BooleanProperty,
        datetime: TimeProperty,
        item.JsonObject: JSONProperty,
    }
)


class ReadOnlyModel(TypeError):
    """Models declare the graph and inflate nodes; read and write through the named statements of `cypher/`."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


async def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    """Stand in for every neomodel method that would talk to the server."""
    raise ReadOnlyModel


class DeclaredEdge(AsyncStructuredRel):
    """Properties of a relationship, declared only."""

    save = start_node = end_node = _refuse


class TypedEdge(DeclaredEdge):
    """An accepted edge between two items of one namespace: CAUSES, BLOCKS, ENABLES or RELATES_TO.

    At most one of a type from source to target, none to itself; RELATES_TO runs from the lower to the higher uid.
    """

    edge_id = StringProperty(required=True)
    confidence = FloatProperty()  # 0..1
    method = StringProperty()  # rule, llm or human
    source_quote = StringProperty()
    target_quote = StringProperty()
    reason = StringProperty()
    run_id = StringProperty()
    model = StringProperty()
    prompt_version = StringProperty()
    reviewed_by = StringProperty()
    reviewed_at = TimeProperty()
    review_reason = StringProperty()  # given by the reviewer
    created_at = TimeProperty()


class ProposedEdge(TypedEdge):
    """A typed edge that nobody has accepted: PROPOSED, so that a picture of the graph never shows it as a cause. Also a
    proposal that a fact supersedes another, with the decision on it.
    """

    type = StringProperty()  # the type it would have
    state = StringProperty()  # proposed or rejected; of a supersession also accepted


class Refusal(DeclaredEdge):
    """From an item to the space whose encoder does not accept its text."""

    version = IntegerProperty()  # of the item; a later one is tried again
    language = StringProperty()  # of its text, where the encoder does not read that language


class Supersession(DeclaredEdge):
    """From a newer fact to an older one, which it may have closed."""

    created_at = TimeProperty()  # absent on links older than this property
    former_valid_to = TimeProperty()  # the older fact's own end, restored when the newer one goes


class Support(DeclaredEdge):
    """From an item to what supports it; for a part of a file, the properties name the lines as a Citation does."""

    version = IntegerProperty()  # of the source when it was cited
    ref = StringProperty()
    start_line = IntegerProperty()
    end_line = IntegerProperty()
    sha256 = StringProperty()


class SweptChange(DeclaredEdge):
    """From a run of the sweep to a memory: one change that it made or proposes."""

    namespace = StringProperty(required=True)
    sweep_id = StringProperty(required=True)
    seq = IntegerProperty(required=True)  # index in the run's list of changes
    action = StringProperty()  # retype, template, causal_edge, flag or merge
    state = StringProperty()  # applied, proposed, accepted, rejected, undone or kept
    version = IntegerProperty()  # of the memory after the change
    confidence = FloatProperty()  # 0..1
    method = StringProperty()
    model = StringProperty()
    reason = StringProperty()
    old_type = StringProperty()
    new_type = StringProperty()
    # `source` and `target`, uids of an edge's ends, are stored too: neomodel keeps these names for itself.
    edge_id = StringProperty()
    relation = StringProperty()
    edge_state = StringProperty()
    reviewed_by = StringProperty()
    reviewed_at = TimeProperty()
    review_reason = StringProperty()
    given_type = StringProperty()  # by the human who has accepted a flag
    merged = StringProperty()  # uid of a memory that an accepted merge has made part of this one


class _NoQueries:
    """Replaces neomodel's `nodes`, which builds queries and bulk writes."""

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise ReadOnlyModel


class _DeclaredLinks(AsyncRelationshipManager):
    """A relationship that is declared only."""

    connect = reconnect = replace = disconnect = disconnect_all = _refuse
    all = single = get = get_or_none = is_connected = relationship = all_relationships = _refuse


class _FromValues(NodeMeta):
    """Declares the stored fields of the value classes named by `declares`; those of items are in `graph.item`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        for value_class in namespace.get("declares", ()):
            for field, type_ in stored_fields(value_class).items():
                namespace.setdefault(field, _property(field, type_))
        return super().__new__(mcs, name, bases, namespace)


def _property(name: str, type_: Any) -> Any:
    if type_ == tuple[str, ...]:
        return ArrayProperty(StringProperty())
    return _PROPERTIES[type_](required=name in _KEY)


class _DeclaredNode(AsyncStructuredNode, metaclass=_FromValues):
    """Properties of a node, declared only."""

    __abstract_node__ = True

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return properties that a value class declares; absent ones are None."""

    nodes = _NoQueries()
    save = delete = refresh = cypher = labels = _refuse
    create = create_or_update = get_or_create = classmethod(_refuse)
    bulk_save: Any = classmethod(_refuse)


def _links(edge_type: str, target: str, model: type[DeclaredEdge] | None = None) -> Any:
    return AsyncRelationshipTo(target, edge_type, cardinality=_DeclaredLinks, model=model)


class Item(_DeclaredNode):
    """Anything that is searched; each carries one more label: Memory, Fact, Message or FileChunk."""

    declares = (item.ItemFields,)

    kind = StringProperty()  # memory, fact, message or file_chunk
    search_text = StringProperty()  # text with identifiers split into words
    tokens = StringProperty()  # hashed filter words (graph.tokens)

    embeddings = _links("HAS_EMBEDDING", "Embedding")
    causes = _links("CAUSES", "Item", TypedEdge)
    blocks = _links("BLOCKS", "Item", TypedEdge)
    enables = _links("ENABLES", "Item", TypedEdge)
    relates_to = _links("RELATES_TO", "Item", TypedEdge)
    proposed = _links("PROPOSED", "Item", ProposedEdge)
    revisions = _links("HAS_REVISION", "Revision")
    refusals = _links("REFUSED_BY", "EmbeddingSpace", Refusal)


class Memory(Item):
    """Something that an agent decided to keep."""

    declares = (item.Memory,)

    evidenced_by = _links("EVIDENCED_BY", "Item", Support)
    cites = _links("CITES", "Citation")


class Fact(Item):
    """A statement about somebody or something."""

    declares = (item.Fact,)

    about = _links("ABOUT", "Person")
    evidenced_by = _links("EVIDENCED_BY", "Item", Support)  # Message or FileChunk
    cites = _links("CITES", "Citation")
    supersedes = _links("SUPERSEDES", "Fact", Supersession)


class Message(Item):
    """One message of a conversation; NEXT leads to the following one."""

    declares = (item.Message,)

    in_conversation = _links("IN_CONVERSATION", "Conversation")
    next = _links("NEXT", "Message")


class FileChunk(Item):
    """A range of lines of a file, `start_line` to `end_line`, counted from 1, both included."""

    declares = (item.FileChunk,)


class File(_DeclaredNode):
    """A file as it was indexed."""

    namespace = StringProperty(required=True)
    path = StringProperty(required=True)
    name = StringProperty()
    root = StringProperty()  # the folder that was indexed, or empty for a file that was uploaded
    sha256 = StringProperty()  # absent until the contents are stored
    unread = StringProperty()  # why the contents are not stored
    language = StringProperty()
    size = IntegerProperty()  # bytes
    mtime_ns = IntegerProperty()
    lines = IntegerProperty()
    indexed_at = TimeProperty()
    name_key = StringProperty()  # the file name without case
    stem_key = StringProperty()  # its letters and digits, without the ending
    path_key = StringProperty()  # "/" and the path without case
    search_text = StringProperty()  # the words of the path
    outline = StringProperty()  # words of the path, of the file's definitions, and of the text about them
    tokens = StringProperty()

    chunks = _links("HAS_CHUNK", "FileChunk")
    defines = _links("DEFINES", "Symbol")


class Symbol(_DeclaredNode):
    """A definition in a file: a function, a class, a type."""

    namespace = StringProperty(required=True)
    path = StringProperty(required=True)
    name = StringProperty()
    key = StringProperty()  # the name without case
    kind = StringProperty()
    language = StringProperty()
    line = IntegerProperty()  # from 1
    end_line = IntegerProperty()
    scope = StringProperty()  # the enclosing names, outermost first, separated by dots


class Citation(_DeclaredNode):
    """Lines of a file that an item cites, by path, whether or not the file exists."""

    namespace = StringProperty(required=True)
    uid = StringProperty(required=True)  # the item's
    ref = StringProperty(required=True)  # as received
    name = StringProperty()
    path = StringProperty(required=True)
    start_line = IntegerProperty()  # from 1, where the lines are now or were last
    end_line = IntegerProperty()
    sha256 = StringProperty()  # of the lines as first found; absent until then
    text = StringProperty()  # how they begin
    state = StringProperty()  # current, changed, gone or not_found
    stale_since = TimeProperty()


class Embedding(_DeclaredNode):
    """One vector of an item in one space, with copies of the filter properties that its index needs.

    Every filter property has a value, a sentinel where the item has none: the index drops nodes that lack one.
    """

    namespace = StringProperty(required=True)
    uid = StringProperty(required=True)  # the item's
    name = StringProperty()
    space = StringProperty(required=True)
    role = StringProperty()  # passage or window
    ordinal = IntegerProperty()  # from 0
    vector = ArrayProperty(FloatProperty())
    kind = StringProperty()
    author = StringProperty()
    conversation = StringProperty()
    domain = StringProperty()
    occurred_at = TimeProperty()
    valid_to = TimeProperty()


class EmbeddingSpace(_DeclaredNode):
    """The encoder and text form that make vectors comparable. One space is active."""

    space = StringProperty(required=True)
    model = StringProperty()
    dimension = IntegerProperty()
    text_form = StringProperty()
    normalised = BooleanProperty()
    revision = StringProperty()
    languages = ArrayProperty(StringProperty())  # absent until the encoder was probed
    calibration_languages = ArrayProperty(StringProperty())  # the lists below are in this order
    calibration_means = ArrayProperty(FloatProperty())  # cosines, -1..1
    calibration_deviations = ArrayProperty(FloatProperty())
    calibration_samples = ArrayProperty(IntegerProperty())  # stored vectors measured, 0: none were enough
    calibration_vectors = IntegerProperty()  # in the space when measured
    calibration_version = IntegerProperty()
    calibrated_at = TimeProperty()
    active = BooleanProperty()
    left_at = TimeProperty()  # when another space became the active one in its place
    created_at = TimeProperty()


class Person(_DeclaredNode):
    """Somebody whom facts are about."""

    namespace = StringProperty(required=True)
    person_id = StringProperty(required=True)
    name = StringProperty()
    created_at = TimeProperty()


class Conversation(_DeclaredNode):
    """The conversation that messages belong to."""

    namespace = StringProperty(required=True)
    conversation_id = StringProperty(required=True)
    name = StringProperty()
    created_at = TimeProperty()


class Revision(_DeclaredNode):
    """A whole fact or memory before a change, except properties derived for full text.

    Times, `version` and `source_hash` are those from before the change.
    """

    declares = (item.Memory, item.Fact)

    kind = StringProperty()
    revision_id = StringProperty(required=True)
    reason = StringProperty()  # of the change
    actor = StringProperty()
    revised_at = TimeProperty()


class SweepRun(_DeclaredNode):
    """One run of the sweep; CHANGED leads to what it touched."""

    namespace = StringProperty(required=True)
    sweep_id = StringProperty(required=True)  # sweep-YYYYMMDD-NNN
    name = StringProperty()
    status = StringProperty()  # applying, applied, undoing or undone
    config = StringProperty()  # options of the run, as JSON
    plan_hash = StringProperty()
    progress = StringProperty()  # position and counts, as JSON
    actor = StringProperty()
    started_at = TimeProperty()
    finished_at = TimeProperty()

    changed = _links("CHANGED", "Memory", SweptChange)


class Tombstone(_DeclaredNode):
    """A record that an item was forgotten: hashes with a salt of the namespace, no text. HOLDS leads to its marks."""

    namespace = StringProperty(required=True)
    identity = StringProperty(required=True)  # hash of the item's uid
    name = StringProperty()
    kind = StringProperty()  # the item's
    actor = StringProperty()
    forgotten_at = TimeProperty()
    holds = _links("HOLDS", "TombstoneMark")


class TombstoneMark(_DeclaredNode):
    """A hash of something that forgotten items said."""

    namespace = StringProperty(required=True)
    mark = StringProperty(required=True)
    name = StringProperty()


class TombstoneSalts(_DeclaredNode):
    """The salts of the hashes of a namespace's tombstones."""

    namespace = StringProperty(required=True)
    salts = ArrayProperty(StringProperty())  # hexadecimal; new ones take the first
    created_at = TimeProperty()


class ChangeLog(_DeclaredNode):
    """The number of changes in a namespace; locked while a transaction numbers its own."""

    namespace = StringProperty(required=True)
    name = StringProperty()
    seq = IntegerProperty()  # number of the last change
    tag = StringProperty()  # of the ChangeSet that has it
    asked_at = TimeProperty()


class ChangeSet(_DeclaredNode):
    """The changes of one transaction, without the texts of items."""

    namespace = StringProperty(required=True)
    name = StringProperty()
    first = IntegerProperty()  # number of its first change
    last = IntegerProperty()
    tag = StringProperty()  # random: tells it from one with the same numbers in another history of the graph
    at = TimeProperty()
    changes = ArrayProperty(StringProperty())  # JSON: action, kind, uid; of an edge also type, source, target


class Webhook(_DeclaredNode):
    """Where the changes of a namespace are sent, and how far delivery has come; its secret is not in the graph."""

    namespace = StringProperty(required=True)
    webhook_id = StringProperty(required=True)
    url = StringProperty()
    kinds = ArrayProperty(StringProperty())  # of things whose changes are sent; absent: all
    state = StringProperty()  # active or paused
    seq = IntegerProperty()  # number of the last change that was sent
    tag = StringProperty()  # of the ChangeSet that has it
    up_to = IntegerProperty()  # number of the last change of a delivery that was tried and not yet accepted
    failures = IntegerProperty()  # since the last accepted delivery
    failing_since = TimeProperty()
    next_at = TimeProperty()
    last_status = IntegerProperty()
    last_error = StringProperty()
    created_at = TimeProperty()
    delivered_at = TimeProperty()
    asked_at = TimeProperty()


class IdempotencyRecord(_DeclaredNode):
    """The response to a request that may be sent twice; without `response` the request still runs."""

    namespace = StringProperty(required=True)
    key = StringProperty(required=True)  # id of the API key, a blank, and the Idempotency-Key
    owner = StringProperty()
    request_hash = StringProperty()  # SHA-256, hex
    response = StringProperty()  # JSON: status, headers, body
    asked_at = TimeProperty()
    created_at = TimeProperty()
    expires_at = TimeProperty()


class Migration(_DeclaredNode):
    """A migration that was applied to this graph, or has been started."""

    version = StringProperty(required=True)
    name = StringProperty()
    kind = StringProperty()  # schema or data
    checksum = StringProperty()  # SHA-256, hex
    status = StringProperty()  # running or applied
    by = StringProperty()
    app_version = StringProperty()
    server_version = StringProperty()
    started_at = TimeProperty()
    finished_at = TimeProperty()


class Lock(_DeclaredNode):
    """A lock among processes, which expires at `expires_at` by the server's clock unless renewed; without that time,
    the mark of an incomplete import.
    """

    name = StringProperty(required=True)
    owner = StringProperty()
    done = IntegerProperty()  # rows of an import that are settled
    asked_at = TimeProperty()
    expires_at = TimeProperty()


class AnalystCopy(_DeclaredNode):
    """Marks a graph as a copy for analysts; the live graph has none."""

    name = StringProperty(required=True)
    taken_at = TimeProperty()
    namespaces = ArrayProperty(StringProperty())
    items = IntegerProperty()


ITEM_MODELS: Mapping[str, type[Item]] = MappingProxyType(
    {model.__name__: model for model in (Memory, Fact, Message, FileChunk)}
)
NODE_MODELS: Mapping[str, type[_DeclaredNode]] = MappingProxyType(
    {
        "Item": Item,
        **ITEM_MODELS,
        **{
            model.__name__: model for model in (File, Symbol, Citation, Embedding, EmbeddingSpace, Person, Conversation)
        },
        **{model.__name__: model for model in (Tombstone, TombstoneMark, TombstoneSalts)},
        **{model.__name__: model for model in (ChangeLog, ChangeSet, Webhook)},
        **{model.__name__: model for model in (Revision, SweepRun, IdempotencyRecord, Migration, Lock, AnalystCopy)},
    }
)
"""Every label that has a model of its own."""


def inflate_item(node: Node) -> Item:
    """Return the typed object of an item's node, ignoring labels that analysts added.

    Raises ValueError when the node carries none of the item labels.
    """
    for label, model in ITEM_MODELS.items():
        if label in node.labels:
            inflated: Item = model.inflate(node)
            return inflated
    raise ValueError(f"a node labelled {sorted(node.labels)} is not an item: it needs one of {list(ITEM_MODELS)}")


def edge_types() -> dict[str, type[DeclaredEdge] | None]:
    """Return every declared relationship type with the model of its properties, or None."""
    definitions = (
        relationship.definition
        for model in NODE_MODELS.values()
        for relationship in model.defined_properties(aliases=False, properties=False).values()
    )
    return {definition["relation_type"]: definition["model"] for definition in definitions}


def property_names(model: type[_DeclaredNode | DeclaredEdge]) -> frozenset[str]:
    """Return the names of the properties that a model declares, inherited ones included."""
    return frozenset(model.defined_properties(aliases=False, rels=False))
