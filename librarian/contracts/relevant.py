"""Relevant memory: what of everything kept helps to answer, best first."""

from typing import Annotated

from msgspec import Meta, Struct

from librarian.contracts.fields import Kind, Namespace, Time

DEFAULT_MAX_HITS = 30

Question = Annotated[str, Meta(min_length=1, max_length=100_000, description="The question, in any language.")]
MaxHits = Annotated[int, Meta(ge=1, le=50, description="How many hits at most.")]
AnswerOverQuestion = Annotated[
    bool, Meta(description="Prefer what tells over what asks; false leaves the order of the search.")
]


class RelevantInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """What is asked, and how many messages, memories and facts to get for it."""

    query: Question
    max_hits: MaxHits = DEFAULT_MAX_HITS
    answer_over_question: AnswerOverQuestion = True


class MemoryHit(Struct, kw_only=True, frozen=True):
    """A message, memory or fact that helps to answer.

    `score` is its similarity to the query (0 where it was found by words alone), adjusted by up to a tenth for how
    likely it answers. `sent_at` is when it was sent or happened; `author_name` of a memory is its agent.
    """

    uid: str
    kind: Kind
    content: str
    score: float
    message_id: str | None = None
    role: str | None = None
    author_name: str | None = None
    sent_at: Time | None = None


class RelevantOutput(Struct, kw_only=True):
    """The hits, best first; `arms` says what each arm of the search did ("ok" or "skipped: …"/"failed: …")."""

    namespace: Namespace
    query: str
    hits: list[MemoryHit]
    arms: dict[str, str]
    notes: list[str]
