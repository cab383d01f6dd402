"""Meanings of words, as vectors of the default encoder: "delayed" is near "postponed", 契約書 near "contract".

`models/words.npz` holds them, English words by their stems, Japanese ones by their English translations
(training/word_vectors.py). They are read without an encoder, whichever is configured.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from retrieval.words import Word

# Two words with a lower cosine are unrelated; at the second value they mean nearly the same.
_UNRELATED, _SAME_MEANING = 0.35, 0.8
SAME_MEANING = 0.75
"""Weight of a word that replaces another of the same meaning (0..1)."""


@cache
def _table() -> tuple[Mapping[str, int], np.ndarray]:
    """Return the row of each term, and the unit vectors."""
    with files("retrieval").joinpath("models/words.npz").open("rb") as file, np.load(file) as held:
        keys, vectors = held["keys"].tolist(), held["vectors"].astype(np.float32)
    return {key: row for row, key in enumerate(keys)}, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows_of(word: Word) -> list[int]:
    """Return the rows of the vectors for a word: its own, or those of its groups of synonyms."""
    rows, _ = _table()
    if word.key in rows:
        return [rows[word.key]]
    return [rows[key] for key, _ in word.others if key[0] == "s" and key in rows]


def alike(asked: Sequence[Word], known: Collection[str]) -> dict[str, list[tuple[int, float]]]:
    """Return those of the `known` terms that mean about the same as words of `asked`: for each such term the indexes of
    those words, and its share of their weight (0..1).

    Names have no synonyms.
    """
    rows, vectors = _table()
    held = [(term, row) for term in known if (row := rows.get(term)) is not None]
    there = vectors[[row for _, row in held]]
    found: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, word in enumerate(asked):
        own = [] if word.proper or not held else rows_of(word)
        if own:
            cosines = (there @ vectors[own].T).max(axis=1)
            near = np.flatnonzero(cosines > _UNRELATED)
            worth = np.minimum((cosines[near] - _UNRELATED) / (_SAME_MEANING - _UNRELATED), 1.0) * SAME_MEANING
            for index, value in zip(near.tolist(), worth.tolist(), strict=True):
                found[held[index][0]].append((number, value))
    return dict(found)


def gist(found: Collection[str]) -> np.ndarray | None:
    """Return the direction of the terms' combined meaning, or None if none of them is in the table."""
    rows, vectors = _table()
    own = [rows[term] for term in found if term in rows]
    if not own:
        return None
    whole = vectors[own].sum(axis=0)
    return np.asarray(whole / (np.linalg.norm(whole) or 1.0))
