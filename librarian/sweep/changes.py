"""The changes that a sweep plans, one class per action, and their form in reports.

Inside the sweep a change is one of these; the graph keeps a `RecordedChange` of it, and only reports, plans and events
hold the wire's `SweepChange`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from msgspec.structs import asdict

from graph.sweep import Edge, Method, RecordedChange, StatedFact
from graph.types import EdgeType
from librarian.base.errors import InvalidInput
from librarian.base.fields import MemoryType
from librarian.sweep.contracts import Action, ChangeState, ProposedFact, Relation, SweepChange

T = TypeVar("T")

_SPELT: Mapping[EdgeType, Relation] = {
    EdgeType.CAUSES: "Causes",
    EdgeType.BLOCKS: "Blocks",
    EdgeType.ENABLES: "Enables",
    EdgeType.RELATES_TO: "RelatesTo",
}
_STORED: Mapping[Relation, EdgeType] = {spelt: stored for stored, spelt in _SPELT.items()}


@dataclass(frozen=True, slots=True)
class _TypeChange:
    memory_id: str
    version: int
    old_type: MemoryType | None
    new_type: MemoryType
    confidence: float
    reason: str
    method: Method = "rule"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Retype(_TypeChange):
    """Give an untyped memory the type `new_type`."""


@dataclass(frozen=True, slots=True)
class Flag(_TypeChange):
    """Ask a human about a memory's type; `new_type` is the likeliest."""


@dataclass(frozen=True, slots=True)
class Template:
    """Replace a memory's text by the same text in sections, and add `tags`."""

    memory_id: str
    version: int
    text: str
    tags: Sequence[str] = ()
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """Propose to join a memory into `target_id`, the fuller one with the same content."""

    memory_id: str
    version: int
    target_id: str
    target_version: int
    confidence: float
    reason: str

    @property
    def needs(self) -> dict[str, int]:
        """The memories on which it was planned, with their versions."""
        return {self.memory_id: self.version, self.target_id: self.target_version}


@dataclass(frozen=True, slots=True)
class Expire:
    """Let an item of any kind expire at `expires_at` under a retention rule."""

    memory_id: str
    version: int
    expires_at: datetime
    reason: str


Change: TypeAlias = Retype | Template | Edge | Flag | Merge | Expire | StatedFact
Rewriting: TypeAlias = Retype | Template
"""Changes of a memory's own text and type."""
_ACTIONS: Mapping[type[Change], Action] = {
    Retype: "retype",
    Template: "template",
    Edge: "causal_edge",
    Flag: "flag",
    Merge: "merge",
    Expire: "expire",
    StatedFact: "fact",
}


def to_wire(change: Change, state: ChangeState = "planned", seq: int | None = None) -> SweepChange:
    """Return the change in the form of reports and plans."""
    same = {name: getattr(change, name) for name in SweepChange.__struct_fields__ if hasattr(change, name)}
    action = _ACTIONS[type(change)]
    return SweepChange(**same | _respelt(change) | {"action": action, "state": state, "seq": seq})


def _respelt(change: Change) -> dict[str, Any]:
    """Return the fields that have another name or form in reports."""
    match change:
        case Template():
            return {"tags": list(change.tags), "warnings": list(change.warnings)}
        case Edge():
            return {"source_id": change.memory_id, "relation": _SPELT[change.type], "edge_state": change.state}
        case StatedFact():
            return {"fact": fact_of(change), "fact_state": change.state}
        case _:
            return {}


def is_proposed(change: Change) -> bool:
    """Return whether the change needs a human decision before it is written."""
    return isinstance(change, Flag | Merge) or (isinstance(change, StatedFact) and change.state == "proposed")


def recorded(change: Change) -> RecordedChange:
    """Return the change's entry in the run's list of changes."""
    wire = to_wire(change)
    return RecordedChange(
        uid=change.memory_id,
        action=wire.action,
        state="proposed" if is_proposed(change) else "applied",
        version=change.version + isinstance(change, Retype | Template | Expire),
        confidence=wire.confidence,
        method=wire.method,
        old_type=wire.old_type or None,
        new_type=wire.new_type,
        reason=wire.reason,
        model=wire.model,
        relation=wire.relation,
        edge_id=wire.edge_id,
        edge_state=wire.edge_state,
        source=wire.source_id,
        target=wire.target_id,
        expires_at=wire.expires_at,
        **({} if wire.fact is None else asdict(wire.fact)),
    )


def from_wire(wire: SweepChange) -> Change:
    """Return the change of a plan's entry. Raises InvalidInput if the entry lacks a field."""
    match wire.action:
        case "retype" | "flag":
            made = Retype if wire.action == "retype" else Flag
            return made(
                memory_id=wire.memory_id,
                version=wire.version,
                old_type=wire.old_type or None,
                new_type=_given(wire, "new_type", wire.new_type),
                confidence=_given(wire, "confidence", wire.confidence),
                reason=wire.reason or "",
                method=wire.method or "rule",
                model=wire.model,
            )
        case "template":
            text = _given(wire, "text", wire.text)
            return Template(wire.memory_id, wire.version, text, tuple(wire.tags), tuple(wire.warnings))
        case "causal_edge":
            return _edge_of(wire)
        case "expire":
            ends = _given(wire, "expires_at", wire.expires_at)
            return Expire(wire.memory_id, wire.version, ends, wire.reason or "")
        case "fact":
            return _fact_of(wire)
        case "merge":
            return Merge(
                memory_id=wire.memory_id,
                version=wire.version,
                target_id=_given(wire, "target_id", wire.target_id),
                target_version=_given(wire, "target_version", wire.target_version),
                confidence=_given(wire, "confidence", wire.confidence),
                reason=wire.reason or "",
            )


def fact_of(change: StatedFact) -> ProposedFact:
    """Return the fact of a change for the wire."""
    return ProposedFact(**{name: getattr(change, name) for name in ProposedFact.__struct_fields__})


def _fact_of(wire: SweepChange) -> StatedFact:
    return StatedFact(
        memory_id=wire.memory_id,
        version=wire.version,
        state=_given(wire, "fact_state", wire.fact_state),
        confidence=_given(wire, "confidence", wire.confidence),
        reason=wire.reason or "",
        method=wire.method or "rule",
        model=wire.model,
        **asdict(_given(wire, "fact", wire.fact)),
    )


def _edge_of(wire: SweepChange) -> Edge:
    return Edge(
        memory_id=wire.memory_id,
        version=wire.version,
        target_id=_given(wire, "target_id", wire.target_id),
        target_version=_given(wire, "target_version", wire.target_version),
        edge_id=_given(wire, "edge_id", wire.edge_id),
        type=_STORED[_given(wire, "relation", wire.relation)],
        state=_given(wire, "edge_state", wire.edge_state),
        confidence=_given(wire, "confidence", wire.confidence),
        reason=wire.reason or "",
        source_quote=wire.source_quote or "",
        target_quote=wire.target_quote or "",
        method=wire.method or "rule",
        model=wire.model,
    )


def _given(wire: SweepChange, name: str, value: T | None) -> T:
    if value is None:
        raise InvalidInput(
            f"the {wire.action} of {wire.memory_id!r} has no {name}",
            field=f"$.plan.changes[].{name}",
            remedy="Apply the plan as the dry run saved it.",
        )
    return value
