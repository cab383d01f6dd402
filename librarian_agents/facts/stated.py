"""Reads what somebody plainly states in a message: subject, predicate, object, and the sentence that says so.

Rules only, for English and Japanese. What a sentence asks, orders, wishes, supposes, doubts, denies without naming what
holds, quotes or passes on is no fact, and a text that gives orders to its reader states nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from librarian_agents.facts.english import english_statements, is_plain_english
from librarian_agents.facts.japanese import is_plain_japanese, japanese_statements

MAX_CHARS = 20_000
"""What is read of a message."""
ACCEPTED_FROM = 0.9
"""Precision of a form of sentence, as measured, from which what it states is accepted."""
LONGEST = 400
"""Characters of a sentence; what is longer is no sentence that somebody wrote."""

_KANA = re.compile(r"[\u3040-\u30ff]")
_FENCE = re.compile(r"^```.*?(?:^```\s*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\||On .{5,80} wrote:$|-{2,}|From:|Subject:|引用[:：]).*$", re.MULTILINE)
_END = re.compile(
    r"\n+|[。！？!?]+(?![」』\"”])|(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|No|vs))(?<!\b(?:Mrs|etc|e\.g|i\.e))"
    r"(?<!\ba\.m)(?<!\bp\.m)(?<!\bapprox)\.+(?=\s|$)"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """What `quote`, a literal part of a message, states. `by_author`: the subject is who wrote the message. `form`
    names the kind of sentence, `confidence` is how often such sentences were read rightly (0..1).
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
    """Return what a message of `author` states, in the order of its sentences, each once."""
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
    """Return whether `quote` stands in a sentence of a text that neither asks, orders, supposes, doubts nor quotes."""
    return any(quote in sentence and _plain(sentence) for sentence in sentences(text))


def _plain(sentence: str) -> bool:
    return is_plain_japanese(sentence) if _KANA.search(sentence) else is_plain_english(sentence)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences that the author of a text says: literal parts of it, without what is quoted line by line."""
    own = _QUOTED_LINE.sub("\n", _FENCE.sub("\n", text))
    at = 0
    for end in [*_END.finditer(own), None]:
        sentence = own[at : end.end() if end else len(own)].strip()
        at = end.end() if end else len(own)
        if sentence and len(sentence) <= LONGEST:
            yield sentence
