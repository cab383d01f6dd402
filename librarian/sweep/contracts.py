"""The sweep: what to look at, what it finds or has changed, and what an undo takes back.

A report of a dry run is a plan: applying it changes exactly what it lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from librarian.base.fields import ConfirmToken, Cursor, MemoryType, PageSize, Reason, Time, TypeOfMemory
from librarian.causal.contracts import ItemBrief
from librarian.items.contracts import EdgeOut, Filters

Action = Literal["retype", "template", "causal_edge", "flag", "merge", "expire", "fact"]
Relation = Literal["Causes", "Blocks", "Enables", "RelatesTo"]
ChangeState = Literal["planned", "applied", "proposed", "undone", "kept", "accepted", "rejected"]
SweepStatus = Literal["planned", "applying", "applied", "undoing", "undone"]

SweepId = Annotated[
    str, Meta(pattern=r"^sweep-[0-9]{8}-[0-9]{3,}$(?!\n)", description="Id of a sweep: sweep-YYYYMMDD-NNN.")
]
Domains = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=500)]],
    Meta(min_length=1, max_length=100, description="Only memories of these domains."),
]
SweepLimit = Annotated[
    int,
    Meta(
        ge=1,
        description="Look at no more than this many memories, the oldest first, after those of the last limited one.",
    ),
]
MinImportance = Annotated[int, Meta(ge=1, le=10, description="Only memories that matter at least this much.")]


class RetentionRule(Filters, kw_only=True):
    """Which items expire: those that pass the filters and happened so many days ago (or, where that is unknown, were
    stored then). Neither pinned ones nor those with an end of their own; parts of files follow their files.
    """

    older_than_days: Annotated[int, Meta(ge=1, le=36_500, description="How many days ago it happened at least.")]


RetentionRules = Annotated[
    list[RetentionRule],
    Meta(max_length=50, description="Which items expire; by default what LIBRARIAN_RETENTION says."),
]


class SweepScope(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which memories to look at; every given condition must hold."""

    domains: Domains | None = None
    limit: SweepLimit | None = None
    min_importance: MinImportance | None = None
    filters: Filters | None = None


class SweepConfig(Struct, kw_only=True):
    """How a sweep was asked for. Nobody asked for an `ingested` one: it holds what messages stated as they came in."""

    domains: list[str] | None = None
    limit: int | None = None
    min_importance: int | None = None
    filters: Filters | None = None
    llm: bool = False
    retention: list[RetentionRule] = []
    facts: bool = False
    ingested: bool = False


class SweepSummary(Struct, kw_only=True):
    """What a sweep did, or would do."""

    memories_scanned: int = 0
    memories_retyped: int = 0
    memories_templated: int = 0
    causal_edges_created: int = 0
    unknown_flagged: int = 0


class ProposedFact(Struct, kw_only=True):
    """What somebody states in a message: `quote` stands there letter by letter, `fact_id` is the uid of the fact once
    it is accepted.
    """

    fact_id: str
    subject: str
    predicate: str
    object: str
    quote: str
    person_id: str | None = None
    valid_from: Time | None = None


class SweepChange(Struct, kw_only=True, omit_defaults=True):
    """One change of one memory.

    `retype`: from `old_type` (null: it had none) to `new_type`. `template`: the text becomes `text`, and `tags` are
    added. `causal_edge`: an edge `relation` from `source_id`, which is the memory itself, to `target_id`, accepted or
    proposed. `flag`: nobody can tell the type;
    `new_type` is the likeliest. `merge`: it says what `target_id` says, which is the fuller one. `expire`: a rule of
    retention takes it (`reason`), and it is not found any more; of an item of any kind. `fact`: `memory_id` is a
    message, which states `fact`; by `fact_state` it is stored, or waits for a human. `version` is the memory's version
    that the change was planned on.
    """

    memory_id: str
    action: Action
    version: int
    state: ChangeState = "planned"
    seq: int | None = None
    confidence: float | None = None
    method: Literal["rule", "llm"] | None = None
    old_type: MemoryType | UnsetType | None = UNSET
    new_type: MemoryType | None = None
    text: str | None = None
    tags: list[str] = []
    source_id: str | None = None
    target_id: str | None = None
    target_version: int | None = None
    relation: Relation | None = None
    edge_id: str | None = None
    edge_state: Literal["accepted", "proposed"] | None = None
    source_quote: str | None = None
    target_quote: str | None = None
    fact: ProposedFact | None = None
    fact_state: Literal["accepted", "proposed"] | None = None
    reason: str | None = None
    model: str | None = None
    warnings: list[str] = []
    expires_at: Time | None = None


