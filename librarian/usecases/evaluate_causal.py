"""How well causal edges are found, on labelled pairs of texts, beside baselines that do not read."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from agents.causal import infer_relationship, tells_of_cause
from agents.causal_head import Head, Heads
from agents.causal_types import CAUSAL, Direction, Relation, Verdict
from librarian.contracts.evaluation_causal import CausalEvalReport, EdgeScores, KindScores
from librarian.usecases.causal_cases import CausalCase, LabelledSentence, read_cases

Judge: TypeAlias = Callable[[CausalCase], Verdict]
Judged: TypeAlias = Sequence[tuple[CausalCase, Verdict]]

# Every unmistakable cue is believed, whatever surrounds it; the weak ones never are.
_UNWEIGHED = Heads(stated=Head(5.0, {"weak": -10.0}), between=Head(5.0, {}))
_EVERY_PAIR = Verdict(Relation.CAUSES, Direction.FORWARD, 1.0)
_ORDER_NOTE = (
    "The files name the cause first in nearly every pair, which all_positive profits from; the reader judges a pair"
    " the same in either order."
)


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


def read_case(case: CausalCase, heads: Heads | None = None) -> Verdict:
    """What the reader says of a pair."""
    return infer_relationship(case.first, case.second, context=case.context, heads=heads)


def judge_all(cases: Iterable[CausalCase], judge: Judge) -> Judged:
    """Each pair with its verdict."""
    return [(case, judge(case)) for case in cases]


def score(judged: Judged) -> EdgeScores:
    """Precision and recall of the typed verdicts."""
    claimed = [(case, verdict) for case, verdict in judged if verdict.causal]
    right = sum(case.right(verdict) for case, verdict in claimed)
    edges = sum(bool(case.answers) for case, _ in judged)
    return _scores(edges, len(claimed), right)


def score_kind(judged: Judged, kind: str) -> KindScores:
    """The scores of one kind of pairs, and its false alarms on pairs without a causal relation."""
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
    """Precision over the verdicts that say `relation`, recall over the pairs that are labelled with it."""
    claimed = [case.right(verdict) for case, verdict in judged if verdict.relation is relation]
    labelled = [(case, verdict) for case, verdict in judged if case.relation is relation]
    found = sum(case.right(verdict) for case, verdict in labelled)
    return EdgeScores(
        edges=len(labelled),
        claimed=len(claimed),
        right=sum(claimed),
        precision=_share(sum(claimed), len(claimed)),
        recall=_share(found, len(labelled)),
    )


def _detection(sentences: Sequence[LabelledSentence]) -> EdgeScores:
    claimed = [sentence.causal for sentence in sentences if tells_of_cause(sentence.text)]
    return _scores(sum(sentence.causal for sentence in sentences), len(claimed), sum(claimed))


def _scores(edges: int, claimed: int, right: int) -> EdgeScores:
    precision, recall = _share(right, claimed), _share(right, edges)
    return EdgeScores(edges=edges, claimed=claimed, right=right, precision=precision, recall=recall)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
