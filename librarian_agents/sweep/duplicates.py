"""Whether two texts are equivalent, so that one may be merged into the other. Pure."""

import re

from librarian_agents.sweep.losses import losses

NEAR_DUPLICATE = 0.8
"""Minimum share of common words of equivalent texts."""

_FEWEST_WORDS = 5
_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?<=\w{3})(?:es|ed|s|d|e|ing)$")
# Only these may be missing from the fuller text: another content word ("once", "twice") may contradict it, and so may a
# word that distinguishes the roles ("from", "to", "by").
_FUNCTION_WORDS = frozenset({
    "a", "an", "the", "of", "in", "on", "at", "for", "with", "as", "and", "or", "that", "this", "these", "those",
    "it", "its", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does", "did",
    "will", "we", "they", "i", "our", "their", "so", "then", "there", "here", "also", "just",
})  # fmt: skip
# May differ in the wording of a statement without changing its meaning.
_TOLD = frozenset({"number", "negation", "url", "path", "code"})


def says_the_same(shorter: str, fuller: str) -> bool:
    """Return whether two texts are near-duplicates and the fuller one covers the other.

    It must have every content word in the same order (who approves whose budget), and every number, name and negation.
    """
    if common_words(shorter, fuller) < NEAR_DUPLICATE:
        return False
    words = iter(_content(fuller))
    if not all(word in words for word in _content(shorter)):
        return False
    if any(loss.kind == "negation" for loss in losses(fuller, shorter)):
        return False
    return not any(loss.kind in _TOLD for loss in losses(shorter, fuller))


def _content(text: str) -> list[str]:
    return [_ENDING.sub("", word) for word in _WORD.findall(text.casefold()) if word not in _FUNCTION_WORDS]


def common_words(one: str, other: str) -> float:
    """Return the share of common words of two texts, 0-1; 0 for texts too short to tell."""
    first, second = (set(_WORD.findall(text.casefold())) for text in (one, other))
    if one != other and min(len(first), len(second)) < _FEWEST_WORDS:
        return 0.0
    return len(first & second) / max(1, len(first | second))
