"""Features of a text for the trained heads: words and signs that do not depend on a project's topic. Pure.

Names, numbers, identifiers and addresses become placeholders: they distinguish projects, not types of memories.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from librarian_agents.sweep.markers import MAX_CHARS, markers
from librarian_agents.sweep.phrases import compiled, lower_case

_MASKS = (
    (re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE), " qblock "),
    (re.compile(r"\]\((?!https?:)[^)\s]*\)"), "] qlink "),
    (re.compile(r"<?(?:https?://|www\.)[^\s)>\]]+"), " qurl "),
    (re.compile(r"`[^`\n]+`|``[^\n]+?``"), " qcode "),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?|\b\d\d?[-/.]\d\d?[-/.]\d{4}"), " qdate "),
    (re.compile(r"(?<![\w.~-])[\w.~-]*+(?:[/\\][\w.@*-]+)+/?|\b[\w-]+\.[a-z]{1,4}\b(?!\.)"), " qpath "),
    (re.compile(r"\b\w*_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b\w+(?:::|\()\w*\)?"), " qident "),
    (re.compile(r"#\d+|\b[vV]?\d+(?:[.,:]\d+)*%?"), " qnum "),
    (re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b"), "qname"),
)
_ADDRESSES = 3
"""Number of masks that hide code blocks and addresses, whose letters carry no information."""

PLACEHOLDERS = frozenset(placeholder.strip("] ") for _, placeholder in _MASKS)
"""Words of features that stand for names, numbers and code, not for themselves."""

_WORD = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]+(?:['’][a-z]+)?|"
    r"[\u3040-\u309f]{1,4}|[\u30a0-\u30ff]+|[\u3400-\u9fff]{1,2}|[?!:→|✅❌☑✓✔]"
)
# The form of a text, regardless of its topic: logs tick boxes, references are tables of links.
_FORMS = {
    name: re.compile(pattern, re.MULTILINE)
    for name, pattern in {
        "bold": r"\*\*[^*\n]+\*\*",
        "bullet": r"^\s*[-*+•] ",
        "date": r"\d{4}-\d\d-\d\d",
        "heading": r"^#{1,6} ",
        "label": r"^\s*[-*]?\s*\**[A-Z][\w ]{2,25}\**:",
        "number": r"^\s*\d+[.)] ",
        "percent": r"\d\s?%",
        "question": r"[?？]\s*$",
        "table": r"^\s*\|",
        "ticket": r"^\W*[A-Z][A-Z0-9]+-\d+\b",
        "tick": r"[✅☑✔🎉⏳🚧❌]|^\s*[-*]?\s*\[[ xX]\]",
    }.items()
}
_LAYOUT = frozenset(f"form:{name}" for name in ("bold", "bullet", "heading", "label", "number", "table"))
_KANA = re.compile(r"[\u3040-\u309f]{2,}")
_SENTENCE_END = re.compile(r"[。！？\n]|\Z")
_LETTERS = range(2, 5)
_LAST_LETTERS = range(2, 6)
_HAS_FORM = 0.5
_FIRST_WORDS = 3
_MOST = 2.0


@dataclass(frozen=True, slots=True)
class Features:
    """Words and signs of a text, with their values.

    `words` are Latin ones, adjacent pairs of them and pieces of hiragana, with their counts; `signs` have values
    (0..2): `first:n:word` for the first words of a text, `end:letters` for the endings of its Japanese sentences,
    `marker:type` for its own markers, `form:name` for its form, `lexicon:name` for its vocabulary.
    """

    words: Mapping[str, int]
    signs: Mapping[str, float]

    @property
    def laid_out(self) -> bool:
        """Whether the text is more than sentences: it has headings, lists, tables, labels or bold type."""
        return not _LAYOUT.isdisjoint(self.signs)


def features(text: str) -> Features:
    """Return the features of the first MAX_CHARS characters of `text`."""
    seen = text[:MAX_CHARS]
    words = [word.casefold() for word in _WORD.findall(mask(seen))]
    signs = {f"first:{index}:{word}": 1.0 for index, word in enumerate(words[:_FIRST_WORDS])}
    signs.update(dict.fromkeys(_endings(seen), 1.0))
    counts = Counter([*words, *_pairs(words), *_pieces(seen)])
    return Features(counts, {**signs, **dict(_marked(seen)), **dict(_formed(seen)), **dict(_told(seen))})


def _pairs(words: Sequence[str]) -> Iterator[str]:
    latin = [word.isascii() and word.isalpha() for word in words]
    for place, (one, other) in enumerate(pairwise(words)):
        if latin[place] and latin[place + 1]:
            yield f"{one} {other}"


def _pieces(text: str) -> Iterator[str]:
    """Yield the pieces of hiragana of two to four letters: a Japanese verb's ending carries its function."""
    for run in _KANA.findall(text):
        yield from (run[at : at + size] for size in _LETTERS for at in range(len(run) - size + 1))


def _endings(text: str) -> Iterator[str]:
    """Yield the last two to five letters of each sentence that ends in hiragana."""
    for end in _SENTENCE_END.finditer(text):
        last = text[max(0, end.start() - _LAST_LETTERS[-1]) : end.start()].rstrip()
        if _KANA.search(last[-2:]):
            yield from (f"end:{last[-size:]}" for size in _LAST_LETTERS if size <= len(last))


def mask(text: str) -> str:
    """Return `text` with placeholders for names."""
    for pattern, placeholder in _MASKS:
        text = pattern.sub(placeholder, text)
    return text


def _marked(text: str) -> Iterator[tuple[str, float]]:
    counts = Counter(f"{'label' if one.strong else 'marker'}:{one.type}" for one in markers(text))
    return ((name, min(_MOST, math.log2(1 + count))) for name, count in counts.items())


def _formed(text: str) -> Iterator[tuple[str, float]]:
    """Yield the share of lines with each form (0..1), plus a bonus for having it at all."""
    lines = text.count("\n") + 1
    counts = {name: sum(1 for _ in pattern.finditer(text)) for name, pattern in _FORMS.items()}
    return ((f"form:{name}", _HAS_FORM + min(1.0, count / lines)) for name, count in counts.items() if count)


@cache
def lexicon() -> Mapping[str, re.Pattern[str]]:
    """Return the vocabulary of the types' texts, by name (features.toml), for text in lower case."""
    table = tomllib.loads(files("librarian_agents.sweep").joinpath("features.toml").read_text(encoding="utf-8"))[
        "lexicon"
    ]
    return {name: compiled("|".join(words), re.MULTILINE) for name, words in table.items()}


def _told(text: str) -> Iterator[tuple[str, float]]:
    for pattern, placeholder in _MASKS[:_ADDRESSES]:
        text = pattern.sub(placeholder, text)
    lower = lower_case(text)
    counts = {name: sum(1 for _ in pattern.finditer(lower)) for name, pattern in lexicon().items()}
    return ((f"lexicon:{name}", min(_MOST, math.log2(1 + count))) for name, count in counts.items() if count)
