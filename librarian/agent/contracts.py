"""The search agent: what the Professor asks, and the smallest set of evidence for it. Never the text of an answer."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

EvidenceStatus = Literal["COMPLETED", "PARTIAL", "NO_EVIDENCE"]
Detail = Literal["default", "full", "trace"]

MAX_TARGET_ITEMS = 100
MAX_RETRIES = 20
DEFAULT_RETRIES = 3

_NOT_BLANK = r"[^\s]"

UserQuery = Annotated[
    str,
    Meta(min_length=1, max_length=10_000, pattern=_NOT_BLANK, description="The user's question, in any language."),
]
Intent = Annotated[str, Meta(max_length=200, description="What sort of answer is wanted, such as `formula_lookup`.")]
Context = Annotated[
    str, Meta(max_length=100_000, description="Where the question was asked: a lecture, a document, a topic.")
]
TargetItem = Annotated[str, Meta(min_length=1, max_length=500, pattern=_NOT_BLANK)]
TargetItems = Annotated[
    list[TargetItem],
    Meta(
        min_length=1,
        max_length=MAX_TARGET_ITEMS,
        description="What the evidence has to show, such as `definition`, `formula`, `interpretation_0_1`.",
    ),
]
Retries = Annotated[
    int, Meta(ge=0, le=MAX_RETRIES, description="How often the search may be refined; 0: one round of searches.")
]
StopConditions = Annotated[str, Meta(max_length=4000, description="When enough is found, in words.")]


class AnalyzedInfo(Struct, kw_only=True):
    """What is known of the question. Further fields may stand here; they are not read."""

    intent: Intent | None = None
    context: Context | None = None


class SearchTask(Struct, forbid_unknown_fields=True, kw_only=True):
    """What is to be found, and at what effort."""

    target_items: TargetItems
    max_retries: Retries


class SearchAgentInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """One question with what its evidence has to show."""

    user_query: UserQuery
    analyzed_info: AnalyzedInfo
    task: SearchTask
    stop_conditions: StopConditions


class FindEvidenceInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """The same question, as a language model or a person at a terminal puts it."""

    question: UserQuery
    target_items: TargetItems
    max_retries: Retries = DEFAULT_RETRIES
    intent: Intent | None = None
    context: Context | None = None
    stop_conditions: StopConditions | None = None

    def as_request(self) -> SearchAgentInput:
        """The request of the HTTP interface that means the same."""
        return SearchAgentInput(
            user_query=self.question,
            analyzed_info=AnalyzedInfo(intent=self.intent, context=self.context),
            task=SearchTask(target_items=self.target_items, max_retries=self.max_retries),
            stop_conditions=self.stop_conditions or "",
        )


class SelectedEvidence(Struct, kw_only=True, omit_defaults=True):
    """One piece of evidence: the index that the search gave it, and why it was chosen, with a quotation.

    `uid` names the item where Librarian's own search found it, in full detail.
    """

    temp_index: int
    why: str
    uid: str | None = None


class SearchAgentOutput(Struct, kw_only=True, omit_defaults=True):
    """The smallest set of evidence: COMPLETED covers all target items, PARTIAL is the best so far.

    The other fields come with `Librarian-Detail: full`: which target item is covered by which indexes, which are
    missing, the number of searches, what ended the work; with `trace` also every step, for `librarian agent replay`.
    """

    status: EvidenceStatus
    selected_evidence: list[SelectedEvidence]
    reasoning_summary: str
    coverage: dict[str, list[int]] | None = None
    missing_items: list[str] | None = None
    searches_used: int | None = None
    stopped_by: str | None = None
    trace_id: str | None = None
    trace: dict[str, Any] | None = None


class SearchAgentEvent(Struct, kw_only=True):
    """A step of the work: `event` is plan, search, candidates, evaluation or refine; `done` carries the output."""

    event: str
    data: Any
