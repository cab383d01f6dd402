"""Features of how well each of a question's candidates answers it, read together. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from operator import mul

import numpy as np

from retrieval import cues
from retrieval.asked_words import mended, places, read_aloud, worth_seeking
from retrieval.cues import Wanted
from retrieval.distinctive import Distinctive, distinctive, holds_distinctive
from retrieval.meanings import alike, gist
from retrieval.readings import (
    SHORT_TEXT,
    Question,
    Reading,
    Sentence,
    kinds_wanted,
    reading,
    tells_of_change,
    terms_in,
    terms_of,
)
from retrieval.times import Span, spans
from retrieval.words import PERSON, Word, words

_AMOUNTS_OF = {Wanted.DURATION, Wanted.MONEY}
SAME_WORDS = 0.6
"""Share of two texts' words from which they say the same."""

_SURELY_HELD = 0.8
_RIVAL = 0.7
_NAME, _KIND = 1.5, 0.5
# Smaller differences between the similarities of a pool are noise.
_LEAST_SPAN = 0.2
_NEARLY_REPEATED = 0.7
_AROUND_KEYWORDS = 0.5
_FARTHEST_AHEAD = 0.5
_NAMED_DAYS = 8
_ITS_TIME = 0.8
# What was announced is less about its day than what was told of it afterwards.
_ANNOUNCED = 0.6
_TIMES_READ_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may answer. `head` counts as part of each sentence; `around` is the neighbouring text.

    `when` it was said or began to hold, `ends` when it ceased to hold (None: it holds). `around` is taken from its
    conversation, text by text; `before` is the part of it that was said earlier, in order. `sources`: uids of what a
    fact rests on; `causes`: uids of its causes. `fused` (0..1) is the search's own score, `linked` (0..1) the bonus of
    an edge from a good hit, `similarity` (0..1) None without a vector. `unread` (0..1): the keyword score of a text of
    which `text` is only the beginning.
    """

    uid: str
    text: str = field(repr=False)
    head: str = field(default="", repr=False)
    around: Sequence[str] = field(default=(), repr=False)
    before: Sequence[str] = field(default=(), repr=False)
    when: datetime | None = None
    ends: datetime | None = None
    is_fact: bool = False
    attribute: tuple[str, str] | None = None
    sources: Sequence[str] = ()
    causes: Sequence[str] = ()
    fused: float = 0.0
    linked: float = 0.0
    similarity: float | None = None
    unread: float = 0.0


FEATURES = (
    *("fused", "similarity", "sentence", "coverage", "around", "named", "misnamed", "holds", "only_asks", "knows_not"),
    *("commands", "repeats", "in_span", "out_of_span", "ended", "newer", "outdated", "negative", "positive", "length"),
    *("fact", "near", "said", "holding", "unlike", "changes", "late", "both"),
    *("cause", "exact", "replies"),
    *("meaning", "meant", "focus", "gist", "replaces", "replaced"),
    *("lead_near", "lead_said", "lead_meaning", "lead_gist"),
    *("most_said", "most_near", "most_meant", "gap_near", "gap_said"),
    *("read", "asks_who", "asks_when", "asks_amount", "asks_why", "asks_way", "asks_yes_no", "asks_all", "timed"),
)
"""The model's features of a candidate, each 0..1 except `length`, the logarithm of the number of its sentences."""


