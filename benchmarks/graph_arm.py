"""Effect of the graph arm on searches, on graphs whose edges were not drawn by hand.

locomo: turns, and the observations that cite them as evidence; questions ask for turns. A graph of evidence links.
notes: agents' notes with the edges that a sweep draws; a note explained by another is a query for its cause. Typed
edges, some of which are wrong or missing.
multi-hop: paragraphs with the edges that a sweep draws; questions ask for two to four of them. Nearly all edges are
RELATES_TO.

LIBRARIAN_EVAL_DATA names the folder with the data sets (default: ../shared/data). Arguments select data sets by name.
"""

import json
import os
import statistics
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common import disposable, main, progress, report
from graph.types import ItemFilter
from librarian.app import Librarian
from librarian.items.rowmap import RowMap
from librarian.sweep.contracts import SweepRequest
from retrieval.evaluation.metrics import means, ranking_metrics
from retrieval.linear import default_weights
from retrieval.types import BOTH_ARMS, GRAPH, SearchRequest

DATA = Path(os.environ.get("LIBRARIAN_EVAL_DATA", "../shared/data"))
HITS = 40
# Sampling interval of questions: a sweep reads each paragraph with its neighbours.
EVERY = 3
ADVERSARIAL = 5
WEIGHTS = (0.15, 0.3, 0.6)


@dataclass(frozen=True, slots=True)
class Question:
    """A question in a namespace, and the ids that answer it; `field` is the property of hits that holds the ids."""

    namespace: str
    text: str
    relevant: frozenset[str]
    field: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The questions of a data set, and a description of its edges."""

    questions: Sequence[Question]
    edges: str


def lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file."""
    yield from (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())


async def store(
    librarian: Librarian, rows: Sequence[Mapping[str, Any]], namespace: str, mapping: RowMap | None = None
) -> None:
    """Ingest and encode rows."""

    async def numbered() -> AsyncIterator[tuple[int, bytes]]:
        for number, row in enumerate(rows, start=1):
            yield number, json.dumps(row).encode()

    reported = await librarian.ingest(numbered(), namespace=namespace, mapping=mapping, any_namespace=True)
    if reported.failed:
        raise SystemExit(f"{reported.failed} rows failed: {reported.errors[0].message}")
    await librarian.embed_pending()


async def locomo(librarian: Librarian) -> Loaded:
    """Turns and observations, one namespace per conversation."""
    for file, name in (("conversations", "locomo-messages"), ("facts", "locomo-facts")):
        rows = list(lines(DATA / "locomo" / f"{file}.jsonl"))
        await store(librarian, rows, "graph-arm", RowMap.parse(name).into("graph-arm:{sample_id}"))
    questions = [
        Question(f"graph-arm:{row['sample_id']}", row["question"], frozenset(row["evidence"]), "message_id")
        for row in lines(DATA / "locomo" / "questions.jsonl")
        if row["evidence"] and row["category"] != ADVERSARIAL
    ]
    return Loaded(questions, f"{sum(len(row['evidence']) for row in rows)} evidence links")


async def notes(librarian: Librarian) -> Loaded:
    """Notes that may be causes; notes that have one are queries for it."""
    pairs = list(lines(DATA / "causality" / "agent_notes_pairs.jsonl"))
    ends = (("source", "text_a"), ("target", "text_b"))
    texts = {row[f"{end}_id"]: row[text] for row in pairs for end, text in ends}
    namespace = "graph-arm:notes"
    edges = await swept(librarian, namespace, texts)
    causes: dict[str, set[str]] = {}
    for row in pairs:
        if row["relation"] in ("CAUSES", "BLOCKS", "ENABLES"):
            order = 1 if row["direction"] == "a_to_b" else -1
            cause, effect = (row["source_id"], row["target_id"])[::order]
            causes.setdefault(effect, set()).add(cause)
    questions = [Question(namespace, texts[effect][:300], frozenset(own), "uid") for effect, own in causes.items()]
    return Loaded(questions, edges)


async def multi_hop(librarian: Librarian) -> Loaded:
    """Return the paragraphs of some questions, all in one namespace."""
    asked = list(lines(DATA / "evidence_selection" / "questions.jsonl"))[::EVERY]
    own = {row["question_id"] for row in asked}
    texts = {
        row["doc_id"]: f"{row['title']}: {row['text']}"
        for row in lines(DATA / "evidence_selection" / "documents.jsonl")
        if row["doc_id"].rpartition(":")[0] in own
    }
    namespace = "graph-arm:multi-hop"
    edges = await swept(librarian, namespace, texts)
    questions = [Question(namespace, row["question"], frozenset(row["evidence"]), "uid") for row in asked]
    return Loaded(questions, edges)


async def swept(librarian: Librarian, namespace: str, texts: Mapping[str, str]) -> str:
    """Store memories and let a sweep connect them; return a description of its edges."""
    await store(librarian, [{"kind": "memory", "uid": uid, "text": text} for uid, text in texts.items()], namespace)
    made = await librarian.sweep(namespace, SweepRequest())
    await librarian.embed_pending()
    return f"{made.summary.causal_edges_created} typed edges, {made.findings.related_created} RELATES_TO"


async def score(librarian: Librarian, questions: Sequence[Question], weight: float | None) -> dict[str, Any]:
    """Means over the questions, with the arm at `weight` or without the arm."""
    arms = BOTH_ARMS if weight is None else BOTH_ARMS | {GRAPH}
    weights = {**default_weights(), "graph": weight or 0.0}
    found, samples_ms = [], []
    for question in questions:
        request = SearchRequest([question.text], ItemFilter(question.namespace), limit=HITS, arms=arms, weights=weights)
        result = await librarian.parts.pipeline.search(request)
        ids = dict.fromkeys(getattr(hit.item, question.field, None) for hit in result.hits)
        found.append(ranking_metrics(question.relevant, [str(value) for value in ids if value is not None]))
        samples_ms.append(result.timings_ms["total"])
    scores = means(found)
    return {
        "graph": "off" if weight is None else weight,
        **{name: round(scores[name], 3) for name in ("recall@5", "recall@10", "recall@20", "ndcg@10")},
        "p50 ms": round(statistics.median(samples_ms), 1),
    }


LOADERS = {"locomo": locomo, "notes": notes, "multi-hop": multi_hop}


async def benchmark() -> None:
    """Run every data set without the arm and with several weights."""
    rows = []
    drawn = {}
    async with disposable() as (librarian, _):
        for name in sys.argv[1:] or LOADERS:
            progress(f"{name}: loading")
            loaded = await LOADERS[name](librarian)
            drawn[name] = loaded.edges
            for weight in (None, *WEIGHTS):
                progress(f"{name}: {weight}")
                scored = await score(librarian, loaded.questions, weight)
                rows.append({"data": name, "questions": len(loaded.questions), **scored})
    report("graph_arm", rows, **drawn)


if __name__ == "__main__":
    main(benchmark)
