"""Text as data: cleaning, language by script, identifiers, and the text of the keyword index. Pure functions."""

import re
import unicodedata
from datetime import datetime
from itertools import islice

_SURROGATES = re.compile("[\ud800-\udfff]")
_KANA = re.compile(r"[\u3040-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
# Linear in the text, whatever it holds: no match begins within a word or backtracks, and words are bounded.
_IDENTIFIER = re.compile(
    r"(?:(?<![A-Za-z])[A-Za-z]|_)[A-Za-z0-9]{0,63}+(?:[_./\\-][A-Za-z0-9_]+)+"
    r"|(?<![a-z])[a-z]{1,64}+[A-Z]\w*"
    r"|[A-Z][a-z0-9]{1,64}+[A-Z]\w*"
)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
MAX_IDENTIFIERS = 200


def clean(text: str) -> str:
    """Return `text` without what no index or encoder can hold: lone surrogates become U+FFFD, NUL becomes a blank."""
    return (text if text.isascii() else _SURROGATES.sub("\ufffd", text)).replace("\0", " ")


def normalise(query: str) -> str:
    """Return a query as it is searched: clean, NFKC (full-width letters become plain), white space folded."""
    return " ".join(unicodedata.normalize("NFKC", clean(query)).split())


def says_something(text: str) -> bool:
    """Return whether a text holds anything but punctuation, white space and control characters."""
    return any(unicodedata.category(character)[0] not in "PZC" for character in text)


def has_cjk(text: str) -> bool:
    """Return whether any letter is Chinese, Japanese or Korean, whose words have no blanks between them and need
    another index.
    """
    return bool(_KANA.search(text) or _HAN.search(text) or _HANGUL.search(text))


def language(text: str) -> str:
    """Return the language by script: "ja", "ko" or "zh", else "en" for everything else.

    Kana decides for Japanese; Han alone counts as Chinese although a short Japanese query may hold nothing else. That
    is enough to know whether an encoder can read the text.
    """
    if text.isascii():
        return "en"
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    return "zh" if _HAN.search(text) else "en"


def main_language(text: str) -> str:
    """Return the language of most words, named as by `language`: two letters of a script without blanks count as a
    word.

    A few foreign words leave a text readable for an encoder; a few Latin names do not make a Japanese one readable.
    """
    own = language(text)
    wide = sum(len(letters.findall(text)) for letters in (_KANA, _HAN, _HANGUL))
    return own if wide >= 2 * len(_LATIN_WORD.findall(text)) else "en"


def split_identifier(identifier: str) -> list[str]:
    """Return the lower-case parts of a code identifier or path: `getUserById` -> get, user, by, id."""
    return [part.lower() for part in _CAMEL.findall(identifier)]


def identifier_parts(text: str) -> list[str]:
    """Return the parts of identifiers and paths in `text`, in order and without duplicates; [] if there are none."""
    identifiers = dict.fromkeys(match[0] for match in islice(_IDENTIFIER.finditer(text), MAX_IDENTIFIERS))
    return list(dict.fromkeys(split_identifier(" ".join(identifiers))))


def keyword_text(
    text: str,
    *,
    title: str | None = None,
    author: str | None = None,
    caption: str | None = None,
    when: datetime | None = None,
) -> str:
    """Return the keyword index's text of an item: date in words and digits, title, author, text, caption, identifier
    parts.

    The form "[date] author: text [caption]" gave BM25 recall@10 .645 on LoCoMo turns against .606 for "author: text".
    """
    pieces = [_date_words(when), title or "", f"{author}:" if author else "", text, f"[{caption}]" if caption else ""]
    pieces.extend(identifier_parts(text))
    return unicodedata.normalize("NFKC", " ".join(piece for piece in pieces if piece))


def caption_of(text: str, limit: int = 60) -> str:
    """Return the first words of `text` for a node's caption: one line, at most `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _date_words(when: datetime | None) -> str:
    return "" if when is None else f"[{when.day} {when:%B %Y} {when:%Y-%m-%d}]"
