"""Searches the weights of retrieval/models/answering.toml on small worlds of questions, and measures them on others.

    python training/answering.py WORLDS --tune NAME,NAME,… [--write]

WORLDS is a folder of worlds (items, and cases that say which of them a question must put first), NAME the worlds to
tune on. All others are looked at for the figure only. Each weight in turn is moved up and down, and a move is kept when
more rankings of the tuned worlds come out right. Candidates are ranked in memory: BM25 over pairs of letters and stems,
the cosines of the default encoder, and linear fusion as the product has it. Check LoCoMo and the Japanese paragraphs
with `librarian eval retrieval` before a change is kept.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from graph.types import Noise
from librarian.base.settings.settings import Settings
from librarian.runtime.assembly import open_encoder
from retrieval.answering import FEATURES, Candidate, Jury, model, question
from retrieval.calibration import calibrated, probe_noise
from retrieval.encoders.base import Encoder
from retrieval.encoders.language_probe import encode_probes
from retrieval.evaluation.bm25 import Bm25
from retrieval.fusion import Ranking
from retrieval.linear import Pool, default_weights, linear_fusion
from retrieval.passages import embedding_text
from retrieval.sentences import Passage, terms
from retrieval.signals import Traits, query_traits
from retrieval.text import keyword_text, language
from retrieval.types import KEYWORD

MODEL = Path(__file__).parents[1] / "retrieval" / "models" / "answering.toml"
STEPS = 300
# Rules, not weights: what is certain stays certain.
FIXED = frozenset({"only_asks", "knows_not", "commands", "ended"})
_MOVES = (-0.4, -0.2, -0.1, 0.1, 0.2, 0.4)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The candidates of one case: their uids and features, and what the case expects."""

    world: str
    uids: Sequence[str]
    rows: np.ndarray
    expect: Mapping[str, Any]

    def right(self, weights: np.ndarray) -> bool:
        """Return whether the order by `weights` is the one that is wanted."""
        order = [self.uids[index] for index in np.argsort(-(self.rows @ weights), kind="stable")]
        place = {uid: rank for rank, uid in enumerate(order)}
        within = self.expect.get("within", {"uids": [], "k": 0})
        return (
            ("first" not in self.expect or order[0] in self.expect["first"])
            and all(place.get(uid, len(order)) < within["k"] for uid in within["uids"])
            and all(a in place and place.get(b, len(order)) > place[a] for a, b in self.expect.get("before", []))
        )


