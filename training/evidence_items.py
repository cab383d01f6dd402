"""Fits librarian_agents/search/reasoners/items.json on worlds of documents, and measures it on worlds left out.

    PYTHONPATH=. python training/evidence_items.py training/evidence_worlds [FOLDER…] [--write] [--verbose]

A world (README in evidence_worlds) is a set of documents of one subject with requests, each with its target items and
the documents that hold them, if any. Each request runs through the whole loop, over a plain word search that returns k
documents per query, with a model fitted on the other worlds alone. `--only FOLDER` measures only those worlds,
`--write` fits on all and writes the weights.
"""

import argparse
import asyncio
import json
import random
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from librarian_agents.search.limits import Limits
from librarian_agents.search.loop import SearchAgent
from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.heuristic import HeuristicReasoner
from librarian_agents.search.reasoners.items import ItemModel, Trees, choices, features_of
from librarian_agents.search.reasoners.passages import read_all
from librarian_agents.search.reasoners.questions import queries_for, read_task
from librarian_agents.search.reasoners.readings import PassageReading, read_passages
from librarian_agents.search.types import Candidate, EvidenceTask, Findings, Search
from retrieval.answerness import is_question
from retrieval.evidence import answering, terms
from retrieval.words import in_the_other_language

WEIGHTS = Path(__file__).parents[1] / "librarian_agents" / "search" / "reasoners" / "items.json"
SCORING = Scoring(terms, is_question, answering, translated=in_the_other_language)
FOLDS = 5
INNER_FOLDS = 3
# The best of a few tried in cross-validation.
PASSAGE = {"max_iter": 160, "max_depth": 3, "learning_rate": 0.07, "min_samples_leaf": 12, "max_features": 0.4}
CHOICE = {"max_iter": 250, "max_depth": 4, "learning_rate": 0.05, "min_samples_leaf": 15, "max_features": 0.3}
ENOUGH, SURE = 0.64, 0.85
STAGES = (2, 7)
OTHERS = 3


@dataclass(slots=True)
class World:
    """Documents, the words of each, and the requests."""

    name: str
    k: int
    documents: list[dict[str, Any]]
    requests: list[dict[str, Any]]
    words: list[frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.words = [words_of(document["text"]) for document in self.documents]

    def find(self, query: str) -> list[dict[str, Any]]:
        """Return the documents that share most words with the query; long ones are discounted."""
        asked = words_of(query)
        rated = [(len(asked & own) / len(own) ** 0.5, -index) for index, own in enumerate(self.words) if asked & own]
        return [self.documents[-index] | {"score": value} for value, index in sorted(rated, reverse=True)[: self.k]]


@dataclass(slots=True)
class WorldTool:
    """The search of a world as the tool of one request."""

    world: World
    shown: dict[str, int] = field(default_factory=dict)

    async def search(self, query: str) -> Sequence[Candidate]:
        """Return the found documents, numbered across the request."""
        return self.found(query)

    def found(self, query: str) -> list[Candidate]:
        """Return the found documents, numbered across the request."""
        return [
            Candidate(
                self.shown.setdefault(document["id"], len(self.shown) + 1),
                document["text"],
                document["source"],
                str(document["page"]),
                document["score"],
            )
            for document in self.world.find(query)
        ]


def words_of(text: str) -> frozenset[str]:
    """Return lower-case words, and pairs of letters for Japanese."""
    plain = unicodedata.normalize("NFKC", text).lower()
    found = set(re.findall(r"[a-z0-9_^]+", plain))
    for run in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]+", plain):
        found |= {run[at : at + 2] for at in range(len(run) - 1)}
    return frozenset(found)


def read_worlds(folders: Sequence[Path]) -> list[World]:
    """Read every world of the folders: `.txt` as in evidence_worlds/README.md, or JSON with the same fields."""
    texts = [_read_text(path) for folder in folders for path in sorted(folder.glob("*.txt"))]
    data = [
        json.loads(path.read_text(encoding="utf-8")) for folder in folders for path in sorted(folder.glob("*.json"))
    ]
    return texts + [World(each["name"], each["k"], each["documents"], each["requests"]) for each in data]


