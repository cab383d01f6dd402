"""Whether a passage holds a target item ("definition", "deadline", "reason for closing") about the question's subject.

Subject, item and their relation are judged together, by a model trained on documents of many subjects and their near
misses (items.json, which documents its training and results): overlap of a sentence with the subject and with the item,
the answering model's score of the passage, whether it states something of the item's kind and about what, and whether
it only announces or proposes it or repeats an outdated one. The best few passages of an item are then compared with
each other and with the best for the other items. Pure functions.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from librarian_agents.search.ports import Answering
from librarian_agents.search.reasoners.cues import cue
from librarian_agents.search.reasoners.kinds import SAYS, SHOWS, Kind
from librarian_agents.search.reasoners.passages import plain, share, weights_of
from librarian_agents.search.reasoners.questions import ItemSpec, TaskReading, holds_japanese
from librarian_agents.search.reasoners.readings import NUMBER, PassageReading, SentenceReading, compact, stands_alone

Features = dict[str, float]
Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"

_HALF, _MOST = 0.5, 0.75
# Remaining share of a sentence's value if it announces, proposes, or repeats something outdated.
_DISTRUST = 0.2
# Such a sentence never covers an item, regardless of its other features.
_NEVER_ENOUGH = 0.6
_NEAR_PAGES = 1
FINALISTS = 5
"""Passages of an item that are compared with each other."""

_NEIGHBOURS = 2
_LEAST = 0.0001
_IMPOSSIBLE = -9.0
_LINKED, _ALIASED = 0.7, 0.9
_ALIAS_CHARS = 5
_SUBJECT = (
    *("about", "subject", "subject_held", "clause", "clause_held", "first_held"),
    *("clause_sentence", "clause_coverage"),
)
ANSWERING = (
    *("sentence", "coverage", "named", "misnamed", "holds", "only_asks", "knows_not", "repeats"),
    *("in_span", "out_of_span", "exact"),
)
"""Names of the answering model's signals that are read."""

MEANING = ("meaning", "meant", "focus", "gist")
"""Those that tell what words mean; of an item only together with what it is about."""

_ANSWERS = ("item_sentence", "item_coverage", "clause_sentence", "clause_coverage", "whole_sentence", "whole_meaning")
_SHORT_FACTS = frozenset({"date", "number", "deadline", "duration", "place", "person", "contact", "article"})


