"""Splits long texts into passages that an encoder can read whole, and writes an item's text in the form to encode."""

import re
from collections.abc import Collection

from retrieval.text import main_language

TEXT_FORM = "author-text-v1"
"""Name of the form that `embedding_text` writes; another form needs another name, since its vectors are another space.
"""

MAX_CHARS = 1_400
"""Longest passage, in Latin letters, digits and blanks; any other character, punctuation too, counts as three.

The default encoder reads 512 tokens. English prose has about 4 characters a token; a punctuation mark is a token of its
own, and so is, in its English vocabulary, a Japanese or Chinese character. So 1,400 stay below 470 tokens in prose,
source code and Japanese, with room for the author and a picture's caption. (Korean syllables are two or three tokens
there, but the model cannot read Korean anyway; models that can need fewer.) Longer passages would also blur: one
vector, many topics.
"""

OVERLAP = 150
"""A passage repeats up to this many characters of the previous one, so that text across a cut is whole in one of them.
"""

MAX_PASSAGES = 64
"""Passages of one text, about 80 kB of English. The rest (of a 10 MB text, say) has no vector: it is stored whole and
found by keyword search only. Without the cap one pasted log would occupy the encoder for minutes.
"""

_WIDE_COST = 3
_LAST_LATIN = "\u024f"

# Best place to cut first. A mark ends a sentence only before white space, except the full-width ones.
_BREAKS = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"[.!?]+[\"'”’)\]]*\s+|[。！？｡]+[」』）”’]*\s*|\n\s*"),
    re.compile(r"\s+|[、，；：]"),
)
_UNUSABLE = re.compile("[\ud800-\udfff\x00]")


def passages(text: str, *, max_chars: int = MAX_CHARS, overlap: int = OVERLAP) -> list[str]:
    """Return slices of `text` in reading order, each at most `max_chars` wide; [text] if it is short, [] if it is
    blank.

    They are cut at the end of a paragraph, a sentence or a word, in this order of preference, if one lies in the second
    half of the allowed width, and cover every character up to the MAX_PASSAGES-th slice. Raises ValueError for an
    overlap of more than an eighth of `max_chars`: a slice of wide characters could then end where the last one did.
    """
    if not 0 <= 8 * overlap <= max_chars:
        raise ValueError(f"overlap {overlap} must lie between 0 and an eighth of max_chars {max_chars}")
    if not text.strip():
        return []
    found: list[str] = []
    start = end = 0
    while end < len(text) and len(found) < MAX_PASSAGES:
        end = _cut(text, start, _reach(text, start, max_chars))
        found.append(text[start:end])
        start = _resume(text, end, overlap)
    return found


def readable(text: str, languages: Collection[str] | None) -> tuple[list[str], str | None]:
    """Return the passages of `text` mostly in one of `languages` (None: all), and the language of the first other, if
    any.
    """
    parts = passages(text)
    spoken = [main_language(part) for part in parts]
    unread = [own for own in spoken if languages is not None and own not in languages]
    return [part for part, own in zip(parts, spoken, strict=True) if own not in unread], unread[0] if unread else None


def embedding_text(author: str | None, text: str, caption: str | None = None) -> str:
    """Return an item's text in the form to encode (author-text-v1): "Author: text [caption]", without missing parts."""
    sentence = f"{author}: {text}" if author else text
    return clean(f"{sentence} [{caption}]" if caption else sentence)


def clean(text: str) -> str:
    """Return the text with lone surrogates and NUL, which tokenizers and UTF-8 refuse, replaced by U+FFFD."""
    return _UNUSABLE.sub("\ufffd", text)


def _reach(text: str, start: int, width: int) -> int:
    """Return the end of the longest slice from `start` that is at most `width` wide; one character at least."""
    end = start
    while end < len(text) and (width := width - _cost(text[end])) >= 0:
        end += 1
    return max(end, start + 1)


def _cost(character: str) -> int:
    plain = character <= _LAST_LATIN and (character.isalnum() or character.isspace())
    return 1 if plain else _WIDE_COST


def _cut(text: str, start: int, limit: int) -> int:
    """Return the end of the slice from `start`: the last of the best breaks in its second half, else `limit`."""
    if limit == len(text):
        return limit
    middle = (start + limit) // 2
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, middle, limit)]
        if ends:
            return ends[-1]
    return limit


def _resume(text: str, end: int, overlap: int) -> int:
    """Return the next slice's start: the first sentence, else word, that begins in the last `overlap` characters."""
    for pattern in _BREAKS[1:]:
        match = pattern.search(text, end - overlap, end)
        if match and match.end() < end:
            return match.end()
    return end
