"""Answers with citations: one question and its evidence to a chat model, its reply checked as it comes."""

import html
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from librarian_agents.answer.citations import CitationChecker, uncited_sentences
from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.errors import UnusableReply
from librarian_agents.prompts import prompt

# What the prompt asks for where the evidence does not answer.
NO_ANSWER = "NO_ANSWER"


@dataclass(frozen=True, slots=True)
class Question:
    """What to answer: `context` is the delimited evidence, `known` maps each name of a hit to the id it is cited by;
    `now` is the moment that the question is seen from.
    """

    text: str
    context: str
    known: Mapping[str, str]
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A checked reply. `refused`: the model finds no answer in the evidence; then `text` is empty.

    `cited` and `invented` are ids, each once; what was invented is no longer in `text`. `uncited` are sentences.
    """

    text: str
    refused: bool
    cited: list[str]
    invented: list[str]
    uncited: list[str]


@dataclass(slots=True)
class ReplyReader:
    """Reads a reply piece by piece, in any pieces to the same end."""

    known: Mapping[str, str]
    refused: bool = False
    _head: str | None = ""
    _passed: list[str] = field(default_factory=list)
    _checker: CitationChecker = field(init=False)

    def __post_init__(self) -> None:
        self._checker = CitationChecker(self.known)

    def feed(self, piece: str) -> str:
        """What can be shown now: nothing while the reply may still be a refusal."""
        if self.refused:
            return ""
        if self._head is None:
            return self._pass(self._checker.feed(piece))
        self._head = (self._head + piece).lstrip()
        if self._head.startswith(NO_ANSWER):
            self.refused = True
        if self.refused or NO_ANSWER.startswith(self._head):
            return ""
        head, self._head = self._head, None
        return self._pass(self._checker.feed(head))

    def finish(self) -> tuple[str, Reply]:
        """What was still held back, and the whole reply."""
        held = ""
        if not self.refused:
            held = self._pass(self._checker.feed(self._head or "") + self._checker.finish())
        text = "".join(self._passed)
        checker = self._checker
        return held, Reply(text, self.refused, checker.cited, checker.invented, uncited_sentences(text))

    def _pass(self, text: str) -> str:
        self._passed.append(text)
        return text


def messages_of(question: Question) -> list[ChatMessage]:
    """The instructions as system's, the evidence and the question, both delimited, as the user's."""
    now = f"<now>{question.now:%Y-%m-%d %H:%M, %A}</now>\n\n" if question.now else ""
    asked = f"{question.context}\n\n{now}<question>\n{html.escape(question.text, quote=False)}\n</question>"
    return [ChatMessage("system", prompt("answer")), ChatMessage("user", asked)]


async def replies(model: ChatModel, question: Question, *, streamed: bool) -> AsyncGenerator[str | Reply, None]:
    """The checked text as it comes, then the whole reply.

    Raises ChatModelError; UnusableReply when the reply cites nothing of the evidence, so that nothing supports it.
    """
    reader = ReplyReader(question.known)
    async for piece in _pieces(model, question, streamed=streamed):
        if shown := reader.feed(piece):
            yield shown
    shown, reply = reader.finish()
    if not reply.refused and not reply.cited:
        raise UnusableReply("The language model's reply cites none of the hits.")
    if shown:
        yield shown
    yield reply


async def _pieces(model: ChatModel, question: Question, *, streamed: bool) -> AsyncIterator[str]:
    messages = messages_of(question)
    if not streamed:
        yield await model.complete(messages)
        return
    async for piece in model.stream(messages):
        yield piece