@dataclass(frozen=True, slots=True)
class Trees:
    """Boosted trees over the features `names`; a tree is a leaf's value, or `(feature, threshold, left, right)`."""

    names: Sequence[str]
    base: float
    trees: Sequence[Tree]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Trees":
        """Read a table of items.json, where a tree is a list of nodes that name their children by index."""
        return cls(table["features"], table["base"], [_tree(nodes, 0) for nodes in table["trees"]])

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability (0..1) of something with these features."""
        row = [values.get(name, 0.0) for name in self.names]
        total = self.base
        for tree in self.trees:
            node = tree
            while isinstance(node, tuple):
                node = node[2] if row[node[0]] <= node[1] else node[3]
            total += node
        return 1 / (1 + math.exp(-total))


@dataclass(frozen=True, slots=True)
class ItemModel:
    """`passage` judges a passage for an item by itself; `choice` compares the best few, also with those of other items.

    From probability `enough` a passage covers an item; a task whose items are all right with the probability `sure` is
    done.
    """

    passage: Trees
    choice: Trees
    enough: float
    sure: float

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "ItemModel":
        """Read items.json."""
        return cls(Trees.of(table["passage"]), Trees.of(table["choice"]), table["enough"], table["sure"])


@dataclass(frozen=True, slots=True)
class Rated:
    """A passage for an item: its best sentence and the probability (0..1) that it holds the item."""

    reading: PassageReading
    sentence: str
    probability: float


@cache
def item_model() -> ItemModel:
    """Return the trained model."""
    text = files("librarian_agents.search.reasoners").joinpath("items.json").read_text(encoding="utf-8")
    return ItemModel.of(json.loads(text))


def rate(
    task: TaskReading,
    readings: Sequence[PassageReading],
    model: ItemModel,
    answering: Answering,
    similar: Mapping[int, float],
) -> list[list[Rated]]:
    """Return the best few passages for each item with their probability of holding it, best first.

    `similar` is as in features_of.
    """
    read = [features_of(spec, task, readings, answering, similar) for spec in task.items]
    rows = [[values for _, values in each] for each in read]
    alone = [[model.passage.probability(values) for values in each] for each in rows]
    rated = []
    for found, sentences in zip(choices(rows, alone, readings), read, strict=True):
        some = [
            Rated(readings[at], sentences[at][0], model.choice.probability(values) * _ceiling(values))
            for at, values in found
        ]
        rated.append(sorted(some, key=lambda each: -each.probability))
    return rated


def choices(
    rows: Sequence[Sequence[Features]], alone: Sequence[Sequence[float]], readings: Sequence[PassageReading]
) -> list[list[tuple[int, Features]]]:
    """Return the best FINALISTS passages for each item, by their index in `readings`, with features for the choice.

    `rows` and `alone` hold the features and the separate probability of each passage for each item. Added are
    comparisons with the item's other passages and with the best for the other items: one text rarely holds all of them,
    and related passages are often on neighbouring pages.
    """
    best = [max(range(len(each)), key=each.__getitem__) for each in alone if each]
    found = []
    for item, likely in enumerate(alone):
        order = sorted(range(len(likely)), key=lambda at: -likely[at])
        mean = sum(alone[other][best[other]] for other in range(len(best)) if other != item) / max(1, len(best) - 1)
        found.append(
            [
                (
                    at,
                    rows[item][at]
                    | _beside(rank, order, likely)
                    | _across(item, at, alone, best, readings)
                    | {"items": float(len(alone)), "passages": float(len(readings)), "others_best": mean},
                )
                for rank, at in enumerate(order[:FINALISTS])
            ]
        )
    return found


def _beside(rank: int, order: Sequence[int], likely: Sequence[float]) -> Features:
    """Return how a passage compares with the item's other passages."""
    own = _log_odds(likely[order[rank]])
    others = [_log_odds(likely[at]) for at in order if at != order[rank]][:2]
    second, third = (*others, _IMPOSSIBLE, _IMPOSSIBLE)[:2]
    return {"alone": own, "lead": own - second, "third": third, "place": float(rank)}


def _across(
    item: int, at: int, alone: Sequence[Sequence[float]], best: Sequence[int], readings: Sequence[PassageReading]
) -> Features:
    """Return how a passage compares with the best for the task's other items."""
    others = [other for other in range(len(alone)) if other != item]
    claims = [alone[other][at] for other in others if best[other] == at]
    source = readings[at].passage.source
    beside = [
        (alone[other][best[other]], _pages_apart(readings[best[other]], readings[at]))
        for other in others
        if best[other] != at and source and readings[best[other]].passage.source == source
    ]
    elsewhere = max((_log_odds(alone[other][at]) for other in others), default=_IMPOSSIBLE)
    return {
        "elsewhere": elsewhere,
        "elsewhere_lead": _log_odds(alone[item][at]) - elsewhere,
        "claimed": len(claims) / max(1, len(others)),
        "claim": max(claims, default=0.0),
        "same_source": max((likely for likely, _ in beside), default=0.0),
        "near_page": max((likely for likely, pages in beside if pages <= _NEIGHBOURS), default=0.0),
    }


def _pages_apart(one: PassageReading, other: PassageReading) -> float:
    pages = [NUMBER.search(reading.passage.page) for reading in (one, other)]
    numbers = [int(page[0]) for page in pages if page]
    return abs(numbers[0] - numbers[1]) if len(numbers) == len(pages) else math.inf


