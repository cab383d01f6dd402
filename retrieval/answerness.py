"""Answers over questions: of two messages about a thing, the one that tells it is worth more than the one that asks.

Pure functions. The adjustments are small against the range of calibrated similarity (0..1): they decide between near
equals and never lift an unrelated message.
"""

import re
from typing import Protocol

from retrieval.stopwords import ENGLISH

QUESTION_PENALTY = -0.05
ASSISTANT_BONUS = 0.05
MAX_WORD_BONUS = 0.03
DIRECT_ANSWER_BONUS = 0.02

_WORD = re.compile(r"\w+")
_ENGLISH_QUESTION = re.compile(
    r"\s*(?:what|when|where|who|whom|whose|which|why|how|is|are|was|were|do|does|did|can|could|should|would|will|have|has)"
    r"\b",
    re.IGNORECASE,
)
_JAPANESE_QUESTION = re.compile(
    r"\s*(?:何|なに|なん|いつ|どこ|誰|だれ|どれ|どの|どちら|どっち|どう|なぜ|なんで|どうして|いくつ|いくら)"
)
_JAPANESE_ENDING = re.compile(r"(?:ですか|ますか|でしょうか|ましたか|でしたか|のか)[。\s]*$")
_DIRECT_ANSWER = re.compile(
    r"(?:^|[.!。\n]\s*)(?:(?:yes|no|because|it is|it was|it's|that is|that was|that's|here is|here's)\b"
    r"|the answer is|you (?:can|should|need)\b|はい|いいえ|答えは|それは|なぜなら|結論)",
    re.IGNORECASE,
)


class Answerable(Protocol):
    """The fields of a hit that decide its worth as an answer; `score` is its calibrated similarity (0..1)."""

    @property
    def content(self) -> str:
        """Its text."""

    @property
    def score(self) -> float:
        """Its calibrated similarity to the query."""

    @property
    def role(self) -> str | None:
        """The speaker's role, such as user or assistant."""


def score_hit_for_query(hit: Answerable, query: str) -> float:
    """Return the hit's score, adjusted for how likely it answers `query`; may leave 0..1 by up to a tenth.

    -0.05 for a question, +0.05 for an assistant's message, up to +0.03 for the share of the query's words it holds,
    +0.02 for a direct answer ("yes", "the answer is", …) in an assistant's message.
    """
    assistant = (hit.role or "").casefold() == "assistant"
    score = hit.score + MAX_WORD_BONUS * overlap(query, hit.content)
    if is_question(hit.content):
        score += QUESTION_PENALTY
    if assistant:
        score += ASSISTANT_BONUS
        if _DIRECT_ANSWER.search(hit.content):
            score += DIRECT_ANSWER_BONUS
    return score


def is_question(text: str) -> bool:
    """Return whether `text` asks: it has a question mark, starts with a question word, or ends like a Japanese
    question.
    """
    if "?" in text or "？" in text:
        return True
    return bool(_ENGLISH_QUESTION.match(text) or _JAPANESE_QUESTION.match(text) or _JAPANESE_ENDING.search(text))


def overlap(query: str, content: str) -> float:
    """Return the share (0..1) of the query's topical words that `content` holds."""
    wanted = {word for word in _WORD.findall(query.casefold()) if word not in ENGLISH}
    if not wanted:
        return 0.0
    text = content.casefold()
    words = set(_WORD.findall(text))
    # Words of a script without blanks are searched inside the text.
    held = [word for word in wanted if word in words or (not word.isascii() and word in text)]
    return len(held) / len(wanted)
