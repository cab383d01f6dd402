import json
import os
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from agents.sweep.causal_types import Direction, Note, Relation, Verdict
from librarian.base.errors import InvalidInput
from librarian.cli import app
from librarian.evaluation.causal import CausalCase, evaluate_causal, judge_all, read_cases, score, score_kind
from librarian.evaluation.contracts import CausalEvalReport

ROWS = [
    {
        "id": "x:doc_1_1:r0",
        "text_a": "the fan stopped",
        "text_b": "the board burned",
        "relation": "CAUSES",
        "acceptable": ["CAUSES", "ENABLES"],
        "direction": "a_to_b",
        "context": "Then the board burned because the fan stopped.",
        "pair_kind": "clauses",
    },
    {
        "id": "x:doc_2_1:r0",
        "text_a": "It rained.",
        "text_b": "We slept.",
        "relation": "NONE",
        "acceptable": ["NONE"],
        "direction": "none",
        "context": None,
        "pair_kind": "strangers",
    },
]
SENTENCES = [
    {
        "id": "s1",
        "doc_id": "d",
        "text": "The board burned because the fan stopped.",
        "is_causal": True,
        "relations": [{"cause": "the fan stopped", "effect": "The board burned", "type": "Consequence"}],
        "noncausal_connectives": [{"arg0": "The board", "arg1": "the fan stopped"}],
    },
    {
        "id": "s2",
        "text": "The dog of the man.",
        "is_causal": False,
        "relations": [],
        "e1": "dog",
        "e2": "man",
        "semeval_relation": "Other",
    },
]
DATA = Path(os.environ.get("LIBRARIAN_EVAL_DATA", "../shared/data")) / "causality"


@pytest.fixture
def written(tmp_path):
    def write(rows):
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    return write


def case(*answers, kind="k"):
    relation = next((relation for relation, _ in answers), None)
    return CausalCase("i", kind, "g", Note("a"), Note("b"), None, relation, frozenset(answers))


def test_pairs_are_read_with_what_counts_as_right(written):
    (causal, stranger), sentences = read_cases(written(ROWS))
    assert causal.answers == {(Relation.CAUSES, Direction.FORWARD), (Relation.ENABLES, Direction.FORWARD)}
    assert (causal.group, causal.relation) == ("doc_1_1", Relation.CAUSES)
    assert (stranger.answers, stranger.relation, sentences) == (frozenset(), None, [])


def test_an_edge_the_other_way_that_the_file_also_names_counts(written):
    row = ROWS[0] | {"also": [{"relation": "BLOCKS", "source_id": "b", "target_id": "a"}]}
    (causal,), _ = read_cases(written([row]))
    assert causal.right(Verdict(Relation.BLOCKS, Direction.BACKWARD))
    assert not causal.right(Verdict(Relation.BLOCKS, Direction.FORWARD))


def test_a_direction_that_is_not_scored_may_be_either(written):
    (causal,), _ = read_cases(written([ROWS[0] | {"direction_scored": False}]))
    assert causal.right(Verdict(Relation.CAUSES, Direction.BACKWARD))


def test_the_pairs_inside_labelled_sentences_are_read(written):
    cases, sentences = read_cases(written(SENTENCES))
    assert [one.kind for one in cases] == ["cause_and_effect", "other_connective", "nominals"]
    assert [bool(one.answers) for one in cases] == [True, False, False]
    assert [sentence.causal for sentence in sentences] == [True, False]


@pytest.mark.parametrize("rows", [[], [{"text": "a"}], [*ROWS, *SENTENCES]])
def test_another_file_is_refused(written, rows):
    with pytest.raises(InvalidInput):
        read_cases(written(rows))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput):
        read_cases(tmp_path / "no.jsonl")


def test_an_edge_is_right_by_relation_and_direction():
    cases = [case((Relation.CAUSES, Direction.FORWARD)), case((Relation.BLOCKS, Direction.FORWARD)), case()]
    scores = score(judge_all(cases, lambda _: Verdict(Relation.CAUSES, Direction.FORWARD, 0.9)))
    assert (scores.edges, scores.claimed, scores.right) == (2, 3, 1)
    assert (scores.precision, scores.recall) == (pytest.approx(1 / 3, abs=1e-4), 0.5)
    turned = score(judge_all(cases, lambda _: Verdict(Relation.CAUSES, Direction.BACKWARD, 0.9)))
    assert turned.right == 0


def test_related_is_no_claim_and_nothing_claimed_has_no_precision():
    scores = score(judge_all([case()], lambda _: Verdict(Relation.RELATES_TO, confidence=0.9)))
    assert (scores.claimed, scores.precision, scores.recall) == (0, None, None)


def test_false_alarms_are_claims_on_pairs_without_an_edge():
    cases = [case(kind="a"), case(kind="a"), case((Relation.CAUSES, Direction.FORWARD), kind="a"), case(kind="b")]
    judged = judge_all(cases, lambda _: Verdict(Relation.CAUSES, Direction.FORWARD, 0.9))
    scores = score_kind(judged, "a")
    assert (scores.pairs, scores.pairs_without, scores.false_alarms, scores.right) == (3, 2, 2, 1)


def test_the_report_stands_beside_its_baselines(written):
    report = evaluate_causal(written(ROWS))
    assert (report.precision, report.recall) == (1.0, 1.0)
    assert report.pair_kinds["strangers"].false_alarms == 0
    assert (report.baselines["all_positive"].claimed, report.baselines["cue_only"].right) == (2, 1)
    assert report.detection is None


def test_sentences_are_scored_for_detection(written):
    report = evaluate_causal(written(SENTENCES))
    assert report.detection is not None
    assert (report.detection.precision, report.detection.recall) == (1.0, 1.0)


def test_the_command_prints_the_report_as_json_and_as_a_table(written):
    file = str(written(ROWS))
    printed = CliRunner().invoke(app, ["eval", "causal", "--data", file, "--json"])
    assert msgspec.json.decode(printed.stdout, type=CausalEvalReport).typed.right == 1
    table = CliRunner().invoke(app, ["eval", "causal", "--data", file])
    assert "baseline" in table.stdout
    assert table.exit_code == 0


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("pairs.jsonl", 0.85, 0.40), ("sentences.jsonl", 0.80, 0.70)]
)
def test_the_promised_quality_holds_on_the_labelled_data(name, precision, recall):
    file = DATA / name
    if not file.is_file():
        pytest.skip(f"{file} is missing (LIBRARIAN_EVAL_DATA)")
    report = evaluate_causal(file)
    assert report.precision is not None
    assert report.recall is not None
    assert report.precision >= precision
    assert report.recall >= recall