def _ceiling(values: Mapping[str, float]) -> float:
    """Keep announcements, proposals, outdated passages and those without a subject's word from covering anything."""
    return 1.0 if values.get("trust") == 1 and not values.get("unrelated") else _NEVER_ENOUGH


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(bounded / (1 - bounded))


def features_of(
    spec: ItemSpec,
    task: TaskReading,
    readings: Sequence[PassageReading],
    answering: Answering,
    similar: Mapping[int, float],
) -> list[tuple[str, Features]]:
    """Return each passage's best sentence for the item, and features for and against it, mostly 0..1.

    `similar` is the similarity (0..1) of passages, by index, to the question, where known: it replaces the words of the
    subject.
    """
    held = [reading.held for reading in readings]
    rare = weights_of(spec.wanted | spec.first | spec.hints | spec.intended, held)
    weights = {word: 1 + weight for word, weight in rare.items()}
    about = [max(share(spec.subject, own, weights), share(spec.clause | spec.own, own, weights)) for own in held]
    aliases = _aliases(spec, readings)
    answers = _of_answering(spec, readings, answering)
    rows: list[tuple[str, Features]] = []
    for at, reading in enumerate(readings):
        if not reading.sentences:
            rows.append(("", {}))
            continue
        sentence = max(reading.sentences, key=lambda each: _fit(spec, each, weights))
        values = (
            _of_words(spec, reading, sentence, weights)
            | _of_intent(spec, reading, sentence, weights)
            | _of_kind(spec, task, sentence, reading, weights)
            | _of_trust(spec, task, sentence, reading)
            | answers[at]
        )
        values |= {"about": about[at], "near": _near(at, readings, about)}
        nearness = max(_LINKED * similar.get(reading.passage.index, 0.0), _ALIASED * bool(aliases & reading.stems))
        for name in _SUBJECT:
            values[name] = max(values.get(name, 0.0), nearness)
        values["unrelated"] = float(not nearness and _is_unrelated(spec, reading, values))
        values["score"] = _score(values)
        rows.append((sentence.text, values))
    _compare([values for _, values in rows])
    return rows


def _is_unrelated(spec: ItemSpec, reading: PassageReading, values: Mapping[str, float]) -> bool:
    """Whether a passage in the question's language has no word of its topic or of the item.

    For instance another decision than the one about the roof.
    """
    return bool(spec.topic) and not values["foreign"] and (spec.topic | spec.own).isdisjoint(reading.held)


def _aliases(spec: ItemSpec, readings: Sequence[PassageReading]) -> frozenset[str]:
    """Return short symbols that texts name beside the subject, such as R2 in "決定係数 R2 とは"."""
    target = spec.own if spec.own & spec.subject else spec.subject
    topics = [sentence.topic for reading in readings for sentence in reading.sentences]
    named = [topic - spec.wanted for topic in topics if target and topic >= target and len(topic) <= len(target) + 2]
    return frozenset(
        word for words in named for word in words if word.isascii() and len(word) <= _ALIAS_CHARS and not word.isdigit()
    )


def _fit(spec: ItemSpec, sentence: SentenceReading, weights: Mapping[str, float]) -> float:
    words = share(spec.own, sentence.stems, weights) + 0.5 * share(spec.subject, sentence.stems, weights)
    return _strength(spec, sentence, weights) + words


def _strength(spec: ItemSpec, sentence: SentenceReading, weights: Mapping[str, float]) -> float:
    """Return how surely a sentence states something of the item's kind; a definition only of the requested term."""
    if spec.kind is None:
        return 0.0
    if spec.kind.name != "definition":
        return spec.kind.strength(sentence.text)
    target = spec.own or spec.clause or spec.subject
    if sentence.called:
        named = share(target, sentence.called, weights) >= _HALF or _right(sentence.called, spec.wanted) >= _MOST
        return SAYS if named else 0.0
    defines = cue("defines").search(sentence.text) is not None
    covers, right = share(target, sentence.topic, weights), _right(sentence.topic, spec.wanted)
    if covers >= _HALF and right >= _HALF:
        return SAYS if defines else SHOWS
    if not defines:
        return 0.0
    return SHOWS if covers >= _HALF or right >= _MOST else 0.0


