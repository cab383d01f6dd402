"""Scores causal edges on labelled texts, found as in a sweep: all texts of a group are read together, without any other
context.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import CausalEvalReport, EdgeScores, KindScores
from librarian.evaluation.measures import labelled_rows, ratio
from librarian_agents.sweep.causal import read_relations
from librarian_agents.sweep.causal_types import CAUSAL, NOTHING, Direction, Note, Relation, Verdict

_DIRECTIONS = {"a_to_b": Direction.FORWARD, "b_to_a": Direction.BACKWARD}


@dataclass(frozen=True, slots=True)
class CausalCase:
    """One labelled pair. `answers` are the edges that count as right; none if the texts have no causal relation.

    An answer's direction is None if either counts. `group` is the world, document, story or repository it comes from.
    """

    kind: str
    group: str
    first: Note
    second: Note
    answers: frozenset[tuple[Relation, Direction | None]]

    def right(self, verdict: Verdict) -> bool:
        """Return whether a typed verdict is one of the answers."""
        relation = verdict.relation
        return relation is not None and bool({(relation, verdict.direction), (relation, None)} & self.answers)


Judged: TypeAlias = Sequence[tuple[CausalCase, Verdict]]


def evaluate_causal(path: Path) -> CausalEvalReport:
    """Read the texts of `path` as a sweep reads memories, and score the edges found. Raises InvalidInput."""
    cases = read_cases(path)
    judged = judge(cases)
    return CausalEvalReport(
        file=path.name,
        pairs=len(cases),
        typed=score(judged),
        accepted=score(accepted(judged)),
        relations={relation.value: _of_relation(judged, relation) for relation in sorted(CAUSAL)},
        pair_kinds={kind: score_kind(accepted(judged), kind) for kind in sorted({case.kind for case in cases})},
    )


def judge(cases: Sequence[CausalCase]) -> Judged:
    """Return each pair with the verdict on its texts when all texts of its group are read together."""
    groups: dict[str, dict[str, Note]] = {}
    for case in cases:
        groups.setdefault(case.group, {}).update({note.uid: note for note in (case.first, case.second)})
    found = {
        (group, pair.first, pair.second): verdict
        for group, notes in groups.items()
        for pair, verdict in read_relations(list(notes.values()), [], notes)
    }
    return [(case, _between(case, found)) for case in cases]


def accepted(judged: Judged) -> Judged:
    """Return the verdicts without those that would only be proposed."""
    return [(case, verdict if verdict.accepted else NOTHING) for case, verdict in judged]


def score(judged: Judged) -> EdgeScores:
    """Return precision and recall of the typed verdicts."""
    claimed = [(case, verdict) for case, verdict in judged if verdict.causal]
    right = sum(case.right(verdict) for case, verdict in claimed)
    edges = sum(bool(case.answers) for case, _ in judged)
    return _scores(edges, len(claimed), right)


def score_kind(judged: Judged, kind: str) -> KindScores:
    """Return the scores of one kind of pairs, with the false alarms on pairs without a causal relation."""
    of_kind = [(case, verdict) for case, verdict in judged if case.kind == kind]
    without = [verdict for case, verdict in of_kind if not case.answers]
    scores = score(of_kind)
    return KindScores(
        edges=scores.edges,
        claimed=scores.claimed,
        right=scores.right,
        precision=scores.precision,
        recall=scores.recall,
        pairs=len(of_kind),
        pairs_without=len(without),
        false_alarms=sum(verdict.causal for verdict in without),
    )


def read_cases(path: Path) -> list[CausalCase]:
    """Return the pairs of a folder of worlds (*.json), or of a file of labelled pairs, one per line.

    Raises InvalidInput for anything else.
    """
    if path.is_dir() and (files := sorted(path.glob("*.json"))):
        return [case for file in files for case in of_world(_world(file))]
    rows = labelled_rows(path)
    if not all("text_a" in row for row in rows):
        raise InvalidInput(
            f"{path} holds neither worlds nor labelled pairs",
            field="--data",
            remedy="docs/causal-edges.md has the format.",
        )
    return [_of_pair(row) for row in rows if row["text_a"] != row["text_b"]]


def notes_of_world(world: Mapping[str, Any]) -> list[Note]:
    """Return a world's memories as a sweep reads them."""
    return [Note(row["text"], row["uid"], _time(row.get("occurred_at"))) for row in world["memories"]]


