"""A candidate as read by a reasoner: its heading, its words, and the other candidates it names. Pure functions."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from librarian_agents.search.types import Candidate, Findings

Terms = Callable[[str], Sequence[str]]

_HEADING_CHARS = 120
_NOT_TITLES = (".", "。", ",", "、", "?", "？", "!", "！")
_SMALL_WORD = 3
_COMPARED_CHARS = 300
# Five folds of evidence_selection, whole loop: F1 .818 at 1, .843 at .7, .845 at .5, .844 at .3, .840 at 0.
_OTHER_WORDS = 0.5
_WORD = re.compile(r"[^\W_]+")
_BRACKETS = re.compile(r"\s*[(（\[［][^)）\]］]*[)）\]］]")
# A text about one thing names it in its first words.
_SUBJECT = re.compile(
    r"[“\"「]?([^.。\n(（]{2,80}?)[”\"」]?\s*(?:[(（][^)）]*[)）],?\s*)?(?:\bis\b|\bwas\b|\bare\b|\bwere\b|とは|は、)"
)
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+(?=\s|$)|[。！？]+|(?=\n)|$)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Passage:
    """A candidate, read once.

    `heading` and `plain` are lower-case words between single blanks, blanks at both ends, so that phrases of whole
    words can be searched; `relevance` and `rank` (0..1) are the tool's own scores.
    """

    index: int
    text: str
    heading: str
    plain: str
    terms: frozenset[str]
    heading_terms: frozenset[str]
    relevance: float
    rank: float
    source: str = ""
    page: str = ""
    source_terms: frozenset[str] = frozenset()

    @property
    def body(self) -> str:
        """The text without its title line."""
        first, _, rest = self.text.strip().partition("\n")
        return rest if rest.strip() and self.heading and plain(_BRACKETS.sub("", first)) == self.heading else self.text

    @property
    def held(self) -> frozenset[str]:
        """All its terms, including those of its source: the author of a message is part of it."""
        return self.terms | self.heading_terms | self.source_terms


def read_all(findings: Findings, questions: Sequence[str], terms: Terms) -> list[Passage]:
    """Return all candidates as passages, in order of first appearance; with the best scores of several searches.

    A search with other words than one of `questions` counts half: its first hit is the best for a lead, which need not
    be the requested item.
    """
    own = {_compared(question) for question in questions}
    opinions: dict[int, tuple[float, float]] = {}
    for search in findings.searches:
        trust = 1.0 if _compared(search.query) in own else _OTHER_WORDS
        for candidate, (relevance, rank) in zip(search.found, _opinions(search.found), strict=True):
            now = (trust * relevance, trust * rank)
            opinions[candidate.temp_index] = max(opinions.get(candidate.temp_index, (0.0, 0.0)), now)
    return [_read(candidate, *opinions[index], terms) for index, candidate in findings.candidates.items()]


def heading_of(text: str, terms: Terms) -> str:
    """Return a text's topic: its title line, otherwise the subject of its first sentence, otherwise nothing."""
    first, _, rest = text.strip().partition("\n")
    if rest.strip() and len(first) <= _HEADING_CHARS and not first.rstrip().endswith(_NOT_TITLES):
        return first.strip()
    subject = _SUBJECT.match(first.strip())
    return subject[1].strip() if subject and _is_name(subject[1]) and terms(subject[1]) else ""


def _compared(question: str) -> str:
    """Return the part of a question that its query holds."""
    return plain(question)[:_COMPARED_CHARS]


def _opinions(found: Sequence[Candidate]) -> list[tuple[float, float]]:
    """Return each candidate's score between the worst and the best of its search, and the reciprocal of its rank."""
    scores = [candidate.score for candidate in found if candidate.score is not None]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    scored = len(scores) == len(found) and high > low
    return [
        (
            (candidate.score - low) / (high - low) if scored and candidate.score is not None else 1 - rank / len(found),
            1 / (1 + rank),
        )
        for rank, candidate in enumerate(found)
    ]


def _read(candidate: Candidate, relevance: float, rank: float, terms: Terms) -> Passage:
    heading = _BRACKETS.sub("", heading_of(candidate.text, terms))
    return Passage(
        index=candidate.temp_index,
        text=candidate.text,
        heading=plain(heading) if heading else "",
        plain=plain(candidate.text),
        terms=frozenset(terms(candidate.text)),
        heading_terms=frozenset(terms(heading)),
        relevance=relevance,
        rank=rank,
        source=candidate.source or "",
        page=candidate.page or "",
        source_terms=frozenset(terms(candidate.source or "")),
    )


def _is_name(subject: str) -> bool:
    """Whether each of its longer words begins with a capital, or has no letter case."""
    return all(word[0].upper() == word[0] for word in subject.split() if len(word) > _SMALL_WORD)


def plain(text: str) -> str:
    """Return lower-case words between single blanks, with blanks at both ends."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def sentences(text: str) -> list[str]:
    """Return the sentences of a text verbatim."""
    return [found[0].strip() for found in _SENTENCE.finditer(text)]


def weights_of(words: Iterable[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each of `words` among `texts`: its inverse document frequency as in BM25."""
    held = Counter(word for text in texts for word in text)
    count = len(texts)
    return {word: math.log(1 + (count - held[word] + 0.5) / (held[word] + 0.5)) for word in set(words)}


def share(words: Iterable[str], held: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the weighted share (0..1) of `words` that `held` holds; 0 without words."""
    wanted = set(words)
    total = sum(weights[word] for word in wanted)
    return sum(weights[word] for word in wanted & held) / total if total else 0.0
