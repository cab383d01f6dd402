"""Fits the judge of librarian_agents/sweep/causal_links.py on worlds of memories with human-drawn edges.

    PYTHONPATH=. python training/causal_links.py training/sweep_worlds training/sweep_worlds/varied [FOLDER …] [--write]

Each pair that is near enough is an example in both directions; it is right if the world has that edge. The figures are
for folders left out whole, so that no author's style is known: give at least two. The bounds are taken from them and
from the pairs that no rule already accepts: SURE is the precision of edges accepted by the judge alone, PROPOSED that
of all its findings. Without --write nothing is changed.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from librarian.evaluation.causal import notes_of_world
from librarian_agents.sweep.causal import CausalReader
from librarian_agents.sweep.causal_links import RELATIONS, Judge, Values

MODEL = Path(__file__).parents[1] / "librarian_agents" / "sweep" / "models" / "causal_links.json"
PENALTY, RELATION_PENALTY = 0.03, 0.02
SURE, PROPOSED = 0.95, 0.4

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """One direction of one pair: its features, the true edge's relation if any, and the statements' claims."""

    folder: str
    world: str
    cause: str
    effect: str
    values: Values
    relation: str | None
    tempting: bool
    claimed: str | None
    """The relation that a rule would write by itself."""


def examples(file: Path) -> tuple[list[Example], int]:
    """Return the examples of a world, and the number of its edges."""
    world = json.loads(file.read_text(encoding="utf-8"))
    true = {(edge["source"], edge["target"]): edge["type"] for edge in world["edges"]}
    tempting = {frozenset((pair["source"], pair["target"])) for pair in world.get("tempting", ())}
    found = []
    for way in CausalReader(notes_of_world(world)).ways():
        ends = way.cause, way.effect
        claimed = way.claim.relation.value if way.claim and way.claim.accepted else None
        found.append(
            Example(
                str(file.parent),
                world["name"],
                *ends,
                way.values,
                true.get(ends),
                frozenset(ends) in tempting and ends not in true,
                claimed,
            )
        )
    return found, len(true)


def table(rows: Sequence[Example], names: Sequence[str]) -> Matrix:
    """Return the features, one row per example."""
    return np.array([[row.values.get(name, 0.0) for name in names] for row in rows])


def fit(rows: Sequence[Example], accepted: float = 1.0, proposed: float = 1.0) -> Judge:
    """Return the judge of these examples."""
    names = sorted({name for row in rows for name in row.values})
    values = table(rows, names)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread == 0] = np.inf
    scaled = (values - mean) / spread
    edge = LogisticRegression(C=PENALTY, max_iter=500).fit(scaled, [row.relation is not None for row in rows])
    true = [at for at, row in enumerate(rows) if row.relation]
    which = LogisticRegression(C=RELATION_PENALTY, max_iter=500)
    which.fit(scaled[true], [rows[at].relation for at in true])
    order = [list(which.classes_).index(str(relation)) for relation in RELATIONS]
    weights = np.vstack([edge.coef_, which.coef_[order]]) / spread
    bias = np.concatenate([edge.intercept_, which.intercept_[order]]) - weights @ mean
    held = {name: [round(float(weight), 4) for weight in row] for name, row in zip(names, weights.T, strict=True)}
    return Judge([round(float(one), 4) for one in bias], held, accepted, proposed)


def left_out(rows: Sequence[Example]) -> list[tuple[float, Example, str]]:
    """Return each pair's likelier direction with probability and relation, by judges that saw nothing of its folder."""
    best: dict[tuple[str, frozenset[str]], tuple[float, Example, str]] = {}
    for folder in sorted({row.folder for row in rows}):
        judge = fit([row for row in rows if row.folder != folder])
        for row in rows:
            if row.folder == folder:
                key = row.world, frozenset((row.cause, row.effect))
                relation, sure = judge.verdict(row.values)
                found = sure, row, relation.value
                if key not in best or best[key][0] < found[0]:
                    best[key] = found
    return sorted(best.values(), key=lambda one: -one[0])


def bound(judged: Sequence[tuple[float, Example, str]], share: float) -> float:
    """Return the lowest probability above which `share` of the pairs have this edge."""
    right = np.cumsum([row.relation == relation for _, row, relation in judged]) / np.arange(1, len(judged) + 1)
    enough = np.flatnonzero(right >= share)
    return round(judged[enough[-1]][0], 3) if len(enough) else 1.0


def show(title: str, judged: Sequence[tuple[float, Example, str]], accepted: float, edges: int) -> None:
    """Print precision and recall of accepted edges: by the rules alone, by the judge alone, by either."""
    for name, taken in (
        ("rules", [(row.claimed, row) for _, row, _ in judged if row.claimed]),
        ("judge", [(relation, row) for sure, row, relation in judged if sure >= accepted]),
        (
            "either",
            [(row.claimed or relation, row) for sure, row, relation in judged if row.claimed or sure >= accepted],
        ),
    ):
        right = sum(row.relation == relation for relation, row in taken)
        way = sum(row.relation is not None for _, row in taken)
        tempted = sum(row.tempting for _, row in taken)
        print(
            f"{title:8} {name:7} accepted {len(taken)}: precision {right / max(1, len(taken)):.3f} (an edge "
            f"{way / max(1, len(taken)):.3f}), recall {right / max(1, edges):.3f} of {edges}, tempting {tempted}"
        )


def main() -> None:
    """Fit, measure and, if requested, write the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help=f"replace {MODEL.name}")
    given = parser.parse_args()
    found = {file: examples(file) for folder in given.folders for file in sorted(folder.glob("*.json"))}
    rows = [row for one, _ in found.values() for row in one]
    judged = left_out(rows)
    claimed = {(row.world, frozenset((row.cause, row.effect))) for row in rows if row.claimed}
    alone = [one for one in judged if (one[1].world, frozenset((one[1].cause, one[1].effect))) not in claimed]
    accepted, proposed = bound(alone, SURE), bound(alone, PROPOSED)
    print(f"{len(rows)} examples; accepted from {accepted}, proposed from {proposed}")
    for folder in given.folders:
        names = {file.stem for file in found if file.parent == folder}
        edges = sum(count for file, (_, count) in found.items() if file.parent == folder)
        show(folder.name, [one for one in judged if one[1].world in names], accepted, edges)
    if given.write:
        judge = fit(rows, accepted, proposed)
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(weights)}" for name, weights in judge.weights.items())
        head = f'{{"by": "training/causal_links.py",\n"accepted": {accepted}, "proposed": {proposed},\n'
        MODEL.write_text(f'{head}"bias": {json.dumps(judge.bias)},\n"weights": {{\n{lines}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
