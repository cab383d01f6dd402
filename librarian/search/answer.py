"""Answers: a language model's checked reply from relevant memory, or an extract without a model."""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from graph.executor import deadline
from librarian.search.contracts import (
    AnswerDelta,
    AnswerEvent,
    AnswerHits,
    AnswerOutput,
    Citation,
    MemoryHit,
    RelevantOutput,
)
from librarian_agents.answer.answer import Question, Reply, replies
from librarian_agents.chat.model import ChatModel
from librarian_agents.errors import ChatModelError, ChatModelUnavailable
from retrieval.context import Context, citation_ids, context_of, known_names, without_citations
from retrieval.extractive import extracts, supporting

log = structlog.get_logger("librarian.answer")

NO_MODEL = "no language model is configured (LLM_BASE_URL): these are sentences of the hits"
_FALLBACK = "these are sentences of the hits"
_NO_SUPPORT = "no hit is close enough to the question to support an answer"
_NOT_IN_HITS = "the language model found no answer in the hits"
# Part of a request's time reserved for an extract and for sending it.
_MARGIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Chat:
    """The language model, its limit of characters of hits, and the time limit of its reply."""

    model: ChatModel
    context_chars: int
    timeout_s: float


async def answer(found: RelevantOutput, chat: Chat | None) -> AnswerOutput:
    """Return the complete answer to the question of `found`."""
    async with aclosing(answer_events(found, chat, streamed=False)) as events:
        async for event in events:
            if isinstance(event, AnswerOutput):
                return event
    raise AssertionError("an answer's last event is the answer")


async def answer_events(
    found: RelevantOutput, chat: Chat | None, *, streamed: bool
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the hits, the text as it arrives (from a language model only), and last the complete answer.

    Never raises for a language model that fails: the answer is then an extract, and its notes give the reason.
    """
    yield AnswerHits(hits=found.hits)
    quotable = supporting(found.hits, found.query, moment_of(found))
    if not quotable:
        yield _output(found, status="refused", method="llm" if chat else "extractive", reason=_NO_SUPPORT)
        return
    if chat is None:
        yield _extractive(found, quotable, NO_MODEL)
        return
    # The model reads all hits, fenced: it may recognise the answer better.
    context = context_of(found.hits, chat.context_chars)
    try:
        async for event in _replied(found, context, chat, streamed=streamed):
            yield event
    except ChatModelError as error:
        log.warning("language model not used", error=type(error).__name__, reason=str(error))
        yield _extractive(found, quotable, f"{error} Therefore {_FALLBACK}.")


async def _replied(
    found: RelevantOutput, context: Context, chat: Chat, *, streamed: bool
) -> AsyncIterator[AnswerEvent]:
    question = Question(found.query, context.text, known_names(found.hits, context.ids), found.now)
    async with aclosing(replies(chat.model, question, streamed=streamed)) as pieces:
        async for piece in _until(_ends_at(chat.timeout_s), pieces):
            if isinstance(piece, Reply):
                yield _of_reply(found, context, piece, chat.model.name)
            else:
                yield AnswerDelta(text=piece)


async def _until(ends_at: float, pieces: AsyncIterator[str | Reply]) -> AsyncIterator[str | Reply]:
    """Yield the pieces that arrive in time. Raises ChatModelUnavailable if one is late."""
    while True:
        try:
            async with asyncio.timeout_at(ends_at):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ChatModelUnavailable("The language model does not answer in time.") from None
        yield piece


def _ends_at(timeout_s: float) -> float:
    """Return the time when the reply is due, by the loop's clock: the request's own deadline also applies."""
    request_ends_at = deadline.get()
    return min(
        asyncio.get_running_loop().time() + timeout_s,
        math.inf if request_ends_at is None else request_ends_at - _MARGIN_S,
    )


def _of_reply(found: RelevantOutput, context: Context, reply: Reply, model: str) -> AnswerOutput:
    if reply.refused:
        refusal = _output(found, status="refused", method="llm", reason=_NOT_IN_HITS)
        refusal.model = model
        return refusal
    uids = {cited_by: hit.uid for cited_by, hit in zip(context.ids, found.hits, strict=False)}
    answered = _output(found, status="answered", method="llm", text=reply.text)
    answered.model = model
    answered.citations = [Citation(id=cited, uid=uids[cited]) for cited in reply.cited]
    answered.invented_citations = reply.invented
    answered.uncited_sentences = reply.uncited
    if context.shown < len(found.hits):
        seen = f"the first {context.shown} of {len(found.hits)} hits"
        answered.notes.append(f"the language model saw {seen} (LLM_CONTEXT_CHARS)")
    return answered


def _extractive(found: RelevantOutput, evidence: Sequence[MemoryHit], note: str) -> AnswerOutput:
    """Return quotes from the best hits, each with its author, its date and its citation."""
    now = moment_of(found)
    quoted = extracts(evidence, found.query, now)
    ids = citation_ids(evidence)
    text = "\n".join(
        f"{without_citations(part.text)}{_source(evidence[part.hit], part.times, now)} [memory: {ids[part.hit]}]"
        for part in quoted
    )
    extract = _output(found, status="answered", method="extractive", text=text)
    extract.citations = [Citation(id=ids[part.hit], uid=evidence[part.hit].uid) for part in quoted]
    extract.notes.append(note)
    return extract


def moment_of(found: RelevantOutput) -> datetime:
    """Return the reference time of the question."""
    return found.now or datetime.now(UTC)


def _source(hit: MemoryHit, times: Sequence[str], now: datetime) -> str:
    """Return author and date in parentheses, when it ceased to hold, and the dates that its words mean."""
    day = f"{hit.sent_at:%Y-%m-%d}" if hit.sent_at else None
    if hit.kind == "fact" and hit.sent_at and hit.sent_at > now:
        day = f"from {day}"
    ends = hit.valid_to and f"{'ended' if hit.valid_to <= now else 'until'} {hit.valid_to:%Y-%m-%d}"
    replaced = "replaced since" if hit.superseded_by else None
    lost = hit.unsupported and f"no longer supported: what it rests on was {hit.unsupported.because}"
    source = ", ".join(part for part in (hit.author_name, day, ends, *times, replaced, lost) if part)
    return f" ({source})" if source else ""


def _output(found: RelevantOutput, **fields: object) -> AnswerOutput:
    """Return an answer with the common fields; an arm of the search that did not run adds a note."""
    troubles = [f"{arm}: {state}" for arm, state in found.arms.items() if state != "ok"]
    return AnswerOutput(
        namespace=found.namespace,
        query=found.query,
        hits=found.hits,
        citations=[],
        notes=[*found.notes, *troubles],
        **{"text": "", **fields},  # type: ignore[arg-type]  # the callers above name fields of the struct
    )
