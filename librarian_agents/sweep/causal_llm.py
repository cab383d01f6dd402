"""A language model's verdict where the rules are undecided, trusted only with quotes that occur in the texts."""

import html
import json
from collections.abc import Mapping
from typing import Any

from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.errors import UnusableReply
from librarian_agents.prompts import prompt
from librarian_agents.secrets import masked
from librarian_agents.sweep.causal_terms import MAX_CHARS
from librarian_agents.sweep.causal_types import Direction, Note, Relation, Verdict

SURE, UNSURE = 0.8, 0.55
"""Confidence in a verdict with genuine quotes: a sure one is accepted, any other is proposed."""
_NO_RELATION = "NONE"
_SHORTEST_QUOTE = 3

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "relation": {"enum": ["CAUSES", "BLOCKS", "ENABLES", _NO_RELATION]},
        "source": {"enum": ["first", "second"]},
        "source_quote": {"type": "string"},
        "target_quote": {"type": "string"},
        "sure": {"type": "boolean"},
    },
    "required": ["relation", "source", "source_quote", "target_quote", "sure"],
    "additionalProperties": False,
}
"""JSON Schema of the reply."""


def undecided(verdict: Verdict) -> bool:
    """Whether a model may be asked: the rules have not settled on a typed edge."""
    return not (verdict.causal and verdict.accepted)


def messages_of(first: Note, second: Note) -> list[ChatMessage]:
    """Return the instructions as system message, and both notes, delimited, as user message."""
    quoted = [html.escape(masked(note.text[:MAX_CHARS]), quote=False) for note in (first, second)]
    asked = f"<first>\n{quoted[0]}\n</first>\n<second>\n{quoted[1]}\n</second>"
    return [ChatMessage("system", prompt("causal")), ChatMessage("user", asked)]


async def judge_relationship(model: ChatModel, first: Note, second: Note) -> Verdict:
    """Return the model's verdict; one with quotes not in the texts, or against the order of time, has no relation.

    Raises ChatModelError; UnusableReply if the reply is not the requested JSON.
    """
    reply = _parsed(await model.complete(messages_of(first, second), SCHEMA))
    if reply["relation"] == _NO_RELATION:
        return Verdict(reason="the language model sees no relation", method="llm")
    forward = reply["source"] == "first"
    source, target = (first, second) if forward else (second, first)
    quotes = _literal(reply["source_quote"], source.text), _literal(reply["target_quote"], target.text)
    if not all(quotes):
        return Verdict(reason="the language model quotes what the texts do not say", method="llm")
    if _backwards(source, target):
        return Verdict(reason="the language model has the cause come after its effect", method="llm")
    return Verdict(
        Relation(reply["relation"]),
        Direction.FORWARD if forward else Direction.BACKWARD,
        SURE if reply["sure"] else UNSURE,
        *quotes,
        reason=f"judged by {model.name}",
        method="llm",
    )


def _parsed(reply: str) -> Mapping[str, Any]:
    """Return the object of a reply, which a server without constrained output may have wrapped in words."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        value = json.loads(reply[start : end + 1])
    except ValueError:
        raise UnusableReply from None
    if not _fits(value):
        raise UnusableReply
    return dict(value)


def _fits(value: object) -> bool:
    if not isinstance(value, dict) or value.get("relation") not in SCHEMA["properties"]["relation"]["enum"]:
        return False
    if value["relation"] == _NO_RELATION:
        return True
    quoted = all(isinstance(value.get(name), str) for name in ("source_quote", "target_quote"))
    return quoted and value.get("source") in ("first", "second") and isinstance(value.get("sure"), bool)


def _literal(quote: str, text: str) -> str:
    """Return the quote as it occurs in `text`; empty if it does not, or is too short to be evidence."""
    quote = html.unescape(quote).strip()
    return quote if len(quote) >= _SHORTEST_QUOTE and quote in text else ""


def _backwards(source: Note, target: Note) -> bool:
    return source.occurred_at is not None and target.occurred_at is not None and source.occurred_at > target.occurred_at