def of_world(world: Mapping[str, Any]) -> Iterator[CausalCase]:
    """Yield all pairs of a world's memories: its true edges, its distractors, all others."""
    notes = notes_of_world(world)
    edges: dict[frozenset[str], list[Mapping[str, Any]]] = {}
    for edge in world["edges"]:
        edges.setdefault(frozenset((edge["source"], edge["target"])), []).append(edge)
    tempting = {frozenset((pair["source"], pair["target"])) for pair in world.get("tempting", ())}
    for first, second in combinations(sorted(notes, key=lambda note: note.uid), 2):
        ends = frozenset((first.uid, second.uid))
        true = edges.get(ends, ())
        stated = "stated" if any(edge["explicit"] for edge in true) else "implied"
        kind = stated if true else "tempting" if ends in tempting else "other"
        yield CausalCase(kind, world["name"], first, second, frozenset(_ways(true, first)))


def _ways(edges: Iterable[Mapping[str, Any]], first: Note) -> Iterator[tuple[Relation, Direction]]:
    for edge in edges:
        yield Relation(edge["type"]), Direction.FORWARD if edge["source"] == first.uid else Direction.BACKWARD


def _between(case: CausalCase, found: Mapping[tuple[str, str, str], Verdict]) -> Verdict:
    if case.first.uid < case.second.uid:
        return found.get((case.group, case.first.uid, case.second.uid), NOTHING)
    return found.get((case.group, case.second.uid, case.first.uid), NOTHING).turned()


def _of_relation(judged: Judged, relation: Relation) -> EdgeScores:
    """Return precision over the verdicts that say `relation`, recall over the pairs labelled with it."""
    claimed = [case.right(verdict) for case, verdict in judged if verdict.relation is relation]
    labelled = [(case, verdict) for case, verdict in judged if relation in {answer for answer, _ in case.answers}]
    found = sum(case.right(verdict) for case, verdict in labelled)
    return EdgeScores(
        edges=len(labelled),
        claimed=len(claimed),
        right=sum(claimed),
        precision=ratio(sum(claimed), len(claimed)),
        recall=ratio(found, len(labelled)),
    )


def _scores(edges: int, claimed: int, right: int) -> EdgeScores:
    precision, recall = ratio(right, claimed), ratio(right, edges)
    return EdgeScores(edges=edges, claimed=claimed, right=right, precision=precision, recall=recall)


def _world(file: Path) -> Mapping[str, Any]:
    try:
        world: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        world["name"], world["memories"], world["edges"]
    except (ValueError, KeyError, TypeError):
        raise InvalidInput(
            f"{file} is not a world", field="--data", remedy="docs/causal-edges.md has the format."
        ) from None
    return world


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _of_pair(row: Mapping[str, Any]) -> CausalCase:
    first, second = (Note(row[name], sha256(row[name].encode()).hexdigest()) for name in ("text_a", "text_b"))
    return CausalCase(
        kind=row["pair_kind"],
        group=row.get("repo") or _document(row["id"]),
        first=first,
        second=second,
        answers=frozenset(_answers(row)),
    )


def _answers(row: Mapping[str, Any]) -> Iterator[tuple[Relation, Direction | None]]:
    if _typed(row["relation"]) is None:
        return
    direction = _DIRECTIONS[row["direction"]] if row.get("direction_scored", True) else None
    for name in row["acceptable"]:
        yield Relation(name), direction
    for second in row.get("also", ()):
        yield Relation(second["relation"]), Direction.BACKWARD


def _typed(name: str) -> Relation | None:
    relation = Relation(name) if name in Relation.__members__ else None
    return relation if relation in CAUSAL else None


def _document(name: str) -> str:
    """Return the document of a pair id such as `cnc:train_03_6_331:r0` or `copa:dev:1:2`."""
    source, _, rest = name.partition(":")
    body = rest.rpartition(":")[0]
    return body.rpartition("_")[0] if source == "cnc" else body