def _read_text(path: Path) -> World:
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    _, name, _, k = first.split()
    world = World(name, int(k), [], [])
    for line in filter(None, lines):
        if line.startswith("? "):
            query, context, intent, stop, retries = line.removeprefix("? ").split(" | ")
            request = {"user_query": query, "context": context, "intent": intent, "stop_conditions": stop}
            request |= {"id": f"r{len(world.requests) + 1:02}", "max_retries": int(retries), "items": {}}
            world.requests.append(request)
        elif line.startswith("- "):
            item, _, ids = line.removeprefix("- ").rpartition(":")
            world.requests[-1]["items"][item] = ids.split()
        else:
            document, source, page, text = line.split(" | ")
            world.documents.append({"id": document, "source": source, "page": page, "text": text})
    world.words = [words_of(document["text"]) for document in world.documents]
    return world


def task_of(request: Mapping[str, Any]) -> EvidenceTask:
    """Return the task of a request."""
    return EvidenceTask(
        request["user_query"],
        tuple(request["items"]),
        request.get("max_retries", 5),
        intent=request.get("intent"),
        context=request.get("context"),
        stop_conditions=request.get("stop_conditions"),
    )


@dataclass(frozen=True, slots=True)
class Example:
    """A task after some searches: the passages, their features for each item, and those that hold the item."""

    readings: Sequence[PassageReading]
    rows: Sequence[Sequence[Mapping[str, float]]]
    right: Sequence[Sequence[bool]]


def examples(world: World) -> Iterator[Example]:
    """Yield each task after a few searches and after many, and with a handful of documents without a source."""
    chance = random.Random(world.name)
    for request in world.requests:
        for stage in STAGES:
            yield _example(world, request, stage)
        yield _example(_handful(world, request, chance), request, STAGES[-1])


def _handful(world: World, request: Mapping[str, Any], chance: random.Random) -> World:
    """Return the documents that hold an item of the request, and a few others."""
    wanted = {name for gold in request["items"].values() for name in gold}
    others = chance.sample([document for document in world.documents if document["id"] not in wanted], OTHERS)
    few = [document for document in world.documents if document["id"] in wanted or document in others]
    return World(world.name, world.k, [document | {"source": "", "page": ""} for document in few], [])


def _example(world: World, request: Mapping[str, Any], stage: int) -> Example:
    task = task_of(request)
    reading = read_task(task, terms)
    queries = [queries_for(spec, reading, task, SCORING) for spec in reading.items]
    tool = WorldTool(world)
    searches = [Search(query, tuple(tool.found(query))) for own in queries for query in own[:stage]]
    ids = {index: name for name, index in tool.shown.items()}
    found = read_all(Findings(tuple(searches)), (task.user_query, *task.target_items), terms)
    passages = read_passages(found, terms)
    rows = [features_of(spec, reading, passages, SCORING.answering, {}) for spec in reading.items]
    return Example(
        passages,
        [[values for _, values in row] for row in rows],
        [[ids[passage.passage.index] in request["items"][spec.item] for passage in passages] for spec in reading.items],
    )


def fit(samples: Sequence[Sequence[Example]]) -> dict[str, Any]:
    """Fit both models, given the examples of each world, and return them as the table of items.json.

    The choice is fitted on probabilities of passages by models that have not seen their world.
    """
    rows, right = [], []
    for fold in range(INNER_FOLDS):
        known = [each for at, sample in enumerate(samples) if at % INNER_FOLDS != fold for each in sample]
        passage = Trees.of(_fit_passages(known))
        for each in (each for sample in samples[fold::INNER_FOLDS] for each in sample):
            alone = [[passage.probability(values) for values in row] for row in each.rows]
            for chosen, labels in zip(choices(each.rows, alone, each.readings), each.right, strict=True):
                rows += [values for _, values in chosen]
                right += [labels[at] for at, _ in chosen]
    return {
        "enough": ENOUGH,
        "sure": SURE,
        "passage": _fit_passages([each for sample in samples for each in sample]),
        "choice": _boosted(rows, right, CHOICE),
    }


def _fit_passages(sample: Sequence[Example]) -> dict[str, Any]:
    rows = [values for each in sample for item in each.rows for values in item]
    right = [label for each in sample for item in each.right for label in item]
    return _boosted(rows, right, PASSAGE)


