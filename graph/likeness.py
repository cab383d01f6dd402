"""Detects whether a text may reword something forgotten, without keeping that text.

A signature consists of MinHashes (Broder, "On the resemblance and containment of documents", 1997) of a text's content
words, under a secret salt, combined in pairs. Two texts that share the fraction s of their words share each pair with
the probability s². Order, inflection and additions matter little; synonyms are different words.
"""

import hashlib
import random
import re
import unicodedata
from collections.abc import Collection

LEAST_SHARED = 3
"""Pairs that two signatures must share for one text to count as rewording the other."""
_PAIRS = 16
_LEAST_WORDS = 4
_STEM_CHARS = 5
_HASH_BYTES = 8
_IDEOGRAPHS, _KATAKANA, _HIRAGANA = "\u3400-\u9fff\uac00-\ud7af々", "\u30a1-\u30ff", "\u3041-\u309f"
_RUN = re.compile(
    rf"(?P<ideographs>[{_IDEOGRAPHS}]+)|(?P<word>[{_KATAKANA}]+|[^\W_{_IDEOGRAPHS}{_KATAKANA}{_HIRAGANA}]+)"
)
_FUNCTION_WORDS = """
a an and are as at be been but by can did do does for from had has have he her his how i if in into is it its me my no
not of on or our she should so than that the their them then there they this to us was we were what when where which
who will with would you your about just also very
"""
_SAY_NOTHING = frozenset(_FUNCTION_WORDS.split())


def signature(salt: str, text: str) -> list[str]:
    """Return the signature of a text under a salt (hexadecimal); empty for one of too few words."""
    key = bytes.fromhex(salt)
    hashes = [_number(key, word) for word in content_words(text)]
    if len(hashes) < _LEAST_WORDS:
        return []
    masks = random.Random(salt)  # noqa: S311 - the salt is the secret; the same masks are wanted every time
    least = [min(each ^ mask for each in hashes) for mask in (masks.getrandbits(64) for _ in range(2 * _PAIRS))]
    return [_digest(key, f"{pair} {least[2 * pair]} {least[2 * pair + 1]}") for pair in range(_PAIRS)]


def content_words(text: str) -> Collection[str]:
    """Return the stems of the words that carry a text's meaning; for Chinese, Japanese and Korean pairs of letters,
    without hiragana.
    """
    words = set()
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        letters = run["ideographs"]
        if letters is None:
            if run["word"] not in _SAY_NOTHING:
                words.add(run["word"] if re.match(f"[{_KATAKANA}]", run["word"]) else run["word"][:_STEM_CHARS])
        else:
            words.update(letters[at : at + 2] for at in range(max(1, len(letters) - 1)))
    return words


def _number(key: bytes, text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), key=key, digest_size=_HASH_BYTES).digest())


def _digest(key: bytes, text: str) -> str:
    return hashlib.blake2b(text.encode(), key=key, digest_size=_HASH_BYTES).hexdigest()
