"""A language model's word on memories whose type the markers and the trained head leave open.

It is asked for one digit, whose alternatives' log-probabilities give the confidence; of a server that gives none it is
asked again for JSON. A type that the head holds for unlikely is never written without a human, however sure the model
is of it: so the model adds to what is decided and does not make it worse.
"""

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.errors import UnusableReply
from librarian_agents.prompts import prompt
from librarian_agents.secrets import masked
from librarian_agents.sweep.classify import ACCEPTED, Verdict
from librarian_agents.sweep.memory_types import MemoryType

MAX_CHARS = 4_000
"""How much of a memory the model sees."""

SURE, UNSURE = 0.8, 0.55
"""Confidence in a type told as JSON, by whether the model says that it is sure."""

BOUND = ACCEPTED - 0.01
"""The most that a type counts which the head does not hold for one of the LIKELY likeliest."""

LIKELY = 3

NUMBERS: Mapping[str, MemoryType] = {str(number): type_ for number, type_ in enumerate(MemoryType, start=1)}
"""How the prompt numbers the types: one token each, and, unlike letters, the beginning of no sentence."""

_ENOUGH = 0.5

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"type": {"enum": list(MemoryType)}, "sure": {"type": "boolean"}},
    "required": ["type", "sure"],
    "additionalProperties": False,
}
"""JSON Schema of the reply where there are no log-probabilities."""

_BY_NUMBER = "Answer with the number of its type and nothing else."
_BY_JSON = 'Answer with JSON and nothing else: {"type": "<name of the type>", "sure": true or false}'


class LabelModel(ChatModel, Protocol):
    """A language model that may tell how likely its first words were. All verbs raise ChatModelError."""

    async def first_tokens(self, messages: Sequence[ChatMessage]) -> Mapping[str, float]:
        """Tokens with which the reply may begin and their natural log-probabilities; empty where the server gives
        none.
        """


def undecided(verdict: Verdict) -> bool:
    """Whether a model may be asked: neither the markers nor the head are sure."""
    return verdict.confidence < ACCEPTED


async def label_memory(model: LabelModel, content: str, verdict: Verdict) -> Verdict:
    """The model's verdict on `content`, of which `verdict` is the head's; a decided one is returned as it is.

    Raises ChatModelError; UnusableReply where the reply names no type.
    """
    if not undecided(verdict):
        return verdict
    type_, confidence = await _told(model, content)
    if verdict.probabilities is not None and type_ not in _likeliest(verdict.probabilities):
        confidence = min(confidence, BOUND)
    evidence = (f"labelled by {model.name}",)
    return replace(verdict, type=type_, confidence=confidence, method="llm", evidence=evidence)


def messages_of(content: str, request: str) -> list[ChatMessage]:
    """The instructions as system's, the memory, delimited, as the user's."""
    quoted = html.escape(masked(content[:MAX_CHARS]), quote=False)
    return [
        ChatMessage("system", prompt("memory_type")),
        ChatMessage("user", f"<memory>\n{quoted}\n</memory>\n{request}"),
    ]


async def _told(model: LabelModel, content: str) -> tuple[MemoryType, float]:
    weights = _numbered(await model.first_tokens(messages_of(content, _BY_NUMBER)))
    if not weights:
        return _parsed(await model.complete(messages_of(content, _BY_JSON), SCHEMA))
    type_ = max(weights, key=lambda one: weights[one])
    return type_, weights[type_] / sum(weights.values())


def _numbered(tokens: Mapping[str, float]) -> dict[MemoryType, float]:
    """The probability of each type whose number is among the tokens; empty where the model mostly means to say
    something else.
    """
    weights: dict[MemoryType, float] = {}
    for token, logprob in tokens.items():
        if type_ := NUMBERS.get(token.strip()):
            weights[type_] = weights.get(type_, 0.0) + math.exp(min(0.0, logprob))
    return weights if sum(weights.values()) >= _ENOUGH else {}


def _parsed(reply: str) -> tuple[MemoryType, float]:
    """The type in a JSON reply, which a server that cannot constrain it may have wrapped in words."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        reply_object = json.loads(reply[start : end + 1])
        return MemoryType.parse(reply_object["type"]), SURE if reply_object.get("sure") is True else UNSURE
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnusableReply from None


def _likeliest(probabilities: Mapping[MemoryType, float]) -> Sequence[MemoryType]:
    return sorted(probabilities, key=lambda type_: -probabilities[type_])[:LIKELY]
