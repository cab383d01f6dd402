"""A judge of cause and effect between memories by their shared terms, their times, and their wording.

A sentence rarely states a cause in a form that a table holds. A judge trained on worlds of memories with human-drawn
edges (training/causal_links.py) weighs the terms that two memories share and others do not, whether each is the nearest
to the other, their distance in time, the kinds of words in their sentences, and their statements. It is a logistic
regression, so that each weight can be read.
"""

import json
import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from librarian_agents.sweep.causal_arguments import Memories, ReadNote
from librarian_agents.sweep.causal_terms import said_of
from librarian_agents.sweep.causal_types import ACCEPTED_FROM, Relation
from librarian_agents.sweep.features import lexicon
from librarian_agents.sweep.phrases import compiled, lower_case

NEAREST = 8
"""Pairs are judged if one memory is among this many nearest to the other."""
_COMMON = 40
"""Terms in more memories than this tie none together."""
_SUREST = 0.95
PROPOSED_FROM = 0.5
"""Minimum confidence of a proposed edge."""
LIKELY = 0.4
"""Minimum probability of an edge that a sentence states, though with few words of the other memory."""
_SMOOTHED = 0.6
_TOLD = 0.35
_MOST = 3
_FAR = 10
_UNTIED = -1.0
_DAY = 86_400
_STRESSED = ("cannot", "can", "because", "now", "after", "without", "fix")
RELATIONS = (Relation.CAUSES, Relation.BLOCKS, Relation.ENABLES)

Values = dict[str, float]


@dataclass(frozen=True, slots=True)
class Tie:
    """The overlap of a memory's sentence with another memory.

    It has the `share` of the sentence's weight that the other holds (0-1), that weight, the number of terms, and the
    maximum over all its sentences.
    """

    share: float
    mass: float
    count: int
    widest: float
    sentence: str


NO_TIE = Tie(0.0, 0.0, 0, 0.0, "")


@dataclass(frozen=True, slots=True)
class Stated:
    """Stated causes in a pair: the confidence that the first causes the second, that of the reverse, and the speaker.

    The last is whether the second memory makes the statement.
    """

    sure: float = 0.0
    reverse: float = 0.0
    relation: Relation | None = None
    by_effect: bool = False
    share: float = 0.0
    lead: float = 0.0
    weak: bool = False
    supposed: bool = False


