import pytest

from librarian.base.errors import InvalidInput
from librarian.cli import evaluate
from librarian.evaluation.types import evaluate_types, first_passage, read_texts, report
from librarian_agents.sweep.classify import Verdict
from librarian_agents.sweep.memory_types import MemoryType

D, B, U = MemoryType.DECISION, MemoryType.PROBLEM, MemoryType.UNKNOWN


def test_the_figures_of_a_report():
    judged = [
        (D, Verdict(D, 0.9, "marker")),
        (D, Verdict(B, 0.8, "head")),
        (B, Verdict(B, 0.6, "head")),
        (U, Verdict(U, 0.9, "none")),
    ]
    made = report("x.jsonl", None, judged)
    assert (made.texts, made.accuracy, made.macro_f1) == (4, 0.75, round((2 / 3 + 2 / 3 + 1) / 3, 4))
    assert (made.auto_applied, made.auto_applied_precision, made.coverage) == (2, 0.5, 0.5)
    assert made.sure_precision == 0.6667
    assert made.confusion["Decision"] == dict.fromkeys(map(str, MemoryType), 0) | {"Decision": 1, "Problem": 1}
    assert (made.types["Problem"].precision, made.types["Problem"].recall) == (0.5, 1.0)
    assert made.types["Pattern"].precision is None
    assert made.methods == {"marker": 1, "head": 2, "none": 1}


async def test_a_file_is_judged_by_words_where_there_is_no_encoder(tmp_path):
    file = tmp_path / "m.jsonl"
    file.write_text('{"type": "Decision", "text": "Decision: stop"}\n\n{"type": "insight", "text": "TIL: go"}\n')
    made = await evaluate_types(file, None)
    assert (made.texts, made.macro_f1, made.space) == (2, 1.0, None)


@pytest.mark.parametrize(
    "line", ["", "nonsense", "[]", '{"text": "x"}', '{"type": "Idea", "text": "x"}', '{"type": 1}']
)
def test_a_file_of_another_format_is_refused_with_the_line(line, tmp_path):
    file = tmp_path / "m.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(InvalidInput) as raised:
        read_texts(file)
    assert raised.value.field == "--data"
    assert "m.jsonl" in str(raised.value)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(InvalidInput, match="missing"):
        read_texts(tmp_path / "none.jsonl")


def test_only_the_beginning_of_a_text_is_encoded():
    assert first_passage("word " * 10_000) == first_passage("word " * 20_000)
    assert first_passage("") == ""


def test_a_folder_stands_for_the_file_in_it(tmp_path):
    file = evaluate._TYPES_FILE
    assert evaluate._file_of(tmp_path, file) == tmp_path / file.name
    assert evaluate._file_of(tmp_path / "own.jsonl", file) == tmp_path / "own.jsonl"
