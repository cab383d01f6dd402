"""Answers with citations: what is asked, what is answered, and the events of an answer that is streamed."""

from typing import Literal

from msgspec import Struct

from librarian.contracts.fields import Namespace
from librarian.contracts.relevant import DEFAULT_MAX_HITS, AnswerOverQuestion, MaxHits, MemoryHit, Question

Status = Literal["answered", "refused"]
Method = Literal["llm", "extractive"]


class AnswerInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """A question, and how many hits may serve as evidence."""

    query: Question
    max_hits: MaxHits = DEFAULT_MAX_HITS
    answer_over_question: AnswerOverQuestion = True


class Citation(Struct, kw_only=True):
    """What `[memory: id]` in the text stands for."""

    id: str
    uid: str


class AnswerOutput(Struct, kw_only=True):
    """An answer out of the hits, every statement with `[memory: ID]`; each ID is one of `citations`.

    `method` is `llm` for a language model's words, `extractive` for sentences quoted from the hits. `refused`: the hits
    support no answer, `text` is empty and `reason` says why. `invented_citations` named no hit and were taken out of
    the text; `uncited_sentences` stand in it without a citation. `notes` tell what could not be done as asked.
    """

    namespace: Namespace
    query: str
    status: Status
    method: Method
    text: str
    citations: list[Citation]
    hits: list[MemoryHit]
    reason: str | None = None
    model: str | None = None
    invented_citations: list[str] = []
    uncited_sentences: list[str] = []
    notes: list[str] = []


class AnswerHits(Struct, kw_only=True):
    """The evidence, before the answer."""

    hits: list[MemoryHit]


class AnswerDelta(Struct, kw_only=True):
    """The next piece of the text, its citations checked."""

    text: str


AnswerEvent = AnswerHits | AnswerDelta | AnswerOutput
"""What a streamed answer consists of: the hits, pieces of text, and last the whole answer, which alone counts."""