class Jury:
    """The candidates of one question, read together: the rarity of a word among them determines its weight."""

    def __init__(self, asked: Question, candidates: Sequence[Candidate], now: datetime) -> None:
        self.asked, self.candidates, self.now = asked, candidates, now
        self.readings = [reading(candidate.text) for candidate in candidates]
        self._heads = [terms_in(candidate.head) for candidate in candidates]
        authors = {candidate.head for candidate in candidates}
        self._people = {word.key for name in authors for word in words(name)} - {word.key for word in asked.words}
        around = {text: terms_in(text) for candidate in candidates for text in candidate.around}
        self._words = read_aloud(asked.text, self.readings) or mended(asked.words, self.readings)
        said = {key for read in self.readings for key in read.terms}
        self._sought = worth_seeking(self._words, said.union(*self._heads, *around.values()))
        # Texts that only ask or know nothing repeat the question's words, and do not indicate their weight.
        self._telling = [index for index in range(len(candidates)) if not self._silent(index)]
        self._places = places(self._sought)
        self._in_head = [self._held_in(head) for head in self._heads]
        self._in_turn = {text: self._held_in(terms) for text, terms in around.items()}
        self._held = [
            [max(pair) for pair in zip(self._held_in(read.terms), head, strict=True)]
            for read, head in zip(self.readings, self._in_head, strict=True)
        ]
        self._weights = self._rarity()
        self._total = sum(self._weights) or 1.0
        self._coverage = [
            max(
                sum(weight * have for weight, have in zip(self._weights, held_here, strict=True)) / self._total,
                candidate.unread,
            )
            for held_here, candidate in zip(self._held, candidates, strict=True)
        ]
        self._meant = alike(self._words, said)
        found = [self._best_sentences(index) for index in range(len(candidates))]
        self.best = [(match, sentence) for match, sentence, _, _ in found]
        self._meaning = [(meaning, focus) for _, _, meaning, focus in found]
        self.relevance = [
            (match + candidate.fused) / 2 for (match, _), candidate in zip(self.best, candidates, strict=True)
        ]
        self._rivals = self._as_relevant()
        self._holding = [self._holds(index) for index in range(len(candidates))]
        self._some_read = any(candidate.similarity is not None for candidate in candidates)
        self.outdated = [self._outdated(index) for index in range(len(candidates))]

    def _held_in(self, terms: Mapping[str, float]) -> list[float]:
        """Return how much (0..1) of each word of the question is among `terms`, as `held` does for one."""
        found = [0.0] * len(self._sought)
        for term in self._places.keys() & terms.keys():
            for number, worth in self._places[term]:
                found[number] = max(found[number], min(worth, terms[term]))
        return found

    def _as_relevant(self) -> list[int]:
        """Return the dated candidates that are about as good as the best."""
        top = max((self.relevance[index] for index in self._telling), default=0.0)
        return [
            index
            for index in self._telling
            if self.candidates[index].when is not None and self.relevance[index] >= _RIVAL * top
        ]

    def _rarity(self) -> list[float]:
        """Return the weight of each word: BM25's idf among the candidates, half as much again for names."""
        count = len(self.candidates)
        holding = [sum(row[index] >= SAME_WORDS for row in self._held) for index in range(len(self._words))]
        return [
            math.log(1 + (count - some + 0.5) / (some + 0.5)) * self._stress(word)
            for some, word in zip(holding, self._words, strict=True)
        ]

    def _stress(self, word: Word) -> float:
        """Return a word's weight relative to equally rare ones: more for a name, less for the requested kind."""
        if word.proper:
            return _NAME
        return _KIND if word.key in self.asked.kind else 1.0

    def _best_sentences(self, index: int) -> tuple[float, Sentence, float, float]:
        """Return the coverage of the question by the candidate's best sentence, and related values.

        These are the share (0..1) of the question that the sentence says, the sentence, the share that one of its
        sentences says in other words, and how much of that sentence is about the question.
        """
        read = self.readings[index]
        beside = [0.9 * have for have in self._in_head[index]]
        best, value, meaning, focus = read.sentences[0], 0.0, 0.0, 0.0
        for sentence in read.sentences:
            trust = 0.4 if sentence.asks or sentence.knows_not else 1.0
            exact = self._held_in(sentence.terms)
            own = trust * self._weighed(exact, beside)
            if own > value:
                best, value = sentence, own
            said = self._said_otherwise(sentence, exact)
            meant = own if said == exact else trust * self._weighed(said, beside)
            if meant > meaning:
                meaning, focus = meant, min(1.0, sum(said) / max(1, sentence.told))
        unread = self.candidates[index].unread
        return max(value / self._total, unread), best, meaning / self._total, focus

    def _weighed(self, said: Sequence[float], beside: Sequence[float]) -> float:
        """Return the weight of the words said here or beside."""
        return float(sum(map(mul, self._weights, map(max, said, beside))))

    def _said_otherwise(self, sentence: Sentence, exact: Sequence[float]) -> list[float]:
        """Return how much (0..1) of each word of the question the sentence says, including synonyms."""
        said, terms = list(exact), sentence.terms
        for term in self._meant.keys() & terms.keys():
            for number, worth in self._meant[term]:
                said[number] = max(said[number], worth * terms[term])
        return said

    def _outdated(self, index: int) -> tuple[float, str | None]:
        """Return how surely (0..1) a later, equally good statement replaces this one, and its uid.

        Where the past is asked for, what still holds gives way to what has ended about the same.
        """
        mine, read = self.candidates[index], self.readings[index]
        if self.asked.of_the_past or self.asked.spans:
            return float(not self.asked.spans and self._succeeds(mine)), None
        if (holder := self._holder_of(mine)) is not None:
            return 1.0, holder
        if mine.when is None:
            return 0.0, None
        surest: tuple[float, str | None] = (0.0, None)
        for rival in self._rivals:
            other, theirs = self.candidates[rival], self.readings[rival]
            if other.when is None or other.when <= mine.when or _one_statement(mine, other):
                continue
            if mine.attribute is not None and mine.attribute == other.attribute:
                return 1.0, other.uid
            if len(theirs.sentences) > SHORT_TEXT or self._holding[rival] < self._holding[index]:
                continue
            shared = len(read.own_words & theirs.own_words) / (min(len(read.own_words), len(theirs.own_words)) or 1)
            if shared >= 0.3 and shared > surest[0] and tells_of_change(theirs):
                surest = (shared, other.uid)
        return surest

    def _succeeds(self, mine: Candidate) -> bool:
        """Return whether this fact holds now in place of an ended one about the same thing."""
        about = [other for other in self.candidates if mine.attribute is not None and other.attribute == mine.attribute]
        return self._is_current(mine) and not all(self._is_current(other) for other in about)

    def _holder_of(self, mine: Candidate) -> str | None:
        """Return the fact that now holds in place of an ended one about the same thing."""
        if mine.attribute is None or self._is_current(mine):
            return None
        about = (other for other in self.candidates if other.attribute == mine.attribute)
        return next((other.uid for other in about if self._is_current(other)), None)

    def _is_current(self, candidate: Candidate) -> bool:
        return candidate.ends is None or candidate.ends > self.now

    def features(self) -> list[list[float]]:
        """Return the features of each candidate, in the order of FEATURES."""
        top = max(self.relevance, default=0.0)
        led = {
            uid
            for candidate, relevance in zip(self.candidates, self.relevance, strict=True)
            if Wanted.REASON in self.asked.wanted and relevance >= SAME_WORDS * top
            for uid in candidate.causes
        }
        newest, relative = self._newest(), self._relative()
        exact = distinctive(self.asked.text)
        gists, replacing, asked = self._gists(), self._replacing(), self._asked()
        leads, most = self._leading(gists)
        best_meaning = max((self._meaning[index][0] for index in self._telling), default=0.0) or 1.0
        return [
            [
                *self._own(index, newest.get(index, 0.0)),
                *relative[index],
                float(candidate.uid in led),
                _exactly(candidate.text, exact),
                # Accepted edges tell the reason better than whoever spoke next.
                0.0 if led else self._replies(index),
                self._meaning[index][0],
                min(1.0, self._meaning[index][0] / best_meaning),
                self._meaning[index][1],
                gists[index],
                *replacing[index],
                *leads[index],
                *most,
                *asked,
            ]
            for index, candidate in enumerate(self.candidates)
        ]

    def _replies(self, index: int) -> float:
        """Return how much (0..1) of the question somebody asked whom the candidate replies to.

        That question may rest on what was said before it ("Why did it break?").
        """
        if not self.candidates[index].before or not self.asked.asks or self._silent(index):
            return 0.0
        said = list(self.candidates[index].before)
        while len(said) > 1 and reading(said[-1]).knows_not and not reading(said[-1]).sentences[-1].asks:
            said.pop()
        if not reading(said[-1]).sentences[-1].asks or not kinds_wanted(said[-1]) & self.asked.wanted:
            return 0.0
        turns = [self._in_turn[text] for text in said]
        share = self._weighed([max(words_held) for words_held in zip(*turns, strict=True)], [0.0] * len(self._weights))
        return share / self._total * (1.0 if Wanted.REASON in self.asked.wanted else self._holding[index])

    def _leading(self, gists: Sequence[float]) -> tuple[list[list[float]], list[float]]:
        """Return the features `lead_near` to `lead_gist` of each candidate, and those from `most_said` to `gap_said`.

        The latter are the best candidate's value, and its lead.
        """
        near = [self._similarity(index) for index in range(len(self.candidates))]
        said = [match for match, _ in self.best]
        meaning = [meant for meant, _ in self._meaning]
        leads = [_leads(values, self._telling) for values in (near, said, meaning, gists)]
        most = [max((values[index] for index in self._telling), default=0.0) for values in (said, near, meaning)]
        gaps = [max((lead[index] for index in self._telling), default=0.0) for lead in leads[:2]]
        return [list(row) for row in zip(*leads, strict=True)], [*most, *gaps]

    def _asked(self) -> list[float]:
        """Return the features from `read` to `timed`: the kind of question, which determines the others' value."""
        wanted = self.asked.wanted
        return [
            float(self._some_read),
            float(Wanted.PERSON in wanted),
            float(bool(wanted & {Wanted.DATE, Wanted.TIME, Wanted.DURATION})),
            float(bool(wanted & {Wanted.AMOUNT, Wanted.MONEY})),
            float(Wanted.REASON in wanted),
            float(Wanted.WAY in wanted),
            float(Wanted.YES_NO in wanted),
            float(bool(cues.ASKS_FOR_ALL.search(self.asked.text))),
            float(bool(self.asked.spans)),
        ]

    def _gists(self) -> list[float]:
        """Return the similarity (0..1) of the question as a whole to the best sentence of each candidate."""
        wanted = gist(terms_of([word for word in self._words if not word.proper]).keys())
        if wanted is None:
            return [0.0] * len(self.candidates)
        found = [_gist(sentence.text) for _, sentence in self.best]
        return [0.0 if own is None else max(0.0, float(wanted @ own)) for own in found]

    def _replacing(self) -> list[tuple[float, float]]:
        """Return how surely (0..1) each candidate reports a change of another, and is changed by another.

        Only equally good answers are compared.
        """
        pairs = [[0.0, 0.0] for _ in self.candidates]
        if self.asked.of_the_past or self.asked.spans:
            return [(0.0, 0.0) for _ in self.candidates]
        top = max((self.relevance[index] for index in self._rivals), default=0.0) or 1.0
        changing = [
            index
            for index in self._rivals
            if len(self.readings[index].sentences) < SHORT_TEXT and tells_of_change(self.readings[index])
        ]
        for later in changing:
            for earlier in self._rivals:
                then, before = self.candidates[later].when, self.candidates[earlier].when
                if then is None or before is None or then <= before:
                    continue
                if _one_statement(self.candidates[later], self.candidates[earlier]):
                    continue
                mine, theirs = self.readings[later].own_words, self.readings[earlier].own_words
                shared = len(mine & theirs) / (min(len(mine), len(theirs)) or 1)
                pairs[later][0] = max(pairs[later][0], shared * self.relevance[earlier] / top)
                pairs[earlier][1] = max(pairs[earlier][1], shared * self.relevance[later] / top)
        return [(first, second) for first, second in pairs]

    def _similarity(self, index: int) -> float:
        """Return the similarity; beside texts that have one, words replace the meaning of texts without a vector."""
        similarity = self.candidates[index].similarity
        if similarity is None:
            return self.best[index][0] if self._some_read else 0.0
        return similarity

    def _relative(self) -> list[list[float]]:
        """Return the features from `near` to `both`: how each candidate compares with the others."""
        present = not (self.asked.of_the_past or self.asked.spans)
        near = _spread([self._similarity(index) for index in range(len(self.candidates))], self._telling)
        most = max((self.best[index][0] for index in self._telling), default=0.0) or 1.0
        moments = sorted({candidate.when for candidate in self.candidates if candidate.when is not None})
        order = {when: rank / max(1, len(moments) - 1) for rank, when in enumerate(moments)}
        rows = []
        for index, candidate in enumerate(self.candidates):
            match, sentence = self.best[index]
            said = min(1.0, match / most)
            rows.append(
                [
                    near[index],
                    said,
                    said * self._holding[index],
                    float(self._some_read and candidate.similarity is None),
                    said * float(present and sentence.changes),
                    order[candidate.when] if present and candidate.when is not None else 0.0,
                    said * near[index],
                ]
            )
        return rows

    def _own(self, index: int, newest: float) -> list[float]:
        """Return the features from `fused` to `fact`."""
        candidate, read = self.candidates[index], self.readings[index]
        match, best = self.best[index]
        in_span, out_of_span = in_time(self.asked, candidate, self.now)
        ended = candidate.ends is not None and candidate.ends <= self.now
        return [
            candidate.fused,
            self._similarity(index),
            match,
            *self._shares(index),
            self._holding[index],
            float(self._only_asks(read)),
            float(read.knows_not or (best.knows_not and match > candidate.unread)),
            float(read.commands),
            self._repeats(index),
            in_span,
            out_of_span,
            float(ended and not self.asked.of_the_past and not in_span),
            newest,
            self.outdated[index][0],
            float(self.asked.negative and best.negative),
            float(self.asked.negative and not best.negative),
            math.log(len(read.sentences)),
            float(candidate.is_fact),
        ]

    def _newest(self) -> dict[int, float]:
        """Return how recent each candidate is (0..1), by index, for those about as good as the best."""
        if self.asked.of_the_past or self.asked.spans:
            return {}
        rivals = [(when, index) for index in self._rivals if (when := self.candidates[index].when) is not None]
        moments = sorted({when for when, _ in rivals})
        return {index: moments.index(when) / max(1, len(moments) - 1) for when, index in rivals}

    def _silent(self, index: int) -> bool:
        read = self.readings[index]
        return self._only_asks(read) or read.knows_not or read.commands

    def _only_asks(self, read: Reading) -> bool:
        """Return whether the text asks where a statement is wanted: a query of words alone may look for a question."""
        return read.only_asks and not self.asked.keywords

    def _shares(self, index: int) -> tuple[float, float, float, float]:
        """Return coverage of the question, the conversation's addition to it, and names held and missing.

        A query of words alone looks for the texts that hold them rather than for replies to these.
        """
        held_here, coverage = self._held[index], self._coverage[index]
        turns = [self._in_turn[text] for text in self.candidates[index].around]
        beside = [max(pair) for pair in zip([0.0] * len(held_here), *turns, strict=True)]
        added = [max(0.0, near - have) for near, have in zip(beside, held_here, strict=True)]
        around = sum(weight * more for weight, more in zip(self._weights, added, strict=True)) / self._total
        if self.asked.keywords:
            around *= _AROUND_KEYWORDS
        names = [
            (have, have + more) for word, have, more in zip(self._words, held_here, added, strict=True) if word.proper
        ]
        if not names:
            return coverage, around, 0.0, 0.0
        return (
            coverage,
            around,
            sum(have for have, _ in names) / len(names),
            sum(somewhere < 0.5 for _, somewhere in names) / len(names),
        )

    def _holds(self, index: int) -> float:
        """Return how many (0..1) of the requested kinds of thing the candidate holds; .5 if there are none."""
        read, best = self.readings[index], self.best[index][1]
        kinds = {kind for kind in self.asked.wanted if kind in cues.HOLDS}
        if not kinds:
            return 0.5
        if kinds & _AMOUNTS_OF:  # any number is an amount, including that of a date
            kinds -= {Wanted.AMOUNT}
        text = best.text if len(read.sentences) > SHORT_TEXT else self.candidates[index].text
        found = {kind for kind in kinds if cues.HOLDS[kind].search(text)}
        if Wanted.PERSON in kinds and self._names_somebody(best if len(read.sentences) > SHORT_TEXT else read):
            found.add(Wanted.PERSON)
        return len(found) / len(kinds)

    def _names_somebody(self, said: Sentence | Reading) -> bool:
        """Return whether it names a person: by the dictionary, or the author of another of the texts."""
        return PERSON in said.terms or not self._people.isdisjoint(said.terms)

    def holds_keyword(self, index: int) -> bool:
        """Return whether the query is a list of words and the candidate holds one of them."""
        return self.asked.keywords and any(have >= _SURELY_HELD for have in self._held[index])

    def _repeats(self, index: int) -> float:
        """Return 1 for a text that says nothing beyond the words of the question, not even that something changed."""
        read = self.readings[index]
        said = tells_of_change(read) or read.own_words - {word.key for word in self._words}
        return float(self.asked.asks and self._coverage[index] > _NEARLY_REPEATED and not said)


