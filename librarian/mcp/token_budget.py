"""Cuts answers to a number of tokens: first the ends of lists, then the ends of texts, with a note."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from retrieval.tokens import tokens

MARK = " […]"
# Minimum length of a cut text, so that it is still recognisable.
_SHORTEST = 80


class Cut(NamedTuple):
    """Parts left out of one answer: elements of lists and shortened texts, by their paths."""

    elements: dict[str, int]
    texts: list[str]

    def __bool__(self) -> bool:
        return bool(self.elements or self.texts)

    def message(self, max_tokens: int) -> str:
        """Return one sentence for the model."""
        left_out = [f"the last {count} of {path}" for path, count in self.elements.items()]
        cut_short = [f"the ends of {len(self.texts)} texts"] if self.texts else []
        return f"Left out to stay below {max_tokens} tokens: {', '.join(left_out + cut_short)}."


def within(answer: Any, max_tokens: int) -> Cut:
    """Cut `answer` (lists, dicts and texts, as JSON has them) in place until it takes at most `max_tokens` as JSON.

    The largest list loses its last elements (in ranked answers, the worst) but always keeps one; when no list has
    more than one, the longest texts lose their ends. Other values stay, however large.
    """
    cut = Cut({}, [])
    while (excess := _tokens_of(answer) - max_tokens) > 0:
        if not (_shorten_list(answer, excess, cut) or _shorten_text(answer, excess, cut)):
            break
    return cut


def _tokens_of(value: Any) -> int:
    return tokens(msgspec.json.encode(value).decode())


def _shorten_list(answer: Any, excess: int, cut: Cut) -> bool:
    lists = [(path, found) for path, found in _walk(answer, "$") if isinstance(found, list) and len(found) > 1]
    if not lists:
        return False
    path, largest = max(lists, key=lambda each: _tokens_of(each[1]))
    dropped = freed = 0
    while freed < excess and len(largest) > 1:
        freed += _tokens_of(largest.pop())
        dropped += 1
    cut.elements[path] = cut.elements.get(path, 0) + dropped
    return True


def _shorten_text(answer: Any, excess: int, cut: Cut) -> bool:
    texts = [
        (holder, name, f"{path}.{name}")
        for path, holder in _walk(answer, "$")
        if isinstance(holder, dict)
        for name, value in holder.items()
        if isinstance(value, str) and len(value) > _SHORTEST
    ]
    if not texts:
        return False
    holder, name, path = max(texts, key=lambda each: len(each[0][each[1]]))
    text = holder[name].removesuffix(MARK)
    # A character takes at most one token, so cutting one character per excess token never cuts too much.
    keep = max(_SHORTEST - len(MARK), min(len(text) - excess, len(text) - len(MARK) - 1))
    holder[name] = text[:keep] + MARK
    if path not in cut.texts:
        cut.texts.append(path)
    return True


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every list and dict of `value`, with its path."""
    if isinstance(value, dict | list):
        yield path, value
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in inner:
            yield from _walk(child, f"{path}.{key}" if isinstance(value, dict) else f"{path}[{key}]")
