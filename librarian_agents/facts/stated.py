"""Reads plain statements in a message: subject, predicate, object, and the sentence that states them.

Rules only, for English and Japanese. A sentence that asks, orders, wishes, supposes, doubts, denies without naming the
truth, quotes or reports others states no fact, and neither does a text that gives orders to its reader.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from librarian_agents.facts.english import english_statements, is_plain_english
from librarian_agents.facts.japanese import is_plain_japanese, japanese_statements

MAX_CHARS = 20_000
"""Characters of a message that are read."""
ACCEPTED_FROM = 0.9
"""Measured precision of a form of sentence from which on its statements are accepted."""
LONGEST = 400
"""Characters of a sentence; nobody writes longer ones."""

_KANA = re.compile(r"[\u3040-\u30ff]")
_FENCE = re.compile(r"^```.*?(?:^```\s*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\||On .{5,80} wrote:$|-{2,}|From:|Subject:|引用[:：]).*$", re.MULTILINE)
_END = re.compile(
    r"\n+|[。！？!?]+(?![」』\"”])|(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|No|vs))(?<!\b(?:Mrs|etc|e\.g|i\.e))"
    r"(?<!\ba\.m)(?<!\bp\.m)(?<!\bapprox)\.+(?=\s|$)"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement in `quote`, a literal part of a message. `by_author`: the subject is the author of the message.
    `form` names the kind of sentence, `confidence` is the share of such sentences that were read correctly (0..1).
    """

    subject: str
    predicate: str
    object: str
    quote: str = field(repr=False)
    form: str
    confidence: float
    by_author: bool = False
    method: Literal["rule", "llm"] = "rule"


def stated_facts(text: str, author: str) -> list[Stated]:
    """Return the statements of a message by `author`, in the order of its sentences, without duplicates."""
    found: dict[tuple[str, str, str], Stated] = {}
    for sentence in sentences(text[:MAX_CHARS]):
        japanese = _KANA.search(sentence)
        for said in (japanese_statements if japanese else english_statements)(sentence, author):
            fact = Stated(
                said.subject, said.predicate, said.object, sentence, said.form, said.confidence, said.by_author
            )
            found.setdefault((said.subject, said.predicate, said.object), fact)
    return list(found.values())


def plainly_said(quote: str, text: str) -> bool:
    """Return whether `quote` is in a sentence of a text that neither asks, orders, supposes, doubts nor quotes."""
    return any(quote in sentence and _plain(sentence) for sentence in sentences(text))


def _plain(sentence: str) -> bool:
    return is_plain_japanese(sentence) if _KANA.search(sentence) else is_plain_english(sentence)


def sentences(text: str) -> Iterator[str]:
    """Yield the author's own sentences: literal parts of the text, without lines quoted from others."""
    own = _QUOTED_LINE.sub("\n", _FENCE.sub("\n", text))
    at = 0
    for end in [*_END.finditer(own), None]:
        sentence = own[at : end.end() if end else len(own)].strip()
        at = end.end() if end else len(own)
        if sentence and len(sentence) <= LONGEST:
            yield sentence
