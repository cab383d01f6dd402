"""A language model's verdict on memories whose type the markers and the trained head leave open.

It is asked for one digit, and the log-probabilities of the alternatives give the confidence; a server without them is
asked again for JSON. A type that the head finds unlikely is never written without a human, regardless of the model's
certainty: so the model adds decisions and does not make them worse.
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
"""Characters of a memory that the model sees."""

SURE, UNSURE = 0.8, 0.55
"""Confidence in a type given as JSON, by whether the model says that it is sure."""

BOUND = ACCEPTED - 0.01
"""Maximum confidence of a type that is not among the head's LIKELY likeliest."""

LIKELY = 3

NUMBERS: Mapping[str, MemoryType] = {str(number): type_ for number, type_ in enumerate(MemoryType, start=1)}
"""Numbers of the types in the prompt: one token each, and, unlike letters, never the start of a sentence."""

_ENOUGH = 0.5

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"type": {"enum": list(MemoryType)}, "sure": {"type": "boolean"}},
    "required": ["type", "sure"],
    "additionalProperties": False,
}
"""JSON Schema of the reply if there are no log-probabilities."""

_BY_NUMBER = "Answer with the number of its type and nothing else."
_BY_JSON = 'Answer with JSON and nothing else: {"type": "<name of the type>", "sure": true or false}'


class LabelModel(ChatModel, Protocol):
    """A language model that may report the probabilities of its first tokens. All methods raise ChatModelError."""

    async def first_tokens(self, messages: Sequence[ChatMessage]) -> Mapping[str, float]:
        """Return possible first tokens of the reply and their natural log-probabilities; empty if there are none."""


def undecided(verdict: Verdict) -> bool:
    """Whether a model may be asked: neither the markers nor the head are sure."""
    return verdict.confidence < ACCEPTED


async def label_memory(model: LabelModel, content: str, verdict: Verdict) -> Verdict:
    """Return the model's verdict on `content`, given the head's `verdict`; a decided one is returned unchanged.

    Raises ChatModelError; UnusableReply if the reply names no type.
    """
    if not undecided(verdict):
        return verdict
    type_, confidence = await _told(model, content)
    if verdict.probabilities is not None and type_ not in _likeliest(verdict.probabilities):
        confidence = min(confidence, BOUND)
    evidence = (f"labelled by {model.name}",)
    return replace(verdict, type=type_, confidence=confidence, method="llm", evidence=evidence)


def messages_of(content: str, request: str) -> list[ChatMessage]:
    """Return the instructions as system message, and the memory, delimited, as user message."""
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
    """Return the probability of each type with its number among the tokens; empty if other tokens prevail."""
    weights: dict[MemoryType, float] = {}
    for token, logprob in tokens.items():
        if type_ := NUMBERS.get(token.strip()):
            weights[type_] = weights.get(type_, 0.0) + math.exp(min(0.0, logprob))
    return weights if sum(weights.values()) >= _ENOUGH else {}


def _parsed(reply: str) -> tuple[MemoryType, float]:
    """Return the type in a JSON reply, which a server without constrained output may have wrapped in words."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        reply_object = json.loads(reply[start : end + 1])
        return MemoryType.parse(reply_object["type"]), SURE if reply_object.get("sure") is True else UNSURE
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnusableReply from None


def _likeliest(probabilities: Mapping[MemoryType, float]) -> Sequence[MemoryType]:
    return sorted(probabilities, key=lambda type_: -probabilities[type_])[:LIKELY]