async def main() -> None:
    """Search, print the share of rankings that come out right, and write the weights if wanted."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("worlds", type=Path)
    arguments.add_argument("--tune", required=True)
    arguments.add_argument("--write", action="store_true")
    chosen = arguments.parse_args()
    async with open_encoder(Settings.from_env()) as encoder:
        if encoder is None:
            raise SystemExit("an encoder is needed: LIBRARIAN_ENCODER is none")
        probes = (await encode_probes(encoder, ["en"]))["en"]
        noise = probe_noise(probes.queries, probes.passages)
        worlds = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(chosen.worlds.glob("*.json"))]
        cases = [case for world in worlds for case in await ranked_cases(world, encoder, noise)]
    tuned = [case for case in cases if case.world in chosen.tune.split(",")]
    others = [case for case in cases if case not in tuned]
    weights = searched(tuned)
    for name, part in (("tuned", tuned), ("others", others)):
        print(f"{name}: {share(part, start())} -> {share(part, weights)} of {len(part)}")
    if chosen.write:
        lines = [f"{name} = {weight:g}" for name, weight in zip(FEATURES, weights.round(3).tolist(), strict=True)]
        MODEL.write_text(f"middle = {model().middle}\n\n[weights]\n" + "\n".join(lines) + "\n", encoding="utf-8")


def start() -> np.ndarray:
    """Return the present weights."""
    return np.array([model().weights[name] for name in FEATURES])


def share(cases: Sequence[Ranked], weights: np.ndarray) -> float:
    """Return the share (0..1) of `cases` that come out right."""
    return round(sum(case.right(weights) for case in cases) / max(1, len(cases)), 3)


def searched(cases: Sequence[Ranked]) -> np.ndarray:
    """Return the weights after STEPS moves of one of them, each kept when more cases come out right."""
    luck = random.Random(1)
    best = start()
    free = [index for index, name in enumerate(FEATURES) if name not in FIXED]
    for _ in range(STEPS):
        tried = best.copy()
        index = luck.choice(free)
        tried[index] += luck.choice(_MOVES) * max(0.3, abs(tried[index]))
        if share(cases, tried) > share(cases, best):
            best = tried
    return best


async def ranked_cases(world: Mapping[str, Any], encoder: Encoder, noise: Noise) -> list[Ranked]:
    """Return the cases of a world that expect an order."""
    replaced = {uid for item in world["items"] for uid in item.get("supersedes", [])}
    items = [item for item in world["items"] if item["kind"] != "edge" and item["uid"] not in replaced]
    for item in items:
        item["text"] = item.get("text") or item["content"]
    index = Bm25([_keywords(item) for item in items], lambda text: sorted(terms(text)))
    vectors = await encoder.encode_passages([embedding_text(item.get("author"), item["text"]) for item in items])
    found = []
    for case in world["cases"]:
        if not case["expect"].keys() & {"first", "within", "before"} or case.get("body", {}).get("filters"):
            continue
        now = _time(case.get("body", {}).get("now") or world["now"]) or datetime.now(UTC)
        (vector,) = await encoder.encode_query([case["query"]])
        cosines = (vectors @ vector).tolist() if language(case["query"]) == "en" else [None] * len(items)
        candidates = _candidates(world, items, case["query"], index.scores(case["query"]), cosines, noise)
        rows = np.array(Jury(question(case["query"], now), candidates, now).features())
        found.append(Ranked(world["name"], [item["uid"] for item in items], rows, case["expect"]))
    return found


def _candidates(
    world: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    query: str,
    keyword: Mapping[int, float],
    cosines: Sequence[float | None],
    noise: Noise,
) -> list[Candidate]:
    top = max(keyword.values(), default=1.0)
    readable = [cosine if language(item["text"]) == "en" else None for item, cosine in zip(items, cosines, strict=True)]
    traits = {
        str(number): Traits(
            cosine=cosine,
            keyword=keyword.get(number, 0.0) / top,
            author=item.get("author"),
            conversation=item.get("conversation_id"),
            position=item.get("position"),
            asks=item["text"].endswith(("?", "？")),
            passage=Passage(item.get("author") or "", item["text"]),
        )
        for number, (item, cosine) in enumerate(zip(items, readable, strict=True))
    }
    order = sorted((str(number) for number in keyword), key=lambda uid: -traits[uid].keyword)
    ranking = Ranking(0, KEYWORD, order, [traits[uid].keyword for uid in order])
    fused = linear_fusion([Pool(0, [ranking], traits, query_traits(query, []))], default_weights())
    scores = {int(entry.uid): entry.score for entry in fused}
    edges = [item for item in world["items"] if item["kind"] == "edge" and item.get("type") in ("CAUSES", "ENABLES")]
    return [
        Candidate(
            uid=item["uid"],
            text=item["text"],
            head=item.get("author") or "",
            when=_time(item.get("sent_at") or item.get("occurred_at") or item.get("valid_from")),
            ends=_time(item.get("valid_to")),
            is_fact=item["kind"] == "fact",
            causes=[edge["source"] for edge in edges if edge["target"] == item["uid"]],
            fused=scores[number],
            similarity=None if cosine is None else calibrated(cosine, noise),
        )
        for number, (item, cosine) in enumerate(zip(items, readable, strict=True))
    ]


def _keywords(item: Mapping[str, Any]) -> str:
    return keyword_text(item["text"], author=item.get("author"), when=_time(item.get("sent_at")))


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


if __name__ == "__main__":
    asyncio.run(main())