def _of_words(
    spec: ItemSpec, reading: PassageReading, sentence: SentenceReading, weights: Mapping[str, float]
) -> Features:
    """Return the overlap of the passage and its sentence with the subject and with the item."""
    target = spec.own or spec.subject
    here = compact(sentence.text)
    own_held = share(spec.own, reading.held, weights)
    numbers = frozenset(NUMBER.findall(spec.words if spec.own else spec.asking))
    names = [float(len(name)) for name in spec.names if stands_alone(name, reading.text)]
    return {
        "subject": share(spec.subject, sentence.stems, weights),
        "subject_held": share(spec.subject, reading.held, weights),
        "subject_elsewhere": share(spec.subject | spec.clause, reading.held - sentence.stems, weights),
        "subject_source": share(spec.subject, reading.source, weights),
        "first_held": share(spec.first, reading.held, weights),
        "clause": share(spec.clause, sentence.stems, weights),
        "clause_held": share(spec.clause, reading.held, weights),
        "bare": float(not spec.own),
        "own": share(spec.own, sentence.stems, weights),
        "own_held": own_held,
        "own_missing": 1 - own_held if spec.own else 0.0,
        "own_all": float(bool(spec.own) and spec.own <= reading.held),
        "own_apart": share(spec.apart, reading.held, weights),
        "apart": float(bool(spec.apart)),
        "topic_apart": share(spec.apart, sentence.topic, weights),
        "topic_all": float(bool(spec.own) and spec.own <= sentence.topic),
        "own_bounded": float(bool(spec.own) and stands_alone(compact(spec.words), reading.text)),
        "name_literal": max(names, default=0.0) / 10,
        "name_in_sentence": float(any(stands_alone(name, here) for name in spec.names)),
        "numbers_missing": float(bool(numbers) and not numbers & reading.numbers),
        "hints": share(spec.hints, reading.held, weights),
        "target_size": min(1.0, len(target) / 8),
        "topic_right": _right(sentence.topic, spec.wanted),
        "topic_covers": share(target, sentence.topic, weights),
        "topic_subject": share(spec.subject, sentence.topic, weights),
        "topic_empty": float(not sentence.topic),
        "called_right": _right(sentence.called, spec.wanted),
        "rest": _right(sentence.stems, spec.wanted),
    }


def _of_intent(
    spec: ItemSpec, reading: PassageReading, sentence: SentenceReading, weights: Mapping[str, float]
) -> Features:
    """Return the overlap with the part of the intent that asks for the item, and whether the languages match."""
    return {
        "foreign": float(holds_japanese(spec.asking + spec.item) != holds_japanese(reading.text)),
        "intended": share(spec.intended, sentence.stems, weights),
        "intended_held": share(spec.intended, reading.held, weights),
        "intended_topic": share(spec.intended, sentence.topic, weights),
    }


def _of_kind(
    spec: ItemSpec,
    task: TaskReading,
    sentence: SentenceReading,
    reading: PassageReading,
    weights: Mapping[str, float],
) -> Features:
    """Return whether the sentence states something of the item's kind, or of the kinds of the task's other items."""
    kind = spec.kind
    others = [other.kind for other in task.items if other.kind and other.kind is not kind]
    money = cue("asks_for_money").search(spec.item) is not None
    return {
        "kind": _strength(spec, sentence, weights) * _trust(task, sentence, reading),
        "kind_raw": kind.strength(sentence.text) if kind else 0.0,
        "kind_anywhere": kind.strength(reading.passage.text) if kind else 0.0,
        "kind_named": float(kind is not None and _is_named(kind, plain(sentence.text))),
        "kindless": float(kind is None),
        "others_say": max((other.strength(sentence.text) for other in others), default=0.0),
        "money": float(cue("money").search(sentence.text) is not None) - 0.5 if money else 0.0,
        "definition": float(kind is not None and kind.name == "definition"),
        "fact": float(kind is not None and kind.name in _SHORT_FACTS),
    }


