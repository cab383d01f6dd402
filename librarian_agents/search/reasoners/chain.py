"""Selects passages that answer a question together: a set that grows by the leads of its members.

A question that takes two documents names one and asks for something that only the other says ("the director of …"), or
compares two that it names. So the next member is scored by its relation to the question and to the chosen ones: whether
they name it, whether it names them, whether it holds words of the question that they lack. A logistic regression over
these features (evidence.json, which documents its training and results) gives the probability that a passage belongs to
the set; the set grows while the best next one is likely enough.

Messages rarely lead from one to the next: another regression judges each by itself, also by how well it answers, and
the set has the size with the highest expected F1. Pure functions.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.items import ANSWERING, MEANING
from librarian_agents.search.reasoners.passages import Passage, plain, share, weights_of

MOST = 5
"""Maximum passages for one question."""

# Length of the common prefix of related words, such as director and directed.
_STEM = 5
_NEAR_CHARS = 60
_WORDS_BEFORE = 3
_WHEN = re.compile(
    r"\b(?:when|how long|what (?:date|day|month|time|year)|which (?:date|day|month|year))\b|いつ|何[年月日時]",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|last|next|ago|week|weekend|month|year|since|\w+day|1\d\d\d|20\d\d)\b|[年月日時週]",
    re.IGNORECASE,
)
_CAPITAL = r"(?:[A-Z]\.|[A-Z][\w'’-]+)"
_NAME = re.compile(rf"{_CAPITAL}(?: (?:of|the|de|da|von|van|and) {_CAPITAL}| {_CAPITAL})+")
_LIKELY = 0.5
_MAY_LACK = 0.15
_LEAD_WORDS = 6
_ANSWERS = (*ANSWERING, *MEANING, "lead_said", "lead_meaning", "lead_gist")


@dataclass(frozen=True, slots=True)
class SetModel:
    """A trained regression: `weights` by feature, and the minimum probability of a further passage.

    Without that minimum, passages are judged each by itself.
    """

    weights: Mapping[str, float]
    enough: float | None = None

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability (0..1) that a passage with these features belongs to the set."""
        return 1 / (1 + math.exp(-sum(self.weights.get(name, 0.0) * value for name, value in values.items())))


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question about `passages`: its terms, their weights, its word prefixes, and the passages it names."""

    text: str
    terms: frozenset[str]
    stems: frozenset[str]
    weights: Mapping[str, float]
    passages: Sequence[Passage]
    named: frozenset[int]
    asks_when: bool
    scoring: Scoring

    def lacking(self, chosen: Sequence[Passage]) -> frozenset[str]:
        """Return the terms of the question that none of `chosen` holds."""
        return self.terms.difference(*(passage.held for passage in chosen))

    @classmethod
    def of(cls, text: str, passages: Sequence[Passage], scoring: Scoring) -> "SetQuestion":
        """Return the question `text` for `passages`."""
        words = frozenset(scoring.terms(text))
        held = [passage.held for passage in passages]
        plain_text = plain(text)
        return cls(
            text=text,
            terms=words,
            stems=frozenset(word[:_STEM] for word in words if len(word) >= _STEM),
            weights=weights_of(words.union(*held), held),
            passages=passages,
            named=frozenset(passage.index for passage in passages if names(plain_text, passage)),
            asks_when=_WHEN.search(text) is not None,
            scoring=scoring,
        )


@dataclass(frozen=True, slots=True)
class Link:
    """A passage of the set and the probability (0..1) that it belongs there."""

    passage: Passage
    probability: float


def together(question: SetQuestion, models: Mapping[str, SetModel]) -> list[Link]:
    """Return the joint answer by the regression for such texts; empty if there are no passages."""
    model = models[kind_of_texts(question.passages)]
    return _picked(question, model) if model.enough is None else _grown(question, model, model.enough)


def _grown(question: SetQuestion, model: SetModel, enough: float) -> list[Link]:
    """Return the best start, and further passages while they are likely enough."""
    chosen: list[Link] = []
    while len(chosen) < MOST:
        members = [link.passage for link in chosen]
        left = [passage for passage in question.passages if passage not in members]
        rated = [Link(passage, model.probability(features(question, passage, members))) for passage in left]
        best = max(rated, key=lambda link: link.probability, default=None)
        if best is None or (chosen and best.probability < enough):
            break
        chosen.append(best)
    return chosen


def _picked(question: SetQuestion, model: SetModel) -> list[Link]:
    """Return the most probable passages, as many as give the highest expected F1."""
    rated = [
        Link(passage, model.probability(values))
        for passage, values in zip(question.passages, separate_features(question), strict=True)
    ]
    rated.sort(key=lambda link: -link.probability)
    likely = [link.probability for link in rated]
    sizes = range(1, min(MOST, len(rated)) + 1)
    return rated[: max(sizes, key=lambda size: expected_f1(likely, size), default=0)]


def expected_f1(likely: Sequence[float], size: int) -> float:
    """Return the expected F1 (0..1) of the set of the first `size` passages.

    `likely` holds each passage's probability of being right, independent of the others (Jansche, A maximum expected
    utility framework for binary sequence labeling, ACL 2007).
    """
    right, missed = _counts(likely[:size]), _counts(likely[size:])
    return sum(
        found_chance * missed_chance * 2 * found / (size + found + lost)
        for found, found_chance in enumerate(right)
        for lost, missed_chance in enumerate(missed)
    )


def _counts(likely: Sequence[float]) -> list[float]:
    """Return the probability of each number of right ones, from 0 to all."""
    chances = [1.0]
    for each in likely:
        chances = [
            (1 - each) * same + each * fewer for same, fewer in zip([*chances, 0.0], [0.0, *chances], strict=True)
        ]
    return chances


def features(question: SetQuestion, passage: Passage, chosen: Sequence[Passage]) -> dict[str, float]:
    """Return features for and against adding `passage` to `chosen`, each 0..1; the start has different ones."""
    own = _alone(question, passage)
    if not chosen:
        return {f"first_{name}": value for name, value in own.items()} | {"first": 1.0}
    return own | _joined(question, passage, chosen)


def separate_features(question: SetQuestion) -> list[dict[str, float]]:
    """Return features for and against each passage by itself: its search scores, and how well it answers."""
    answers = question.scoring.answering(question.text, [(each.source, each.text) for each in question.passages])
    return [
        _alone(question, passage)
        | {name: signals[name] for name in _ANSWERS}
        | {"said_by": float(not question.terms.isdisjoint(passage.source_terms)), "one": 1.0}
        for passage, signals in zip(question.passages, answers, strict=True)
    ]


def settled(question: SetQuestion, links: Sequence[Link]) -> bool:
    """Whether the set answers the question.

    All are likely, or they hold nearly all words of the question; and if the set names the referent of a word of the
    question ("directed by …" for "the director"), that was seen as well.
    """
    members = [link.passage for link in links]
    lacking = question.lacking(members)
    if lacking and any(lead.related for lead in leads(question, members)):
        return False
    likely = math.prod(link.probability for link in links)
    return likely >= _LIKELY or share(question.terms, lacking, question.weights) <= _MAY_LACK


@dataclass(frozen=True, slots=True)
class Lead:
    """A name in a chosen passage that no seen passage is about; `related` if the word before relates to the query."""

    name: str
    related: bool


def leads(question: SetQuestion, chosen: Sequence[Passage]) -> list[Lead]:
    """Return the leads of `chosen`, related names first; passages without a heading are not about named things."""
    known = [question.terms, *(passage.heading_terms for passage in question.passages)]
    found = [
        Lead(name, _is_related(name, passage.plain, question))
        for passage in chosen
        if passage.heading
        for name in dict.fromkeys(_NAME.findall(passage.body))
        if not any(terms >= set(question.scoring.terms(name)) for terms in known)
    ]
    return sorted(found, key=lambda lead: not lead.related)


def lead_query(question: SetQuestion, chosen: Sequence[Passage]) -> str:
    """Return the query for what `chosen` lack: the leading name in them and the missing words of the question.

    Empty if there are no leads.
    """
    found = leads(question, chosen)
    words = sorted(question.lacking(chosen), key=lambda word: -question.weights[word])[:_LEAD_WORDS]
    return " ".join([found[0].name, *words]) if found else ""


def names(text: str, passage: Passage) -> bool:
    """Whether a plain text names the passage's topic."""
    return bool(passage.heading) and passage.heading in text


