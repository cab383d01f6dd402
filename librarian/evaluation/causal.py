"""How well causal edges are found, on labelled pairs of texts, beside baselines that do not read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agents.sweep.causal import infer_relationship, tells_of_cause
from agents.sweep.causal_head import Head
from agents.sweep.causal_types import CAUSAL, Direction, Note, Relation, Verdict
from librarian.base.errors import InvalidInput
from librarian.evaluation.contracts import CausalEvalReport, EdgeScores, KindScores
from librarian.evaluation.measures import labelled_rows, ratio

_DIRECTIONS = {"a_to_b": Direction.FORWARD, "b_to_a": Direction.BACKWARD}
_ONE_SENTENCE = "same_sentence_events"

# Every unmistakable cue is believed, whatever surrounds it; the weak ones never are.
_UNWEIGHED = Head(5.0, {"weak": -10.0})
_EVERY_PAIR = Verdict(Relation.CAUSES, Direction.FORWARD, 1.0)
_ORDER_NOTE = (
    "The files name the cause first in nearly every pair, which all_positive profits from; the reader judges a pair"
    " the same in either order."
)


@dataclass(frozen=True, slots=True)
class CausalCase:
    """One pair. `answers` are the edges that count as right, none where the texts have no causal relation.

    An answer's direction is None where either counts. `group` is the document, story or repository it is from.
    """

    id: str
    kind: str
    group: str
    first: Note
    second: Note
    context: str | None
    relation: Relation | None
    answers: frozenset[tuple[Relation, Direction | None]]

    def right(self, verdict: Verdict) -> bool:
        """Return whether a typed verdict is one of the answers."""
        relation = verdict.relation
        return relation is not None and bool({(relation, verdict.direction), (relation, None)} & self.answers)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence, and whether it states a cause."""

    text: str
    causal: bool


Judge: TypeAlias = Callable[[CausalCase], Verdict]
Judged: TypeAlias = Sequence[tuple[CausalCase, Verdict]]


def evaluate_causal(file: Path) -> CausalEvalReport:
    """Read the pairs of `file`, judge each, and score the verdicts. Raises InvalidInput for an unknown format."""
    cases, sentences = read_cases(file)
    judged = judge_all(cases, read_case)
    return CausalEvalReport(
        file=file.name,
        pairs=len(cases),
        precision=score(judged).precision,
        recall=score(judged).recall,
        typed=score(judged),
        accepted=score([(case, verdict if verdict.accepted else Verdict()) for case, verdict in judged]),
        relations={relation.value: _of_relation(judged, relation) for relation in sorted(CAUSAL)},
        pair_kinds={kind: score_kind(judged, kind) for kind in sorted({case.kind for case in cases})},
        baselines={
            "all_positive": score(judge_all(cases, lambda _: _EVERY_PAIR)),
            "cue_only": score(judge_all(cases, lambda case: read_case(case, _UNWEIGHED))),
        },
        detection=_detection(sentences) if sentences else None,
        notes=[_ORDER_NOTE],
    )


def read_case(case: CausalCase, head: Head | None = None) -> Verdict:
    """Return the verdict of the reader on a pair."""
    return infer_relationship(case.first, case.second, context=case.context, head=head)


def judge_all(cases: Iterable[CausalCase], judge: Judge) -> Judged:
    """Return each pair with its verdict."""
    return [(case, judge(case)) for case in cases]


def score(judged: Judged) -> EdgeScores:
    """Return precision and recall of the typed verdicts."""
    claimed = [(case, verdict) for case, verdict in judged if verdict.causal]
    right = sum(case.right(verdict) for case, verdict in claimed)
    edges = sum(bool(case.answers) for case, _ in judged)
    return _scores(edges, len(claimed), right)


def score_kind(judged: Judged, kind: str) -> KindScores:
    """Return the scores of the pairs of one kind, with the false alarms on pairs without a causal relation."""
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


