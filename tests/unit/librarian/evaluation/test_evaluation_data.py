"""Data sets: each format of a folder becomes rows in namespaces of their own, and questions with what answers them."""

import json
from pathlib import Path
from typing import Any

import pytest

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import convert
from librarian.evaluation.data import Dataset, read_datasets
from librarian.items.contracts import MemoryIn, MessageIn

TURNS = [{"role": "user", "content": "I moved to Porto."}, {"role": "assistant", "content": " "}]
FORMATS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "chats": {
        "conversations": [
            {"sample_id": c, "dia_id": "D1:1", "session": 1, "speaker": "Ada", "text": f"hello {c}",
             "image_caption": "a cat"}
            for c in ("c1", "c2")
        ],
        "questions": [
            {"question_id": "q1", "sample_id": "c1", "question": "?", "category": 2, "evidence": ["D1:1"]},
            {"question_id": "q2", "sample_id": "c1", "question": "?", "category": 5, "evidence": ["D1:1"]},
            {"question_id": "q3", "sample_id": "c2", "question": "?", "category": 2, "evidence": []},
            {"question_id": "q4", "sample_id": "c2", "question": "?", "category": 1, "evidence": ["D1:1"]},
        ],
    },
    "sessions": {
        "sessions": [{"session_id": "s1", "user_id": "u1", "date": "2023/07/12 (Wed) 10:14", "turns": TURNS}],
        "questions": [
            {"question_id": "q1", "user_id": "u1", "question": "?", "question_type": "update", "answerable": True,
             "evidence_session_ids": ["s1"]},
            {"question_id": "q2", "user_id": "u1", "question": "?", "question_type": "x", "answerable": False,
             "evidence_session_ids": []},
        ],
    },
    "hops": {
        "documents": [
            {"doc_id": "a:0", "title": "One", "text": "first", "text_hash": "h1"},
            {"doc_id": "a:1", "title": "Two", "text": "second", "text_hash": "h2"},
            {"doc_id": "b:0", "title": "One", "text": "first", "text_hash": "h1"},
        ],
        "questions": [{"question_id": "a", "dataset": "musique", "question": "?", "evidence": ["b:0", "a:1"]}],
    },
    "paragraphs": {
        "paragraphs": [{"paragraph_id": "p1", "title": "Ports", "text": "8765"}],
        "questions": [{"question": "Which port?", "positive_paragraph_ids": ["p1"]}],
    },
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, files in FORMATS.items():
        (tmp_path / name).mkdir()
        for file, rows in files.items():
            (tmp_path / name / f"{file}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "notes").mkdir()
    return tmp_path


@pytest.fixture
def datasets(data: Path) -> dict[str, Dataset]:
    return {dataset.name: dataset for dataset in read_datasets([str(data)], seed=0)}


def test_a_folder_stands_for_the_data_sets_in_it(datasets):
    assert list(datasets) == ["chats", "hops", "paragraphs", "sessions"]


@pytest.mark.parametrize("name", FORMATS)
def test_rows_are_items_in_namespaces_of_their_own(datasets, name):
    for row in datasets[name].rows:
        assert row["namespace"].startswith(f"eval:{name}")
        fields = {field: value for field, value in row.items() if field not in ("kind", "namespace")}
        assert convert(fields, {"message": MessageIn, "memory": MemoryIn}[row["kind"]])


def test_conversations_are_apart_and_category_5_has_no_answer(datasets):
    chats = datasets["chats"]
    asked = {
        question.id: (question.namespace, question.category, set(question.relevant)) for question in chats.questions
    }
    assert asked == {
        "q1": ("eval:chats:c1", "category 2", {"D1:1"}),
        "q2": ("eval:chats:c1", "unanswerable", set()),
        "q4": ("eval:chats:c2", "category 1", {"D1:1"}),
        "q1:elsewhere": ("eval:chats:c2", "asked elsewhere", set()),
        "q4:elsewhere": ("eval:chats:c1", "asked elsewhere", set()),
    }
    assert chats.sizes() == {"eval:chats:c1": 1, "eval:chats:c2": 1}
    assert [document.text for document in chats.corpora()["eval:chats:c1"]] == ["hello c1 [a cat]"]


def test_blank_turns_are_left_out_and_sessions_are_found(datasets):
    sessions = datasets["sessions"]
    assert [(row["session_id"], row["author_name"]) for row in sessions.rows] == [("s1", "user")]
    assert (sessions.id_field, sessions.unit) == ("session_id", "session")
    assert [question.category for question in sessions.questions] == ["update", "unanswerable"]


def test_the_same_paragraph_of_two_questions_is_one(datasets):
    hops = datasets["hops"]
    assert hops.sizes() == {"eval:hops": 2}
    assert hops.questions[0].relevant == {"h1", "h2"}


def test_the_sample_names_items_that_exist():
    (sample,) = read_datasets(["sample"], seed=0)
    uids = {row["uid"] for row in sample.rows}
    assert all(question.relevant <= uids for question in sample.questions)
    assert len({question.id for question in sample.questions}) == len(sample.questions) >= 30
    assert {question.category for question in sample.questions} == {"en", "ja", "unanswerable"}
    assert all(bool(question.relevant) == (question.category != "unanswerable") for question in sample.questions)


def test_the_same_seed_draws_the_same_questions(data):
    first, second = (read_datasets([str(data)], seed=3) for _ in range(2))
    assert [dataset.questions for dataset in first] == [dataset.questions for dataset in second]


def test_what_is_no_data_set_is_said(data):
    for name in (data / "notes", data / "nowhere"):
        with pytest.raises(InvalidInput, match="not a data set"):
            read_datasets([str(name)], seed=0)