def _of_trust(spec: ItemSpec, task: TaskReading, sentence: SentenceReading, reading: PassageReading) -> Features:
    """Return whether the passage is reliable, and its rank in the search."""
    causal = spec.kind is not None and spec.kind.name in ("reason", "remedy")
    return {
        "trust": _trust(task, sentence, reading),
        "outdated": float(reading.outdated and not task.wants_old),
        "plan": float(reading.plan and not task.wants_plans),
        "defers": float(sentence.defers),
        "defers_anywhere": float(any(each.defers for each in reading.sentences)),
        "uncertain": float(reading.uncertain),
        "symptom": float(causal and cue("symptom").search(sentence.text) is not None),
        "rank": reading.passage.rank,
        "relevance": reading.passage.relevance,
    }


def _of_answering(spec: ItemSpec, readings: Sequence[PassageReading], answering: Answering) -> list[Features]:
    """Return how well each passage answers the item's own words, those of the clause asking for it, and both."""
    texts = [(reading.passage.source, reading.passage.text) for reading in readings]
    rows: list[Features] = [{} for _ in texts]
    asked = (("item", spec.words, ANSWERING), ("clause", spec.about, ANSWERING))
    for label, question, names in (*asked, ("whole", spec.whole, (*ANSWERING, *MEANING))):
        for row, signals in zip(rows, answering(question, texts) if question.strip() else (), strict=False):
            row.update({f"{label}_{name}": signals[name] for name in names})
    return rows


def _trust(task: TaskReading, sentence: SentenceReading, reading: PassageReading) -> float:
    outdated = reading.outdated and not task.wants_old
    planned = reading.plan and not task.wants_plans
    return _DISTRUST if outdated or planned or sentence.defers else 1.0


def _near(at: int, readings: Sequence[PassageReading], about: Sequence[float]) -> float:
    """Return how much the pages beside a passage are about the subject: a text may span several."""
    here = readings[at].passage
    page = NUMBER.search(here.page)
    if not here.source or page is None:
        return 0.0
    beside = [
        about[other]
        for other, reading in enumerate(readings)
        if other != at
        and reading.passage.source == here.source
        and (found := NUMBER.search(reading.passage.page))
        and abs(int(found[0]) - int(page[0])) <= _NEAR_PAGES
    ]
    return max(beside, default=0.0)


def _score(values: Mapping[str, float]) -> float:
    """Return a first estimate of how well a passage fits."""
    fit = values["kind"] * values["about"] + values["own"] + 0.5 * values["own_held"]
    fit += 0.5 * values["about"] * values["kindless"]
    return fit * values["trust"] * (_DISTRUST if values["numbers_missing"] else 1.0)


def _compare(rows: Sequence[Features]) -> None:
    """Add how each passage compares with the best of all."""
    for name in (
        "score",
        "about",
        "own_held",
        "own",
        "subject",
        "subject_held",
        "clause_held",
        "intended_held",
        "topic_covers",
        *_ANSWERS,
    ):
        best = max((values.get(name, 0.0) for values in rows), default=0.0)
        for values in rows:
            values[f"{name}_best"] = values.get(name, 0.0) / best if best else 0.0


def _right(found: frozenset[str], wanted: frozenset[str]) -> float:
    """Return the share (0..1) of findings that are wanted."""
    return len(found & wanted) / len(found) if found else 0.0


def _is_named(kind: Kind, words: str) -> bool:
    return any(f" {word} " in words if word.isascii() else len(word) > 1 and word in words for word in kind.named)


def _tree(nodes: Sequence[Sequence[float]], at: int) -> Tree:
    node = nodes[at]
    if len(node) == 1:
        return node[0]
    feature, threshold, left, right = node
    return int(feature), threshold, _tree(nodes, int(left)), _tree(nodes, int(right))
