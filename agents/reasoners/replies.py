"""What a language model replies, read strictly: only numbers that exist, only quotes that stand in their text."""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar

from agents.errors import UnusableReply
from agents.selection import quoted
from agents.types import Candidate, Need, Support

_T = TypeVar("_T")
Read = Callable[[Any], _T]

_QUERIES_READ = 4
# Shorter quotes stand in any text.
_SHORTEST_QUOTE = 3
_FENCE = re.compile(r"\A\s*(?:<think>.*?</think>)?\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

QUERIES: Mapping[str, Any] = {
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}, "maxItems": _QUERIES_READ}},
    "required": ["queries"],
    "additionalProperties": False,
}
JUDGEMENT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "needs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "item": {"type": "integer"},
                    "evidence": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"temp_index": {"type": "integer"}, "quote": {"type": "string"}},
                            "required": ["temp_index", "quote"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["item", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["needs"],
    "additionalProperties": False,
}


def read_json(reply: str) -> Any:
    """The JSON of a reply, with or without a fence round it or thoughts before it. Raises UnusableReply."""
    fenced = _FENCE.match(reply)
    text = fenced[1] if fenced else _THOUGHT.sub("", reply)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableReply("The reply is no JSON.") from None


def queries_of(reply: Any) -> list[str]:
    """The queries of a plan, possibly none. Raises UnusableReply."""
    queries = _list(reply, "queries")
    if not all(isinstance(query, str) for query in queries):
        raise UnusableReply('"queries" has to be a list of texts.')
    return queries[:_QUERIES_READ]


def needs_of(reply: Any, items: Sequence[str], shown: Mapping[int, Candidate]) -> tuple[Need, ...]:
    """The needs of a judgement, without evidence that does not exist. Raises UnusableReply.

    A need whose evidence falls away stays, as one that is missing.
    """
    return tuple(_needs(_list(reply, "needs"), items, shown))


def _needs(given: Sequence[Any], items: Sequence[str], shown: Mapping[int, Candidate]) -> Iterator[Need]:
    for need in given:
        if not isinstance(need, dict) or not _is_number(need.get("item")):
            raise UnusableReply('Each need takes the number of an "item" and a list "evidence".')
        if 1 <= need["item"] <= len(items):
            found = [_support(one, shown) for one in _list(need, "evidence")]
            yield Need(items[need["item"] - 1], "", tuple(one for one in found if one))


def _support(given: Any, shown: Mapping[int, Candidate]) -> Support | None:
    if not isinstance(given, dict):
        raise UnusableReply('Each piece of evidence takes "temp_index" and "quote".')
    index, quote = given.get("temp_index"), given.get("quote")
    if not _is_number(index) or not isinstance(quote, str):
        raise UnusableReply('Each piece of evidence takes a number "temp_index" and a text "quote".')
    # The model sees texts with < and & written as entities, and may copy them like that.
    quote = html.unescape(quote).strip()
    if index not in shown or len(quote) < _SHORTEST_QUOTE or not quoted(quote, shown[index].text):
        return None
    return Support(index, quote, 1.0)


def _list(reply: Any, key: str) -> list[Any]:
    found = reply.get(key) if isinstance(reply, dict) else None
    if not isinstance(found, list):
        raise UnusableReply(f'The reply has to be an object with a list "{key}".')
    return found


def _is_number(value: Any) -> TypeGuard[int]:
    return type(value) is int
