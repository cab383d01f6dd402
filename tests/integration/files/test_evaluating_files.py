"""`librarian eval files`: the search of files against ripgrep, and labelled queries."""

import json

import pytest

from librarian.evaluation.files import FilesEvaluation, evaluate_files
from librarian.files.contracts import SearchTextOutput

CODE = {
    f"src/part{i}.py": f"class Part{i}:\n    '''Number {i} of it.'''\n\n    def load_{i}(self):\n        return {i}\n"
    for i in range(8)
}


@pytest.fixture
def evaluate(librarian, namespace, tree, tmp_path):
    labels = tmp_path / "labels"
    labels.mkdir()
    find = {"query": "part3", "form": "stem", "expected": ["src/part3.py"]}
    elsewhere = {"query": "other", "form": "stem", "expected": ["src/other.py"]}
    (labels / "find_file.jsonl").write_text("\n".join(json.dumps(row) for row in (find, elsewhere)))
    defined = {"query": "where is load_5 defined?", "symbol": "load_5", "path": "src/part5.py", "line": 4}
    (labels / "definitions.jsonl").write_text(json.dumps(defined))
    asked = [
        {"query": "the part 2 file", "expected": ["src/part2.py"]},
        {"query": "xyzzy", "expected": ["src/part1.py"]},
    ]
    (labels / "questions.jsonl").write_text("\n".join(json.dumps(row) for row in asked))

    async def run():
        wanted = FilesEvaluation(tree(CODE), namespace, queries=10, labels=labels, questions=labels / "questions.jsonl")
        return await evaluate_files(librarian, wanted, lambda *_: None)

    return run


async def test_the_report(evaluate):
    """Every query is equal, every name and definition found; labels of files that are not there do not count."""
    report = await evaluate()
    assert (report.queries, report.equal_share, report.different) == (10, 1.0, [])
    assert {form: scores.top1 for form, scores in report.find.items()} == {
        "file name": 1.0, "stem": 1.0, "path suffix": 1.0, "labelled stem": 1.0,
    }  # fmt: skip
    assert (report.find["labelled stem"].queries, report.definitions.top1) == (1, 1.0)
    asked = report.questions
    assert (asked.questions, asked.top1, asked.top3, asked.missed) == (2, 0.5, 0.5, ["xyzzy"])


async def test_other_lines_than_those_of_ripgrep_are_reported(evaluate, librarian, monkeypatch):
    """A search that finds nothing is not called equal."""

    async def nothing(namespace, wanted):
        return SearchTextOutput(
            namespace=namespace, query=wanted.query, hits=[], more=False, next_cursor=None, total=0, notes=[]
        )

    monkeypatch.setattr(librarian, "search_text", nothing)
    report = await evaluate()
    assert report.equal_share == 0.0
    assert len(report.different) == 10