class Ties:
    """Overlaps of memories that are read together, each pair compared with all others."""

    def __init__(self, memories: Memories) -> None:
        self.read = memories.read
        self._holders: defaultdict[str, set[str]] = defaultdict(set)
        for uid, read in self.read.items():
            for _, sentence in read.told:
                for term, weight in sentence.items():
                    if weight:
                        self._holders[term].add(uid)
        count = 1 + len(self.read)
        self._rarity = {term: math.log(count / len(held)) / math.log(count) for term, held in self._holders.items()}
        self.ties = {uid: dict(self._of(uid)) for uid in self.read}
        self.close = {uid: {other: self._closeness(uid, other) for other in self._tied(uid)} for uid in self.read}
        self._order = {uid: sorted(near, key=lambda other: (-near[other], other)) for uid, near in self.close.items()}
        self._rank = {uid: {other: place for place, other in enumerate(order)} for uid, order in self._order.items()}
        self._timely = {(uid, side): self._in_time(uid, side) for uid in self.read for side in (-1, 1)}

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield pairs near enough to be judged, the lower uid first."""
        for uid, order in self._order.items():
            for other in order[:NEAREST]:
                if uid < other or self._rank[other][uid] >= NEAREST:
                    yield min(uid, other), max(uid, other)

    def tie(self, uid: str, other: str) -> Tie:
        """Return the overlap of a sentence of the memory `uid` with the other."""
        return self.ties[uid].get(other, NO_TIE)

    def values(self, cause: str, effect: str, stated: Stated) -> Values:
        """Return the judge's features of `cause` as the cause of `effect`."""
        found = _times(self.read[cause], self.read[effect])
        after = found.get("after", 0.5)
        for name, one, other in (("x", cause, effect), ("y", effect, cause)):
            tie = self.tie(one, other)
            rank = self._rank[one].get(other, len(self.read))
            nearest = self.close[one][self._order[one][0]] if self._order[one] else 0.0
            near = self.close[one].get(other, 0.0)
            found |= {
                f"{name} share": tie.share,
                f"{name} mass": tie.mass,
                f"{name} count": tie.count,
                f"{name} widest": tie.widest,
                f"{name} rank": min(rank, 3 * NEAREST),
                f"{name} near": 1 / (1 + rank),
                f"{name} lead": near - nearest,
            }
            found |= {f"{name} sentence {cue}": min(1.0, count) for cue, count in cues(tie.sentence).items()}
            found |= {f"{name} text {cue}": value for cue, value in _told(self.read[one]).items()}
        found |= {f"stressed {cue}": found[f"y sentence {cue}"] * found["y share"] * after for cue in _STRESSED}
        found |= self._beside(cause, effect)
        tickets = self.read[cause].tickets & self.read[effect].tickets
        return found | {
            "stated": stated.sure,
            "stated reversed": stated.reverse,
            "stated by effect": float(stated.by_effect),
            "stated share": stated.share,
            "stated lead": stated.lead,
            "stated weak": float(stated.weak),
            "stated supposed": float(stated.supposed),
            **{f"stated {relation}": float(relation is stated.relation) for relation in RELATIONS},
            "y names x": float(bool(self.read[cause].about & self.read[effect].tickets)),
            "x names y": float(bool(self.read[effect].about & self.read[cause].tickets)),
            "ticket": float(bool(tickets)),
        }

    def _beside(self, cause: str, effect: str) -> Values:
        """Return how the pair compares with others.

        That is whether a memory between them is nearer to both, and whether each is the nearest of the earlier, or
        later, ones.
        """
        near = self.close[cause].get(effect, 0.0)
        shared = self.close[cause].keys() & self.close[effect].keys()
        ends = sorted(_seconds(self.read[uid]) for uid in (cause, effect))
        between = 0.0
        middle = 0.0
        for uid in shared:
            least = min(self.close[cause][uid], self.close[effect][uid])
            middle = max(middle, least)
            if ends[0] and ends[0] <= _seconds(self.read[uid]) <= ends[1]:
                between = max(between, least)
        before_rank, before_lead = self._timely[effect, -1].get(cause, (_FAR, _UNTIED))
        after_rank, after_lead = self._timely[cause, 1].get(effect, (_FAR, _UNTIED))
        texts = [_told(self.read[uid]) for uid in (cause, effect)]
        return {
            "close": near,
            "together": math.log1p(self.tie(cause, effect).mass + self.tie(effect, cause).mass),
            "nearer between": middle - near,
            "nearer between in time": between - near,
            "first before": 1 / (1 + before_rank),
            "rank before": before_rank,
            "lead before": before_lead,
            "first after": 1 / (1 + after_rank),
            "rank after": after_rank,
            "lead after": after_lead,
            "first both ways": float(before_rank == after_rank == 0),
            "trouble after trouble": min(1.0, texts[0]["trouble"]) * min(1.0, texts[1]["trouble"]),
            "decision after trouble": min(1.0, texts[0]["trouble"]) * min(1.0, texts[1]["decide"]),
            "trouble after change": min(1.0, texts[0]["change"]) * min(1.0, texts[1]["trouble"]),
        }

    def _of(self, uid: str) -> Iterator[tuple[str, Tie]]:
        read = self.read[uid]
        best: dict[str, Tie] = {}
        for sentence, said in read.told:
            weights = {term: weight * self._rarity[term] for term, weight in said.items() if weight}
            whole = sum(weights.values()) + _SMOOTHED
            masses: defaultdict[str, float] = defaultdict(float)
            counts: defaultdict[str, int] = defaultdict(int)
            for term, weight in weights.items():
                holders = self._holders[term]
                if len(holders) <= _COMMON:
                    for other in holders:
                        masses[other] += weight
                        counts[other] += weight > _TOLD
            for other, mass in masses.items():
                known = best.get(other, NO_TIE)
                widest = max(mass, known.widest)
                if mass / whole > known.share:
                    best[other] = Tie(mass / whole, mass, counts[other], widest, sentence)
                elif widest > known.widest:
                    best[other] = Tie(known.share, known.mass, known.count, widest, known.sentence)
        best.pop(uid, None)
        yield from best.items()

    def _tied(self, uid: str) -> list[str]:
        return [other for other in self.ties[uid] if uid in self.ties[other]]

    def _closeness(self, uid: str, other: str) -> float:
        return math.sqrt(self.ties[uid][other].share * self.ties[other][uid].share)

    def _in_time(self, uid: str, side: int) -> dict[str, tuple[int, float]]:
        """Return rank and lead of each memory tied to `uid` that was not after it (-1), or not before it (1).

        Memories without a time may have been at any.
        """
        own, near = _seconds(self.read[uid]), self.close[uid]
        order = [
            other
            for other in self._order[uid]
            if not own or not (at := _seconds(self.read[other])) or (at - own) * side >= 0
        ]
        best = [near[other] for other in order[:2]] + [0.0, 0.0]
        return {
            other: (min(place, _FAR), near[other] - best[1 if place == 0 else 0]) for place, other in enumerate(order)
        }