class SweepRefusal(Struct, kw_only=True):
    """A planned change that was not applied, as its memory was changed or deleted since."""

    memory_id: str
    action: Action
    reason: Literal["changed", "deleted"]


class SweepFindings(Struct, kw_only=True):
    """What else a sweep found.

    `types_before` and `types_after` count memories by type ("none": untyped). `importance_saturated` counts memories of
    importance 9 and 10; `saturated` says that they are more than half, so that importance tells nothing.
    `memories_left` counts those of the scope that a limit has left for the next sweep. `lessons` names the kinds of
    reasons that humans of this namespace have rejected three times more than accepted, with by how many: what is found
    for such a reason is less sure, and proposed. `expired` counts the items that rules of retention take, `purged`
    those that expired so long ago that they are purged, which nothing undoes.
    """

    types_before: dict[str, int] = msgspec.field(default_factory=dict)
    types_after: dict[str, int] = msgspec.field(default_factory=dict)
    missing_agent: int = 0
    missing_type: int = 0
    missing_time: int = 0
    missing_importance: int = 0
    importance: dict[str, int] = msgspec.field(default_factory=dict)
    importance_saturated: int = 0
    saturated: bool = False
    edges_proposed: int = 0
    related_created: int = 0
    merges_proposed: int = 0
    messages_read: int = 0
    facts_accepted: int = 0
    facts_proposed: int = 0
    templates_refused: int = 0
    template_warnings: int = 0
    refused: int = 0
    memories_left: int = 0
    lessons: dict[str, int] = msgspec.field(default_factory=dict)
    expired: int = 0
    purged: int = 0


class SweepLlm(Struct, kw_only=True):
    """The language model's part in a sweep.

    What it was expected to take is told by the first memories and by one call. Before it is asked about anything, it
    has to give memories of known type their type: it `agreed` on so many of the `examined` ones that it was sure about.
    Unless it is `trusted` after that, what it says is proposed and never applied. `unusable` answers changed nothing.
    """

    model: str
    calls_expected: int = 0
    tokens_expected: int = 0
    seconds_expected: float = 0.0
    examined: int = 0
    agreed: int = 0
    trusted: bool = False
    calls: int = 0
    unusable: int = 0


class SweepReport(Struct, kw_only=True, omit_defaults=True):
    """What a sweep changed, or would change (`dry_run`).

    `changes` may be a page: `next_cursor` leads to the next one; `changes_left_out` counts what an answer of a dry run
    has no room for, which then is no plan that can be applied.
    """

    sweep_id: SweepId
    dry_run: bool
    config: SweepConfig
    summary: SweepSummary
    changes: list[SweepChange]
    namespace: str
    status: SweepStatus
    findings: SweepFindings
    llm: SweepLlm | None = None
    refused: list[SweepRefusal] = []
    changes_left_out: int = 0
    plan: SweepId | None = None
    actor: str | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    next_cursor: str | None = None


class SweepRequest(SweepScope, kw_only=True):
    """A sweep: over the memories in its scope, of a saved `plan` exactly as it is, or on from where an interrupted one
    ended (`resume`; with the same `plan` where it had one).
    """

    dry_run: Annotated[bool, Meta(description="Change nothing, only say what would be changed.")] = False
    llm: Annotated[bool, Meta(description="Ask the language model about what the rules leave undecided.")] = False
    facts: Annotated[bool, Meta(description="Also read messages, and propose the facts that people state there.")] = (
        False
    )
    resume: SweepId | None = None
    plan: SweepReport | None = None
    retention: RetentionRules | None = None


class SweepQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A page of sweeps, the newest first, or of the changes of one."""

    limit: PageSize = 50
    cursor: Cursor | None = None


class SweepBrief(Struct, kw_only=True):
    """One sweep in a list; `facts` counts what it found stated in messages, stored or proposed."""

    sweep_id: str
    status: SweepStatus
    config: SweepConfig
    summary: SweepSummary
    actor: str | None
    started_at: Time
    finished_at: Time | None
    facts: int = 0


class SweepList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    sweeps: list[SweepBrief]
    next_cursor: str | None


class KeptChange(Struct, kw_only=True):
    """A change that an undo leaves, as somebody has changed the memory or decided about the edge since."""

    memory_id: str
    action: Action
    reason: str


class SweepUndoOutput(Struct, kw_only=True):
    """What an undo took back. `kept` lists the first 1,000 changes that stay; `changes_kept` counts all."""

    sweep_id: str
    status: SweepStatus
    memories_restored: int = 0
    edges_removed: int = 0
    facts_removed: int = 0
    proposals_withdrawn: int = 0
    changes_kept: int = 0
    kept: list[KeptChange] = []


class SweepProgress(Struct, kw_only=True):
    """How far a sweep has come: memories looked at in this stage, of how many; or chunks of a plan; or changes that an
    undo has looked at. `sweep_id` is what to resume if it goes no further; a dry run has none.
    """

    stage: Literal["retention", "edges", "texts", "facts", "plan", "undo"]
    done: int
    total: int
    sweep_id: SweepId | None = None


@dataclass(frozen=True, slots=True)
class SweepPart:
    """A part of a sweep that is done and, unless it is a dry run, committed."""

    progress: SweepProgress
    changes: Sequence[SweepChange] = ()
    refused: Sequence[SweepRefusal] = ()


ReviewSort = Literal["edge", "supersede", "flag", "merge", "fact"]
ReviewState = Literal["open", "unreviewed", "accepted", "rejected"]
ReviewSorts = Annotated[list[ReviewSort], Meta(min_length=1, max_length=4, description="Only these: all by default.")]
ReviewStates = Annotated[
    list[ReviewState],
    Meta(
        min_length=1,
        max_length=4,
        description="`open` (the default): proposed and undecided; `unreviewed`: edges and facts that a rule or model "
        "has written and no human has seen; `accepted` or `rejected`: by a human.",
    ),
]
UndecidedStates = Annotated[
    list[Literal["open", "unreviewed"]],
    Meta(min_length=1, max_length=2, description="`open` (the default), `unreviewed`, or both."),
]
Because = Annotated[
    str,
    Meta(
        min_length=1, max_length=4000, description="How the reason begins for which it was proposed, in these letters."
    ),
]
ReviewId = Annotated[str, Meta(min_length=1, max_length=200, description="Id of a review, as the list shows it.")]
Verdict = Annotated[Literal["accept", "reject"], Meta(description="Whether it is right.")]


class ReviewQuery(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which reviews to list: edges and supersessions by id, then flags, merges and facts in the order of the sweeps."""

    sorts: ReviewSorts | None = None
    states: ReviewStates | None = None
    because: Because | None = None
    limit: PageSize = 50
    cursor: Cursor | None = None


class ReviewInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A decision. `type` is what an accepted flag makes of the memory, by default what the sweep proposes."""

    verdict: Verdict
    reason: Reason | None = None
    type: TypeOfMemory | None = None
    revise: Annotated[bool, Meta(description="Decide otherwise about what was decided before; takes a reason.")] = False


class ReviewOut(Struct, kw_only=True):
    """Something that a human may decide about, or has.

    `edge`: from `item` to `other`, see `edge` for its type and quotes. `supersede`: the fact `item` replaces the fact
    `other`, if their predicate has one value at a time; both hold until that is accepted. `flag`: `item` is of type
    `old_type`, and the sweep takes it for a `new_type`; `given_type` is the one that a human has given it. `merge`:
    `item` says the same as `other`, the fuller one, into which it goes. `fact`: the message
    `item` states `fact`.
    `reason` is why it is proposed, `review_reason` why it was decided so.
    """

    review_id: str
    sort: ReviewSort
    state: ReviewState
    item: ItemBrief
    other: ItemBrief | None
    edge: EdgeOut | None
    fact: ProposedFact | None = None
    old_type: MemoryType | None
    new_type: MemoryType | None
    given_type: MemoryType | None
    confidence: float | None
    reason: str | None
    run_id: str | None
    reviewed_by: str | None
    reviewed_at: Time | None
    review_reason: str | None

    def without_content(self) -> "ReviewOut":
        """Return it without what the items say and the edge quotes."""
        other = None if self.other is None else self.other.without_content()
        edge = None if self.edge is None else self.edge.without_content()
        return structs.replace(
            self, item=self.item.without_content(), other=other, edge=edge, fact=None, reason=None, review_reason=None
        )


class ReviewList(Struct, kw_only=True):
    """One page; `next_cursor` is null on the last one."""

    reviews: list[ReviewOut]
    next_cursor: str | None


class ReviewOutput(Struct, kw_only=True):
    """A review as it stands now; `decided` is false where the same was decided before.

    `notes` says when an accepted edge contradicts another one.
    """

    decided: bool
    review: ReviewOut
    notes: list[str] = []

    def without_content(self) -> "ReviewOutput":
        """Return it without what the items say."""
        return structs.replace(self, review=self.review.without_content(), notes=[])


class ReviewManyInput(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One decision about all that was proposed for one kind of reason, as `list_review_reasons` names them.

    Without `confirm_token` nothing is decided: the answer is a preview with the token to send.
    """

    verdict: Verdict
    because: Because
    sorts: ReviewSorts | None = None
    states: UndecidedStates | None = None
    reason: Reason | None = None
    confirm_token: ConfirmToken | None = None


class ReviewRefusal(Struct, kw_only=True):
    """One that could not be decided so, and why."""

    review_id: str
    reason: str


class ReviewManyOutput(Struct, kw_only=True):
    """A preview (`matched`, the first ones, the token), or what was done: of those that matched `decided` were, and
    `refused` names the others. `more` says that more match than are decided at once.
    """

    matched: int
    decided: int = 0
    more: bool = False
    refused: list[ReviewRefusal] = []
    sample: list[ReviewOut] = []
    confirm_token: str | None = None

    def without_content(self) -> "ReviewManyOutput":
        """Return the counts, the ids and the token alone."""
        return structs.replace(self, sample=[])


class ReasonOut(Struct, kw_only=True):
    """A kind of reason: `because` is how these reasons begin, and what `list_reviews` and `review_many` take.

    `lesson` is by how many more were rejected than accepted, where that makes sweeps of this namespace less sure of
    what they find for such a reason; 0 where it does not.
    """

    because: str
    open: int = 0
    unreviewed: int = 0
    accepted: int = 0
    rejected: int = 0
    lesson: int = 0


class ReasonList(Struct, kw_only=True):
    """The kinds of reasons, those of most open reviews first, at most 200."""

    reasons: list[ReasonOut]


class CausalLabel(Struct, kw_only=True):
    """What a human says of two texts, as `librarian eval causal` reads it."""

    id: str
    text_a: str
    text_b: str
    relation: str
    acceptable: list[str]
    direction: str
    pair_kind: str
    repo: str
    proposed: str
    confidence: float | None
    method: str
    signal: list[str]
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None


class TypeLabel(Struct, kw_only=True):
    """The type that a human gives a text, as `librarian eval types` reads it."""

    id: str
    type: MemoryType
    text: str
    repo: str
    proposed: MemoryType | None
    confidence: float | None
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None


class MergeLabel(Struct, kw_only=True):
    """Whether a human says that two texts say the same."""

    id: str
    text_a: str
    text_b: str
    same: bool
    repo: str
    confidence: float | None
    reviewed_by: str
    reviewed_at: Time | None
    reason: str | None