def _spread(values: Sequence[float], among: Sequence[int]) -> list[float]:
    """Return the values scaled to 0..1 by the range of those `among`, which is at least _LEAST_SPAN."""
    known = [values[index] for index in among]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = max(high - low, _LEAST_SPAN)
    return [min(1.0, max(0.0, 1 - (high - value) / span)) for value in values]


def _leads(values: Sequence[float], among: Sequence[int]) -> list[float]:
    """Return the lead of each value (-_FARTHEST_AHEAD.._FARTHEST_AHEAD) over the best other one of those `among`."""
    if len(among) < 2:
        return [0.0] * len(values)
    first, second = sorted((values[index] for index in among), reverse=True)[:2]
    ahead = [value - (second if value == first else first) for value in values]
    return [max(-_FARTHEST_AHEAD, min(_FARTHEST_AHEAD, lead)) for lead in ahead]


@lru_cache(maxsize=8_000)
def _gist(sentence: str) -> np.ndarray | None:
    return gist(terms_of([word for word in words(sentence) if not word.proper]).keys())


def _exactly(text: str, asked: Distinctive) -> float:
    """Return 1 for a text with a requested identifier, number or quoted phrase, .5 for all words of such a question."""
    if not asked.terms or not holds_distinctive(text, [asked]):
        return 0.0
    return 1.0 if holds_distinctive(text, [replace(asked, words=frozenset())]) else 0.5