@dataclass(frozen=True, slots=True)
class Judge:
    """Weights of the features: for being an edge, and for each of RELATIONS.

    From the probability `accepted` an edge may be written, from `proposed` a human is asked.
    """

    bias: Sequence[float]
    weights: Mapping[str, Sequence[float]]
    accepted: float
    proposed: float

    def verdict(self, values: Mapping[str, float]) -> tuple[Relation, float]:
        """Return the likeliest relation, and the probability of an edge of this kind (0-1)."""
        scores = list(self.bias)
        for name, value in values.items():
            if value and (weights := self.weights.get(name)):
                scores = [score + value * weight for score, weight in zip(scores, weights, strict=True)]
        edge, *kinds = scores
        parts = [math.exp(max(-50.0, kind - max(kinds))) for kind in kinds]
        best = max(range(len(parts)), key=parts.__getitem__)
        return RELATIONS[best], parts[best] / sum(parts) / (1 + math.exp(-max(-50.0, min(50.0, edge))))

    def confidence(self, sure: float) -> float:
        """Return the confidence of an edge of this probability: ACCEPTED_FROM at the bound `accepted`."""
        if sure < self.accepted:
            return round(PROPOSED_FROM + (ACCEPTED_FROM - 0.01 - PROPOSED_FROM) * sure / self.accepted, 2)
        return round(ACCEPTED_FROM + (_SUREST - ACCEPTED_FROM) * (sure - self.accepted) / (1 - self.accepted), 2)


@cache
def trained_judge() -> Judge:
    """Return the shipped judge."""
    table = json.loads(files("librarian_agents.sweep.models").joinpath("causal_links.json").read_text("utf-8"))
    return Judge(table["bias"], table["weights"], table["accepted"], table["proposed"])


@cache
def _cues() -> Mapping[str, re.Pattern[str]]:
    table = tomllib.loads(files("librarian_agents.sweep").joinpath("causal_links.toml").read_text(encoding="utf-8"))
    known = {name: compiled(pattern) for name, pattern in table["cues"].items()}
    return known | {"trouble": lexicon()["trouble"]}


@lru_cache(maxsize=16_384)
def cues(text: str) -> Mapping[str, int]:
    """Return the occurrences of each kind of words in a text, at most _MOST each."""
    lower = lower_case(text)
    return {name: min(_MOST, len(pattern.findall(lower))) for name, pattern in _cues().items()}


@lru_cache(maxsize=8_192)
def _told(read: ReadNote) -> Values:
    """Return the kinds of words in a memory as a whole."""
    told: Values = {**cues(read.text)}
    lower = lower_case(read.text)
    for name, pattern in lexicon().items():
        told[f"lexicon {name}"] = min(_MOST, len(pattern.findall(lower)))
    told["length"] = math.log1p(len(read.text))
    told["undated"] = float(read.note.occurred_at is None)
    told["points elsewhere"] = float(read.points_elsewhere)
    return told


def _times(cause: ReadNote, effect: ReadNote) -> Values:
    first, second = _seconds(cause), _seconds(effect)
    if not first or not second:
        return {}
    days = (second - first) / _DAY
    return {
        "dated": 1.0,
        "days": math.copysign(math.log1p(abs(days)), days),
        "distance": math.log1p(abs(days)),
        "same day": float(abs(days) < 1),
        "after": float(days > 0),
        "order": float((days > 0) - (days < 0)),
    }


def _seconds(read: ReadNote) -> float:
    return read.note.occurred_at.timestamp() if read.note.occurred_at else 0.0


def shared_words(tie: Tie, other: ReadNote) -> list[str]:
    """Return the words of a tie's sentence that also occur in the other memory."""
    return list(dict.fromkeys(word for word, held in said_of(tie.sentence) if not other.terms.keys().isdisjoint(held)))