def kind_of_texts(passages: Sequence[Passage]) -> str:
    """Return the regression's name: for documents with headings, or for messages and other texts without."""
    headed = sum(bool(passage.heading) for passage in passages)
    return "documents" if 2 * headed > len(passages) else "messages"


@cache
def models() -> Mapping[str, SetModel]:
    """Return both regressions, by the kind of texts."""
    return {name: SetModel(entry["weights"], entry["enough"]) for name, entry in _table().items()}


def measurements() -> Mapping[str, Mapping[str, float]]:
    """Return the results of each regression on held-out questions, by its training data."""
    return {entry["trained_on"]: entry["left_out"] for entry in _table().values()}


@cache
def _table() -> Mapping[str, Any]:
    table = json.loads(files("librarian_agents.search.reasoners").joinpath("evidence.json").read_text(encoding="utf-8"))
    trained: Mapping[str, Any] = table["models"]
    return trained


def _alone(question: SetQuestion, passage: Passage) -> dict[str, float]:
    return {
        "relevance": passage.relevance,
        "rank": passage.rank,
        "cover": share(question.terms, passage.held, question.weights),
        "named": float(passage.index in question.named),
        "heading": share(passage.heading_terms, question.terms, question.weights),
        "asks": float(question.scoring.is_question(passage.text)),
        "when": float(question.asks_when and _TIME.search(passage.text) is not None),
    }


