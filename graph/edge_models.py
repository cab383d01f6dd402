"""Relationships with properties, as neomodel classes; `graph.models` declares the nodes between which they run."""

from typing import NoReturn

from neomodel import AsyncStructuredRel, FloatProperty, IntegerProperty, StringProperty
from neomodel import DateTimeNeo4jFormatProperty as TimeProperty


class ReadOnlyModel(TypeError):
    """Models declare the graph and inflate nodes; read and write through the named statements of `cypher/`."""

    def __init__(self) -> None:
        super().__init__(type(self).__doc__)


async def refuse(*_args: object, **_kwargs: object) -> NoReturn:
    """Stand for every neomodel method that would talk to the server."""
    raise ReadOnlyModel


class DeclaredEdge(AsyncStructuredRel):
    """A relationship's properties, declared only."""

    save = start_node = end_node = refuse


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
    review_reason = StringProperty()  # of the human who has decided
    created_at = TimeProperty()


class ProposedEdge(TypedEdge):
    """A typed edge that nobody has accepted: PROPOSED, so that a picture of the graph never shows it as a cause."""

    type = StringProperty()  # the type it would have
    state = StringProperty()  # proposed or rejected


class Refusal(DeclaredEdge):
    """From an item to the space whose encoder does not take its text."""

    version = IntegerProperty()  # of the item; a later one is tried again


class Supersession(DeclaredEdge):
    """From a newer fact to an older one, which it may have closed."""

    former_valid_to = TimeProperty()  # what the older fact had, and gets back when the newer one goes


class Support(DeclaredEdge):
    """From an item to what supports it; the properties say which lines of a part of a file, as a Citation has them."""

    ref = StringProperty()
    start_line = IntegerProperty()
    end_line = IntegerProperty()
    sha256 = StringProperty()


class SweptChange(DeclaredEdge):
    """From a run of the sweep to a memory: one thing that it did to it, or proposes for it."""

    namespace = StringProperty(required=True)
    sweep_id = StringProperty(required=True)
    seq = IntegerProperty(required=True)  # place in the run's list of changes
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
