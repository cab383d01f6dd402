import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from librarian.base.errors import InvalidInput
from librarian.cli import app
from librarian.evaluation.causal import CausalCase, evaluate_causal, read_cases, score, score_kind
from librarian.evaluation.contracts import CausalEvalReport
from librarian_agents.sweep.causal_types import Direction, Note, Relation, Verdict

ROWS = [
    {
        "id": "x:doc_1_1:r0",
        "text_a": "the fan of the oven stopped",
        "text_b": "the board burned because the fan of the oven stopped",
        "relation": "CAUSES",
        "acceptable": ["CAUSES", "ENABLES"],
        "direction": "a_to_b",
        "pair_kind": "clauses",
    },
    {
        "id": "x:doc_2_1:r0",
        "text_a": "It rained.",
        "text_b": "We slept.",
        "relation": "NONE",
        "acceptable": ["NONE"],
        "direction": "none",
        "pair_kind": "strangers",
    },
]
WORLD = {
    "name": "shop",
    "memories": [
        {"uid": "m-rain", "text": "It rained into the server room."},
        {"uid": "m-db", "text": "DB-7: the primary database lost its disk."},
        {"uid": "m-down", "text": "The shop was down for an hour because of DB-7."},
        {"uid": "m-up", "text": "DB-7 caused no loss of orders."},
    ],
    "edges": [
        {"source": "m-db", "target": "m-down", "type": "CAUSES", "explicit": True, "why": "because of"},
        {"source": "m-rain", "target": "m-db", "type": "CAUSES", "explicit": False, "why": "one night"},
    ],
    "tempting": [{"source": "m-db", "target": "m-up", "why": "caused no loss"}],
}
WORLDS = Path(__file__).parents[4] / "training" / "sweep_worlds"


@pytest.fixture
def written(tmp_path):
    def write(rows):
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return file

    return write


@pytest.fixture
def worlds(tmp_path):
    (tmp_path / "shop.json").write_text(json.dumps(WORLD), encoding="utf-8")
    return tmp_path


def case(*answers, kind="k"):
    return CausalCase(kind, "g", Note("a"), Note("b"), frozenset(answers))


def always(cases, relation=Relation.CAUSES, direction=Direction.FORWARD):
    return [(one, Verdict(relation, direction, 0.9)) for one in cases]


def test_pairs_are_read_with_what_counts_as_right(written):
    causal, stranger = read_cases(written(ROWS))
    assert causal.answers == {(Relation.CAUSES, Direction.FORWARD), (Relation.ENABLES, Direction.FORWARD)}
    assert causal.group == "doc_1_1"
    assert stranger.answers == frozenset()


def test_an_edge_the_other_way_that_the_file_also_names_counts(written):
    row = ROWS[0] | {"also": [{"relation": "BLOCKS", "source_id": "b", "target_id": "a"}]}
    (causal,) = read_cases(written([row]))
    assert causal.right(Verdict(Relation.BLOCKS, Direction.BACKWARD))
    assert not causal.right(Verdict(Relation.BLOCKS, Direction.FORWARD))


def test_a_direction_that_is_not_scored_may_be_either(written):
    (causal,) = read_cases(written([ROWS[0] | {"direction_scored": False}]))
    assert causal.right(Verdict(Relation.CAUSES, Direction.BACKWARD))


def test_a_pair_of_one_text_is_left_out(written):
    assert len(read_cases(written([*ROWS, ROWS[0] | {"text_b": ROWS[0]["text_a"]}]))) == 2


def test_every_pair_of_a_world_is_judged(worlds):
    kinds = [one.kind for one in read_cases(worlds)]
    assert sorted(kinds) == ["implied", "other", "other", "other", "stated", "tempting"]


@pytest.mark.parametrize("rows", [[], [{"text": "a"}], [*ROWS, {"text": "a"}]])
def test_another_file_is_refused(written, rows):
    with pytest.raises(InvalidInput):
        read_cases(written(rows))


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "x"}'])
def test_a_folder_with_another_file_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput):
        read_cases(tmp_path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput):
        read_cases(tmp_path / "no.jsonl")


def test_an_edge_is_right_by_relation_and_direction():
    cases = [case((Relation.CAUSES, Direction.FORWARD)), case((Relation.BLOCKS, Direction.FORWARD)), case()]
    scores = score(always(cases))
    assert (scores.edges, scores.claimed, scores.right) == (2, 3, 1)
    assert (scores.precision, scores.recall) == (pytest.approx(1 / 3, abs=1e-4), 0.5)
    turned = score(always(cases, direction=Direction.BACKWARD))
    assert turned.right == 0


def test_related_is_no_claim_and_nothing_claimed_has_no_precision():
    scores = score(always([case()], Relation.RELATES_TO))
    assert (scores.claimed, scores.precision, scores.recall) == (0, None, None)


def test_false_alarms_are_claims_on_pairs_without_an_edge():
    cases = [case(kind="a"), case(kind="a"), case((Relation.CAUSES, Direction.FORWARD), kind="a"), case(kind="b")]
    scores = score_kind(always(cases), "a")
    assert (scores.pairs, scores.pairs_without, scores.false_alarms, scores.right) == (3, 2, 2, 1)


def test_the_texts_of_a_group_are_read_together(written):
    report = evaluate_causal(written(ROWS))
    assert (report.typed.precision, report.typed.recall) == (1.0, 1.0)
    assert report.pair_kinds["strangers"].false_alarms == 0


def test_a_world_is_read_as_a_sweep_reads_it(worlds):
    report = evaluate_causal(worlds)
    assert (report.accepted.edges, report.accepted.claimed, report.accepted.right) == (2, 1, 1)
    assert {kind: scores.right for kind, scores in report.pair_kinds.items()} == {
        "implied": 0,
        "other": 0,
        "stated": 1,
        "tempting": 0,
    }
    assert report.pair_kinds["tempting"].false_alarms == 0


def test_the_command_prints_the_report_as_json_and_as_a_table(worlds):
    printed = CliRunner().invoke(app, ["eval", "causal", "--data", str(worlds), "--json"])
    assert msgspec.json.decode(printed.stdout, type=CausalEvalReport).typed.right == 1
    table = CliRunner().invoke(app, ["eval", "causal", "--data", str(worlds)])
    assert "tempting" in table.stdout
    assert table.exit_code == 0


def test_the_promised_quality_holds_on_the_worlds_written_for_the_project():
    report = evaluate_causal(WORLDS)
    assert report.accepted.precision is not None
    assert report.accepted.precision >= 0.9
    assert report.accepted.recall is not None
    assert report.accepted.recall >= 0.45
    assert report.pair_kinds["tempting"].false_alarms <= 3