def _joined(question: SetQuestion, passage: Passage, chosen: Sequence[Passage]) -> dict[str, float]:
    lacking = question.lacking(chosen)
    known = question.terms.union(*(member.heading_terms for member in chosen))
    new_terms = frozenset().union(*(member.terms for member in chosen)) - known
    named = passage.index in question.named
    led = any(names(member.plain, passage) for member in chosen)
    leads = any(names(passage.plain, member) for member in chosen)
    relation = max(_relation(member.plain, passage, question) for member in chosen)
    new = share(lacking, passage.held, question.weights)
    return {
        "next": 1.0,
        "third": float(len(chosen) > 1),
        "fourth": float(len(chosen) > 2),
        "led": float(led),
        "leads": float(leads),
        "unrelated": float(not led and not leads),
        "relation": relation,
        "back_relation": max(_relation(passage.plain, member, question) for member in chosen),
        "bridge": float(led and not named),
        "bridge_relation": float(led and not named) * relation,
        "new": new,
        "named_new": float(named) * new,
        "lacking": share(question.terms, lacking, question.weights),
        "told": share(passage.heading_terms, new_terms, question.weights),
        "pair": float(named and any(member.index in question.named for member in chosen)),
        "names_left": float(bool(question.named - {member.index for member in chosen})),
    }


def _relation(text: str, passage: Passage, question: SetQuestion) -> float:
    """Return how related the words around the passage's name in `text` are to the question (as directed, director)."""
    at = text.find(passage.heading) if passage.heading else -1
    if at < 0:
        return 0.0
    end = at + len(passage.heading)
    near = text[max(0, at - _NEAR_CHARS) : at].split() + text[end : end + _NEAR_CHARS].split()
    return float(_has_family(near, question, passage.heading))


def _is_related(name: str, text: str, question: SetQuestion) -> bool:
    """Whether one of the words just before `name` in a plain `text` is related to a word of the question."""
    before, found, _ = text.partition(plain(name))
    return bool(found) and _has_family(before.split()[-_WORDS_BEFORE:], question, name.casefold())


def _has_family(words: Sequence[str], question: SetQuestion, name: str) -> bool:
    return not (question.stems - {word[:_STEM] for word in name.split()}).isdisjoint(word[:_STEM] for word in words)
