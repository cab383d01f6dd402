"""Functions by which the search agent weighs evidence: the words of a text, how well it answers, how near it is in
meaning.

The composition root passes them to the agent, which imports nothing of ours.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from graph.types import Noise
from retrieval.calibration import calibrated, probe_noise
from retrieval.encoders.base import Encoder, Vectors
from retrieval.encoders.language_probe import encode_probes
from retrieval.jury import FEATURES, Candidate, Jury
from retrieval.readings import question
from retrieval.stopwords import ENGLISH
from retrieval.text import has_cjk, language, normalise

_WORD = re.compile(r"[^\W_]+")
# Runs of one script: words of a text without blanks are split at least where the script changes.
_SCRIPT = re.compile(r"[\u3040-\u309f]+|[\u30a0-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+|[\uac00-\ud7af]+|[^\W_]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_SHORTEST_PLURAL = 4
# Vectors of texts kept in memory: 1.5 kB each with the default encoder.
_KEPT = 1_000


def terms(text: str) -> list[str]:
    """Return the topical words of a text, in order, lower-case and singular; for a script without blanks, pairs of
    letters. Hiragana alone, which holds endings and particles, is left out.

    English plurals lose their s as in Harman's S-stemmer (JASIS 1991), which never merges two different words of a
    name.
    """
    return list(_terms(text))


@lru_cache(maxsize=4_000)
def _terms(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for word in _WORD.findall(_POSSESSIVE.sub("", normalise(text).casefold())):
        if has_cjk(word):
            found.extend(_pairs(word))
        elif word not in ENGLISH:
            found.append(_singular(word))
    return tuple(found)


def answering(asked: str, texts: Sequence[tuple[str, str]]) -> list[Mapping[str, float]]:
    """Return the features of retrieval.answering for and against each of `texts` (source, words) as an answer to
    `asked`; those about the search or other times are 0 here.
    """
    now = datetime.now(UTC)
    candidates = [Candidate(str(at), text, head=source) for at, (source, text) in enumerate(texts)]
    return [dict(zip(FEATURES, row, strict=True)) for row in Jury(question(asked, now), candidates, now).features()]


def _pairs(word: str) -> list[str]:
    pairs: list[str] = []
    latin = ""
    for run in _SCRIPT.findall(word):
        if not has_cjk(run):
            latin += run
            continue
        if latin:
            pairs.append(latin)
            latin = ""
        if not _HIRAGANA.fullmatch(run):
            pairs.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
    return [*pairs, latin] if latin else pairs


def _singular(word: str) -> str:
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > _SHORTEST_PLURAL else word[:-1]


class EncoderSimilarity:
    """Calibrated similarity by `encoder`, in the `languages` that it covers; noise is measured on first use."""

    def __init__(self, encoder: Encoder, languages: frozenset[str]) -> None:
        self._encoder = encoder
        self._languages = languages
        self._noise: dict[str, Noise] = {}
        self._kept: dict[str, Vectors] = {}

    async def __call__(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]] | None:
        """Return a row per query and a column per text, each 0..1; None if the encoder cannot read one of the queries.

        Raises EncoderError.
        """
        spoken = [language(query) for query in queries]
        if not queries or not texts or not self._languages.issuperset(spoken):
            return None
        noises = [await self._noise_of(value) for value in spoken]
        query_vectors = await self._encoder.encode_query(queries)
        cosines: list[list[float]] = (query_vectors @ (await self._vectors(texts)).T).tolist()
        return [[calibrated(value, noise) for value in row] for row, noise in zip(cosines, noises, strict=True)]

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`. The latest are kept: each round of a request reads most of them again."""
        known = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, await self._encoder.encode_passages(new), strict=True))
        for text in known:
            self._kept.pop(text, None)
        self._kept.update(known)
        for text in list(self._kept)[:-_KEPT]:
            del self._kept[text]
        return np.stack([known[text] for text in texts])

    async def _noise_of(self, spoken: str) -> Noise:
        if spoken not in self._noise:
            probes = (await encode_probes(self._encoder, [spoken]))[spoken]
            self._noise[spoken] = probe_noise(probes.queries, probes.passages)
        return self._noise[spoken]
