"""Facts that a language model finds in a message, each accepted only with a literal quote from it."""

import html
import json
from collections.abc import Mapping
from typing import Any

from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.errors import UnusableReply
from librarian_agents.facts.stated import ACCEPTED_FROM, LONGEST, Stated, plainly_said
from librarian_agents.prompts import prompt
from librarian_agents.secrets import masked

SURE, UNSURE = 0.8, 0.55
"""Confidence in a fact whose quote is genuine; neither is enough without a human."""
MAX_CHARS = 4_000
_PARTS = ("subject", "predicate", "object", "quote")
_MOST = 20

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "maxItems": _MOST,
            "items": {
                "type": "object",
                "properties": {**{name: {"type": "string"} for name in _PARTS}, "sure": {"type": "boolean"}},
                "required": [*_PARTS, "sure"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
"""JSON Schema of the reply."""


def messages_of(text: str, author: str) -> list[ChatMessage]:
    """Return the instructions as a system message, and the delimited message as the user's."""
    quoted = html.escape(masked(text[:MAX_CHARS]), quote=False)
    question = f"author: {html.escape(author, quote=False)}\n<message>\n{quoted}\n</message>"
    return [ChatMessage("system", prompt("facts")), ChatMessage("user", question)]


async def told_facts(model: ChatModel, text: str, author: str) -> list[Stated]:
    """Return the facts that the model names and the message states: their quotes are in it, in sentences that state
    something.

    Raises ChatModelError; UnusableReply if the reply is not the requested JSON.
    """
    reply = _parsed(await model.complete(messages_of(text, author), SCHEMA))
    found = [_believed(entry, text, author) for entry in reply]
    return [fact for fact in found if fact is not None]


def _parsed(reply: str) -> list[Mapping[str, Any]]:
    """Return the facts of a reply, around which an unconstrained server may have put other text."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        facts = json.loads(reply[start : end + 1])["facts"]
    except (ValueError, KeyError, TypeError):
        raise UnusableReply from None
    if not isinstance(facts, list):
        raise UnusableReply
    return [entry for entry in facts[:_MOST] if _fits(entry)]


def _fits(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) and entry[name].strip() for name in _PARTS)


def _believed(entry: Mapping[str, Any], text: str, author: str) -> Stated | None:
    """Return the fact if the message states it; None if the quote or the object is not in its place."""
    subject, predicate, object_, quote = (html.unescape(entry[name]).strip() for name in _PARTS)
    if len(quote) > LONGEST or object_.casefold() not in quote.casefold() or not plainly_said(quote, text):
        return None
    if author.casefold() not in subject.casefold() and subject.casefold() not in text.casefold():
        return None
    confidence = min(SURE if entry.get("sure") is True else UNSURE, ACCEPTED_FROM)
    by_author = subject.casefold() == author.casefold()
    return Stated(subject, predicate, object_, quote, "a language model reads it so", confidence, by_author, "llm")
