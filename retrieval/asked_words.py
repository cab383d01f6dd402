"""The words of a question as its candidates may spell them: in kana, with a typo, in other words. Pure functions."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from retrieval.readings import Reading
from retrieval.words import Word, words_by_reading

_KANA_ONLY = re.compile(r"[\u3040-\u30ff\W]{8,}")
_TO_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
# The mark of a reading, and three letters of it.
_SHORTEST_SPELLED = 3


def read_aloud(question_text: str, readings: Sequence[Reading]) -> list[Word]:
    """Return the words whose reading a question in kana spells: けんこうしんだん names 健康診断.

    A text may hold the word or what it is called in English. Of nested readings the longest counts; none if the
    question is not written in kana.
    """
    if not _KANA_ONLY.fullmatch(question_text):
        return []
    spelled = question_text.translate(_TO_KATAKANA)
    known = {
        key: Word(key) for read in readings for key in read.terms if key[0] == "r" and len(key) > _SHORTEST_SPELLED
    }
    known |= words_by_reading()
    found = [key for key in known if key[1:] in spelled]
    return [known[key] for key in sorted(found) if not any(key != other and key[1:] in other for other in found)]


def mended(asked: Sequence[Word], readings: Sequence[Reading]) -> list[Word]:
    """Return the words with typos corrected: one that no text holds stands for words of the texts one edit away."""
    known = {key for read in readings for key, worth in read.terms.items() if worth == 1.0}
    mended = []
    for word in asked:
        if word.key.isascii() and len(word.key) >= 4 and word.key not in known:
            near = [key for key in known if key[:1] == word.key[:1] and _one_edit_apart(word.key, key)]
            word = Word(word.key, (*word.others, *((key, 0.9) for key in near)), proper=word.proper)
        mended.append(word)
    return mended


def _one_edit_apart(a: str, b: str) -> bool:
    """Whether a letter was changed, omitted, added, or swapped with its neighbour."""
    if len(a) == len(b):
        off = [place for place in range(len(a)) if a[place] != b[place]]
        return len(off) == 1 or (len(off) == 2 and a[off[0]] == b[off[1]] and a[off[1]] == b[off[0]])
    short, long = sorted((a, b), key=len)
    return len(long) - len(short) == 1 and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def worth_seeking(asked: Sequence[Word], known: Collection[str]) -> list[Word]:
    """Return the words, each with its `known` alternatives: they are searched in every sentence."""
    return [replace(word, others=tuple(other for other in word.others if other[0] in known)) for word in asked]


def places(sought: Sequence[Word]) -> dict[str, list[tuple[int, float]]]:
    """Return, for each term, the words that it stands for, by index, and how well (0..1)."""
    places: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, word in enumerate(sought):
        for term, worth in ((word.key, 1.0), *word.others):
            places[term].append((number, worth))
    return dict(places)