def _boosted(rows: Sequence[Mapping[str, float]], right: Sequence[bool], options: Mapping[str, Any]) -> dict[str, Any]:
    names = sorted({name for values in rows for name in values})
    values = np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float32)
    model = HistGradientBoostingClassifier(**options, max_bins=64, early_stopping=False, random_state=0)
    model.fit(values, np.array(right))
    # scikit-learn exposes the trees of this class nowhere else.
    trees = [_nodes(each.nodes) for (each,) in model._predictors]  # noqa: SLF001
    base = round(float(model._baseline_prediction[0, 0]), 4)  # noqa: SLF001
    return {"base": base, "features": names, "trees": trees}


def _nodes(nodes: Any) -> list[list[float]]:
    return [
        [round(float(node["value"]), 4)]
        if node["is_leaf"]
        else [
            int(node["feature_idx"]),
            round(float(node["num_threshold"]), 4),
            int(node["left"]),
            int(node["right"]),
        ]
        for node in nodes
    ]


async def measure(world: World, reasoner: HeuristicReasoner, *, verbose: bool) -> Counter[str]:
    """Run every request of a world, and count."""
    counts: Counter[str] = Counter()
    text = {document["id"]: document["text"] for document in world.documents}
    for request in world.requests:
        tool = WorldTool(world)
        started = time.process_time()
        result = await SearchAgent(reasoner, Limits(), time).run(task_of(request), tool)
        counts["ms"] += round((time.process_time() - started) * 1000)
        ids = {index: name for name, index in tool.shown.items()}
        complete = True
        for item, gold in request["items"].items():
            got = [ids[index] for index in result.coverage.get(item, ())]
            right = any(name in gold for name in got)
            counts.update(
                right=right,
                covered=bool(got),
                there=bool(gold),
                reached=bool(set(gold) & set(tool.shown)),
                absent=not gold,
                absent_left=not gold and not got,
            )
            complete &= right
            if verbose and not (right or not (got or gold)):
                outcome = f"wrong {got}: {text[got[0]][:90]}" if got else "missed"
                asked = f"{item!r} of {request['user_query']!r}"
                reached = "" if set(gold) & set(tool.shown) or not gold else " (never retrieved)"
                print(f"{world.name}/{request['id']} {asked}: wanted {gold}{reached}, {outcome}")
        counts.update(
            requests=1,
            searches=result.searches_used,
            evidence=len(result.selected_evidence),
            claimed=result.status == "COMPLETED",
            claimed_rightly=result.status == "COMPLETED" and complete,
        )
    return counts


def figures(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the figures of the counts."""

    def share(part: str, whole: str) -> float:
        return round(counts[part] / counts[whole], 3) if counts[whole] else 0.0

    return {
        "item_precision": share("right", "covered"),
        "item_recall": share("right", "there"),
        "reached": share("reached", "there"),
        "found_of_reached": share("right", "reached"),
        "absent_left_open": share("absent_left", "absent"),
        "completed_rightly": share("claimed_rightly", "claimed"),
        "claimed": counts["claimed"],
        "evidence_a_covered_item": share("evidence", "covered"),
        "searches_a_request": share("searches", "requests"),
        "processor_ms_a_search": share("ms", "searches"),
        "items": counts["there"],
        "requests": counts["requests"],
    }


def left_out(samples: Mapping[str, Sequence[Example]], measured: Sequence[World], *, verbose: bool) -> dict[str, float]:
    """Measure each world with a model fitted on the examples of the others."""
    print(sum(map(len, samples.values())), "tasks")
    total: Counter[str] = Counter()
    for fold in range(min(FOLDS, len(measured))):
        tested = measured[fold::FOLDS]
        names = {world.name for world in tested}
        model = fit([sample for name, sample in samples.items() if name not in names])
        reasoner = HeuristicReasoner(SCORING, items=ItemModel.of(model))
        for world in tested:
            counts = asyncio.run(measure(world, reasoner, verbose=verbose))
            print(world.name, {key: value for key, value in figures(counts).items() if not key.startswith("evid")})
            total += counts
    return figures(total)


def main() -> None:
    """Measure, and write the weights if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    worlds = read_worlds(given.folders)
    measured = read_worlds([given.only]) if given.only else worlds
    samples = {world.name: list(examples(world)) for world in worlds}
    found = left_out(samples, measured, verbose=given.verbose)
    print(json.dumps(found, indent=1))
    if given.write:
        model = fit(list(samples.values()))
        table = {"by": "training/evidence_items.py", "left_out": found} | model
        WEIGHTS.write_text(json.dumps(table, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
