"""BM25 over texts in memory: the baseline that every search has to beat."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from retrieval.stopwords import ENGLISH

_TOKEN = re.compile(r"[a-z0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
Analyser = Callable[[str], list[str]]


def plain_words(text: str) -> list[str]:
    """Return lower-case words unchanged; Chinese, Japanese and Korean runs as pairs of letters."""
    return [token for run in _TOKEN.findall(text.casefold()) for token in _tokens(run)]


def stemmed_words() -> Analyser:
    """Return Snowball stems without English stop words. Raises ModuleNotFoundError without snowballstemmer."""
    import snowballstemmer

    stem = snowballstemmer.stemmer("english").stemWord
    return lambda text: [stem(token) for token in plain_words(text) if token not in ENGLISH]


class Bm25:
    """Okapi BM25 (Robertson & Zaragoza 2009) with Lucene's idf, log(1 + (N - df + .5) / (df + .5)).

    The defaults of `k1` and `b` were measured to be best for turns of conversations (.9, .4); 1.2 and .75 are
    customary.
    """

    def __init__(self, texts: Sequence[str], analyse: Analyser, *, k1: float = 0.9, b: float = 0.4) -> None:
        documents = [Counter(analyse(text)) for text in texts]
        lengths = [sum(counts.values()) for counts in documents]
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        self._analyse = analyse
        self._postings: dict[str, dict[int, float]] = {}
        for index, (counts, length) in enumerate(zip(documents, lengths, strict=True)):
            norm = k1 * (1 - b + b * length / usual)
            for term, count in counts.items():
                self._postings.setdefault(term, {})[index] = count * (k1 + 1) / (count + norm)
        self._idf = {term: _idf(len(documents), len(own)) for term, own in self._postings.items()}

    def scores(self, query: str) -> Mapping[int, float]:
        """Return index of a text -> its score, for the texts that hold a word of `query`."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(self._analyse(query)):
            for index, weight in self._postings.get(term, {}).items():
                scores[index] += self._idf[term] * weight
        return scores


def _idf(documents: int, holding: int) -> float:
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _tokens(run: str) -> list[str]:
    if run.isascii() or len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]