def _of_relation(judged: Judged, relation: Relation) -> EdgeScores:
    """Return precision over the verdicts that say `relation`, recall over the pairs labelled with it."""
    claimed = [case.right(verdict) for case, verdict in judged if verdict.relation is relation]
    labelled = [(case, verdict) for case, verdict in judged if case.relation is relation]
    found = sum(case.right(verdict) for case, verdict in labelled)
    return EdgeScores(
        edges=len(labelled),
        claimed=len(claimed),
        right=sum(claimed),
        precision=ratio(sum(claimed), len(claimed)),
        recall=ratio(found, len(labelled)),
    )


def _detection(sentences: Sequence[LabelledSentence]) -> EdgeScores:
    claimed = [sentence.causal for sentence in sentences if tells_of_cause(sentence.text)]
    return _scores(sum(sentence.causal for sentence in sentences), len(claimed), sum(claimed))


def _scores(edges: int, claimed: int, right: int) -> EdgeScores:
    precision, recall = ratio(right, claimed), ratio(right, edges)
    return EdgeScores(edges=edges, claimed=claimed, right=right, precision=precision, recall=recall)


def read_cases(file: Path) -> tuple[list[CausalCase], list[LabelledSentence]]:
    """Return the pairs of a file of pairs (pairs.jsonl), or labelled sentences with the pairs inside them.

    Raises InvalidInput for a file that holds neither.
    """
    rows = labelled_rows(file)
    if all("text_a" in row for row in rows):
        return [_of_pair(row) for row in rows], []
    if all("is_causal" in row for row in rows):
        cases = [case for row in rows for case in _of_sentence(row)]
        return cases, [LabelledSentence(row["text"], row["is_causal"]) for row in rows]
    raise InvalidInput(f"{file} holds neither pairs nor sentences with causal labels", field="--data")


def _of_pair(row: Mapping[str, Any]) -> CausalCase:
    events = row["pair_kind"] == _ONE_SENTENCE
    first, second = (row["event_a"], row["event_b"]) if events else (row["text_a"], row["text_b"])
    return CausalCase(
        id=row["id"],
        kind=row["pair_kind"],
        group=row.get("repo") or _document(row["id"]),
        first=Note(first),
        second=Note(second),
        context=row["text_a"] if events else row.get("context"),
        relation=_typed(row["relation"]),
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


def _of_sentence(row: Mapping[str, Any]) -> Iterator[CausalCase]:
    """Yield the pairs of one sentence: its causal relations, and pairs marked as having none."""
    if "semeval_relation" in row:
        answers = {}
        if row["is_causal"]:
            forward = row["semeval_relation"].endswith("(e1,e2)")
            answers = {Relation.CAUSES: Direction.FORWARD if forward else Direction.BACKWARD}
        yield _inside(row, "nominals", row["e1"], row["e2"], answers)
        return
    for labelled in row["relations"]:
        direction = None if labelled.get("type") == "Purpose" else Direction.FORWARD
        inhibits = labelled.get("degree") == "Inhibit"
        relations = (Relation.BLOCKS,) if inhibits else (Relation.CAUSES, Relation.ENABLES)
        yield _inside(
            row, "cause_and_effect", labelled["cause"], labelled["effect"], dict.fromkeys(relations, direction)
        )
    for connective in row.get("noncausal_connectives") or ():
        yield _inside(row, "other_connective", connective.get("arg0"), connective.get("arg1"), {})


def _inside(
    row: Mapping[str, Any],
    kind: str,
    first: str | None,
    second: str | None,
    answers: Mapping[Relation, Direction | None],
) -> CausalCase:
    return CausalCase(
        id=row["id"],
        kind=kind,
        group=row.get("doc_id") or row["id"],
        first=Note(first or ""),
        second=Note(second or ""),
        context=row["text"],
        relation=next(iter(answers), None),
        answers=frozenset(answers.items()),
    )


def _typed(name: str) -> Relation | None:
    relation = Relation(name) if name in Relation.__members__ else None
    return relation if relation in CAUSAL else None


def _document(name: str) -> str:
    """Return the document of an id such as `cnc:train_03_6_331:r0`, as its sentences name it, or `copa:dev:1:2`."""
    source, _, rest = name.partition(":")
    body = rest.rpartition(":")[0]
    return body.rpartition("_")[0] if source == "cnc" else body
