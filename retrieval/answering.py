"""Whether a text answers a question. Pure functions.

Rules cover the certain cases: a text that only asks, says that nobody knows, or gives orders to its reader answers
nothing. For the others a small model weighs the features (retrieval/jury.py): their rank in the search, how much of the
question their best sentence says, in the same words or others, whether it holds the requested kind of thing, the time
that is meant, and whether it has ended since. The model is `models/answering.toml`, fitted by training/answering.py.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from retrieval.jury import FEATURES, SAME_WORDS, Candidate, Jury
from retrieval.readings import SHORT_TEXT, Question, Reading, asks_for_all

_READ_FOR_REPETITION = 20
_SAID_BEFORE = 0.8
# Maximum distance of a feature from its mean, in deviations.
_FARTHEST = 4.0
# A list of words finds every text with one of them, like any search.
_KEYWORD_SUPPORT = 0.4


class Verdict(StrEnum):
    """A text's relation to a question."""

    ANSWERS = "answers"
    SHARES_TOPIC = "shares topic"
    REPEATS = "repeats the question"
    KNOWS_NOT = "says that nobody knows"
    COMMANDS = "gives orders"


TELLING = frozenset({Verdict.ANSWERS, Verdict.SHARES_TOPIC})
"""Verdicts of texts that do not ask, order, or say that they do not know."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for a candidate: its score, its support, and its best sentence.

    `score` (0..1) orders the candidates of one question; `support` (0..1) says how well the question's own words and
    meaning back it, regardless of the others; `sentence` is the one that answers best. `replaced`: it has ended,
    another fact holds in its place, and the question is about the present.
    """

    uid: str
    score: float
    support: float
    verdict: Verdict
    sentence: str = field(repr=False)
    outdated_by: str | None = None
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """The weighing of features: a sum of `weights` x features, and a small network for the kind of question.

    The network decides which features to trust; `middle` is the sum equivalent to a score of a half. It reads the
    features scaled to about -4..4 by their `mean` and `deviation`, through one layer of tanh.
    """

    middle: float
    weights: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    inner: np.ndarray
    bias: np.ndarray
    outer: np.ndarray

    def values(self, rows: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
        """Return the value of each row of features."""
        features = np.asarray(rows, dtype=float).reshape(-1, len(FEATURES))
        hidden = np.tanh(self.standard(features) @ self.inner.T + self.bias)
        return np.asarray(features @ self.weights + hidden @ self.outer)

    def standard(self, features: np.ndarray) -> np.ndarray:
        """Return the features scaled for the network."""
        return np.asarray(np.clip((features - self.mean) / self.deviation, -_FARTHEST, _FARTHEST))


@cache
def _trained() -> Mapping[str, Any]:
    return tomllib.loads(files("retrieval").joinpath("models/answering.toml").read_text(encoding="utf-8"))


def middle() -> float:
    """Return the value equivalent to a score of a half."""
    return float(_trained()["middle"])


@cache
def model() -> Model:
    """Return the trained model."""
    network, features = _trained()["network"], _trained()["features"]
    weights, mean, deviation = (np.array([features[name][place] for name in FEATURES]) for place in range(3))
    inner = np.array([features[name][3:] for name in FEATURES]).T
    bias, outer = np.array(network["bias"]), np.array(network["outer"])
    return Model(middle(), weights, mean, deviation, inner, bias, outer)


def best_of(judgements: Iterable[Judgement]) -> float:
    """Return the best score (0..1) of possible answers, 1 if there are none."""
    return max((one.score for one in judgements if one.verdict in TELLING), default=1.0)


def judge(
    asked: Question, candidates: Sequence[Candidate], now: datetime, weighing: Model | None = None
) -> list[Judgement]:
    """Return a judgement of each candidate, in order; `weighing` defaults to the trained model."""
    jury = Jury(asked, candidates, now)
    rows = jury.features()
    return judged(jury, rows, (weighing or model()).values(rows).tolist())


def judged(jury: Jury, rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[Judgement]:
    """Return the judgements of a jury's candidates from a model's `values` for their rows of features."""
    half = middle()
    found = []
    for index, (candidate, row, value) in enumerate(zip(jury.candidates, rows, values, strict=True)):
        named = dict(zip(FEATURES, row, strict=True))
        found.append(
            Judgement(
                uid=candidate.uid,
                score=1 / (1 + math.exp(half - value)),
                support=max(_support(named), candidate.linked, _KEYWORD_SUPPORT if jury.holds_keyword(index) else 0.0),
                verdict=_verdict(named),
                sentence=jury.best[index][1].text,
                outdated_by=jury.outdated[index][1],
                replaced=bool(named["ended"]) and named["outdated"] == 1.0,
            )
        )
    # Members of one list are often worded alike.
    return found if asks_for_all(jury.asked.text) else _apart(found, jury.readings)


def _apart(judged: Sequence[Judgement], readings: Sequence[Reading]) -> list[Judgement]:
    """Return the judgements, with lower scores for texts that repeat a better one.

    Repetitions must not displace other information.
    """
    order = sorted(range(len(judged)), key=lambda index: -judged[index].score)[:_READ_FOR_REPETITION]
    found = list(judged)
    said: list[int] = []
    for index in order:
        if any(_says_again(readings[index], readings[better]) for better in said):
            found[index] = replace(judged[index], score=judged[index].score * _SAID_BEFORE)
        else:
            said.append(index)
    return found


def _says_again(one: Reading, other: Reading) -> bool:
    """Whether two short texts share most of their words, including names and numbers."""
    if one.marks != other.marks or max(len(one.sentences), len(other.sentences)) >= SHORT_TEXT:
        return False
    return len(one.own_words & other.own_words) >= SAME_WORDS * len(one.own_words | other.own_words) > 0


def _support(row: Mapping[str, float]) -> float:
    """Return how well the question's own words and meaning support a candidate (0..1)."""
    backing = max(
        *(row["similarity"], row["sentence"], 0.8 * (row["coverage"] + row["around"]), 0.9 * row["meaning"]),
        *(row["exact"], row["cause"], row["replies"]),
    )
    return min(1.0, max(backing, 0.5 * row["in_span"]))


def _verdict(row: Mapping[str, float]) -> Verdict:
    if row["commands"]:
        return Verdict.COMMANDS
    if row["knows_not"]:
        return Verdict.KNOWS_NOT
    if row["only_asks"] or row["repeats"]:
        return Verdict.REPEATS
    return Verdict.ANSWERS if row["holds"] else Verdict.SHARES_TOPIC
