"""Makes retrieval/models/words.npz: word meanings, so that other wordings of a question find its answer.

    python training/word_vectors.py VOCABULARY

VOCABULARY is the encoder's own, a tokenizer's JSON file (docs/encoders.md gives the default encoder's location). Each
of its whole English words, and of those in retrieval/concepts.txt and training/glossary.txt, is encoded alone by the
configured encoder; the vectors are centred, reduced to DIMENSIONS by half-whitened principal components, and rounded to
bytes. A Japanese word has the mean of the English words that glossary.txt and concepts.txt give it; a group of synonyms
of Sudachi's dictionary that of its English headwords.
"""

import argparse
import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from librarian.base.settings.settings import Settings
from librarian.runtime.assembly import open_encoder
from retrieval.sentences import stem
from retrieval.text import has_cjk
from retrieval.words import normalised, synonym_groups

HERE = Path(__file__).parent
OUT = HERE.parent / "retrieval" / "models" / "words.npz"
DIMENSIONS = 96
_WORD = re.compile(r"[a-z]{3,}")
# A group of concepts adds nothing to a Japanese word that has its own English words in the glossary.
_LISTS = (HERE / "glossary.txt", HERE.parent / "retrieval" / "concepts.txt")


def main() -> None:
    """Encode the words and write the file."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("vocabulary", type=Path)
    chosen = arguments.parse_args()
    listed = [line.split() for file in _LISTS for line in file.read_text(encoding="utf-8").splitlines()]
    listed = [line for line in listed if line and line[0] != "#"]
    known = json.loads(chosen.vocabulary.read_text(encoding="utf-8"))["model"]["vocab"]
    english = sorted({word for word in [*known, *(word for line in listed for word in line)] if _WORD.fullmatch(word)})
    vectors = dict(zip(english, reduced(asyncio.run(encoded(english))), strict=True))
    table = by_key(vectors) | japanese(listed, vectors) | grouped(vectors)
    keys = sorted(table)
    units = np.array([table[key] / (np.linalg.norm(table[key]) or 1.0) for key in keys])
    np.savez_compressed(OUT, keys=np.array(keys), vectors=np.round(units * 127).astype(np.int8))
    print(f"{len(english)} English words, {len(keys)} keys, {OUT.stat().st_size / 1e6:.1f} MB")


async def encoded(texts: Sequence[str]) -> np.ndarray:
    """Return the configured encoder's vectors of the texts, one per row."""
    async with open_encoder(Settings.from_env()) as encoder:
        if encoder is None:
            raise SystemExit("an encoder is needed: LIBRARIAN_ENCODER is none")
        batches = [await encoder.encode_passages(texts[at : at + 256]) for at in range(0, len(texts), 256)]
    return np.vstack([np.asarray(batch) for batch in batches])


def reduced(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors centred, in DIMENSIONS, of length 1."""
    centred = vectors - vectors.mean(0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    centred -= centred.mean(0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    best = np.argsort(-values)[:DIMENSIONS]
    # The sign of a component is arbitrary: the file must be reproducible.
    axes = axes[:, best] * np.sign(axes[np.abs(axes[:, best]).argmax(0), best])
    units = centred @ axes / values[best] ** 0.25
    return np.asarray(units / np.linalg.norm(units, axis=1, keepdims=True))


def by_key(vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the vector of each stem: the mean of its words'."""
    stems: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    for word, vector in vectors.items():
        stems[stem(word)].append(vector)
    return {key: np.mean(own, axis=0) for key, own in stems.items()}


def japanese(listed: Sequence[Sequence[str]], vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the vectors of Japanese words by normalised form: from the first of several lines that has English."""
    table: dict[str, np.ndarray] = {}
    for line in listed:
        own = [vectors[word] for word in line if word in vectors]
        for word in line if own else ():
            if has_cjk(word):
                table.setdefault(normalised(word), np.mean(own, axis=0))
    return table


def grouped(vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the vector of each group of synonyms with English headwords, by its term."""
    groups: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    for word, vector in vectors.items():
        for group in synonym_groups(word):
            groups[group].append(vector)
    return {group: np.mean(own, axis=0) for group, own in groups.items()}


if __name__ == "__main__":
    main()
