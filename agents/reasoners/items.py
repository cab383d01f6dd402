"""Whether a passage holds what a short target item asks for ("definition", "interpretation_0_1"). Pure functions.

A sentence counts as far as it shows the kind of thing that is asked for, and as far as its passage is about the topic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.reasoners.kinds import Kind, kind_of
from agents.reasoners.passages import Passage, Terms, plain, sentences, share
from agents.types import Support

ENOUGH = 0.5
"""Score from which on a sentence meets an item: certain of its kind in a passage near the topic, or likely of its kind
in a passage that is all about it."""

_LEAST_TOPICAL = 0.3
_RELEVANCE = 0.05
_LINKED = 0.7
# What is much less sure than the best is no replacement for it, even where that would make a smaller set.
_NEARLY = 0.75


@dataclass(frozen=True, slots=True)
class Wanted:
    """A short item: its kind if its name tells one, the other words of its name, and their terms."""

    kind: Kind | None
    words: tuple[str, ...]
    terms: frozenset[str]

    @classmethod
    def of(cls, item: str, terms: Terms) -> "Wanted":
        """What the name `item` says."""
        kind, words = kind_of(item)
        return cls(kind, words, frozenset(terms(" ".join(words))))


@dataclass(frozen=True, slots=True)
class Topic:
    """What the question is about: the terms of it, those of the passages that are most about it, and how similar each
    passage is in meaning where that is known (by its index, 0..1).
    """

    terms: frozenset[str]
    around: frozenset[str]
    weights: Mapping[str, float]
    best: float
    similar: Mapping[int, float]

    @classmethod
    def of(
        cls,
        terms: frozenset[str],
        passages: Sequence[Passage],
        weights: Mapping[str, float],
        similar: Mapping[int, float],
    ) -> "Topic":
        """The topic `terms` among `passages`."""
        shares = {one.index: _own_share(terms, one, weights) for one in passages}
        best = max(shares.values(), default=0.0)
        about = [one.terms for one in passages if best and shares[one.index] >= best / 2]
        return cls(terms, frozenset().union(*about), weights, best, similar)

    def nearness(self, passage: Passage) -> float:
        """How much a passage is about the topic (0..1), the most topical one 1; what only shares words with passages
        that are about it, or is only similar, counts less.
        """
        own = _own_share(self.terms, passage, self.weights) / self.best if self.best else 0.0
        around = _LINKED * share(passage.terms, self.around, self.weights)
        return max(own, around, _LINKED * self.similar.get(passage.index, 0.0))


def _own_share(terms: frozenset[str], passage: Passage, weights: Mapping[str, float]) -> float:
    """How much of the topic a passage names. What was searched for stands in most of what was found: so every word
    counts, and rare ones only count more.
    """
    return share(terms, passage.held, {word: 1 + weights[word] for word in terms})


def supports(wanted: Wanted, topic: Topic, passages: Sequence[Passage], terms: Terms) -> list[Support]:
    """The passages that meet `wanted`, the best first, each with its best sentence."""
    rated = [_best(wanted, topic, passage, terms) for passage in passages]
    least = max(ENOUGH, _NEARLY * max((one.score for one in rated), default=0.0))
    return sorted((one for one in rated if one.score >= least), key=lambda one: -one.score)


def _best(wanted: Wanted, topic: Topic, passage: Passage, terms: Terms) -> Support:
    near = topic.nearness(passage)
    best = Support(passage.index, "", 0.0)
    for sentence in sentences(passage.text):
        shown, about = _shown(wanted, sentence, near) if wanted.kind else _told(wanted, topic, passage, sentence, terms)
        if about < _LEAST_TOPICAL or not shown:
            continue
        score = min(1.0, shown * (0.5 + 0.5 * about) + _RELEVANCE * passage.relevance)
        if score > best.score:
            best = Support(passage.index, sentence, score)
    return best


def _shown(wanted: Wanted, sentence: str, near: float) -> tuple[float, float]:
    """How surely a sentence is of the kind, and how near it is to the topic, for which the item's other words count."""
    strength = wanted.kind.strength(sentence) if wanted.kind else 0.0
    if not wanted.words or not strength:
        return strength, near
    words = plain(sentence)
    held = sum(f" {word} " in words or (not word.isascii() and word in words) for word in wanted.words)
    named = held / len(wanted.words)
    return strength * (0.5 + 0.5 * named), max(near, named)


def _told(wanted: Wanted, topic: Topic, passage: Passage, sentence: str, terms: Terms) -> tuple[float, float]:
    """How many of the item's words a sentence and its heading hold, and how near it is to the topic."""
    held = frozenset(terms(sentence)) | passage.heading_terms
    return share(wanted.terms, held, topic.weights), topic.nearness(passage)