def _one_statement(one: Candidate, other: Candidate) -> bool:
    """Return whether one is a source of the other, which says the same."""
    return one.uid in other.sources or other.uid in one.sources


def in_time(asked: Question, candidate: Candidate, now: datetime) -> tuple[float, float]:
    """Return how surely (0..1) the candidate is about a span of the question, and whether it is about none.

    A text may name the dates itself, relative to its own day; otherwise it is about its day, a fact about the time in
    which it held: the longer than the span, the less. What is over is told of rather by later texts.
    """
    if not asked.spans:
        return 0.0, 0.0
    day = (candidate.when or now).date()
    said = [
        (meant, span)
        for span in spans(candidate.text[:_TIMES_READ_CHARS], day, looking="nearest")
        for meant in asked.spans
        if span.days <= max(_NAMED_DAYS, meant.days)
    ]
    met = [(meant, span) for meant, span in said if meant.meets(span)]
    if any(span.first <= day or span.last >= now.date() or meant.days > _NAMED_DAYS for meant, span in met):
        return 1.0, 0.0
    if met:
        return _ANNOUNCED, 0.0
    if candidate.when is not None:
        last = candidate.ends.date() if candidate.is_fact and candidate.ends is not None else day
        held = Span(day, max(day, last))
        if times := [meant for meant in asked.spans if meant.meets(held)]:
            return _ITS_TIME * math.sqrt(min(1.0, max(meant.days for meant in times) / held.days)), 0.0
    return 0.0, 1.0
