"""`librarian eval evidence` on a made-up pool of documents: true figures, without a graph."""

import asyncio
import json
import os

import pytest

from librarian.base.errors import InvalidInput
from librarian.base.settings.settings import Settings
from librarian.evaluation.evidence import evaluate_pools, evidence_folders, need_store

DOCUMENTS = {
    "man": ("When a Man's a Man", "When a Man's a Man is a 1935 Western film directed by Edward F. Cline."),
    "cline": ("Edward F. Cline", "Edward Francis Cline (November 4, 1891) was an American screenwriter and director."),
    "utah": ("The Man from Utah", "The Man from Utah is a 1934 American Western film starring John Wayne."),
    "krudt": ("Krudt og klunker", "Krudt og klunker is a 1958 Danish comedy film."),
    "grandi": ("Grandi magazzini", "Grandi magazzini is a 1986 Italian comedy film."),
}
QUESTIONS = (
    ("bridge", "When is the director of film When A Man'S A Man 's birthday?", ["man", "cline"]),
    ("comparison", "Which film was released earlier, Grandi Magazzini or Krudt Og Klunker?", ["grandi", "krudt"]),
    ("unfindable", "Grandi Magazzini", ["cline"]),
)
FIGURES = ("precision", "recall", "f1", "mean_set_ratio", "mean_searches")


@pytest.fixture
def folder(tmp_path):
    """Three questions, the last of which is labelled with what nothing leads to."""
    data = tmp_path / "data" / "films"
    data.mkdir(parents=True)
    documents = ({"doc_id": uid, "title": title, "text": text} for uid, (title, text) in DOCUMENTS.items())
    questions = (
        {"question_id": kind, "dataset": kind, "question": asked, "evidence": evidence, "candidates": list(DOCUMENTS)}
        for kind, asked, evidence in QUESTIONS
    )
    for name, rows in (("documents", documents), ("questions", questions)):
        (data / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return data.parent


async def test_the_figures_are_means_over_questions(folder, tmp_path):
    """Right, right and wrong are two thirds; the scripted judge, who knows the labels, quotes nothing false."""
    settings = Settings.from_env({"LIBRARIAN_HOME": str(tmp_path / "home"), "LIBRARIAN_ENCODER": "none"})
    report = await evaluate_pools(settings, evidence_folders([str(folder)]))
    assert {name: entry.f1 for name, entry in report.datasets.items()} == {
        "bridge": 1,
        "comparison": 1,
        "unfindable": 0,
    }
    assert (report.questions, report.precision, report.recall) == (3, 0.6667, 0.6667)
    assert report.mean_set_ratio == 1
    assert [getattr(report.systems["heuristic_agent"], name) for name in FIGURES] == [
        getattr(report, name) for name in FIGURES
    ]
    assert report.systems["single_search_first_1"].recall == pytest.approx(1 / 3, abs=1e-4)
    assert report.systems["llm_agent"].precision == 1
    assert any("no language model" in note for note in report.notes)


async def test_the_command_needs_no_graph(folder, program, tmp_path):
    """One JSON object with the figures on top, and nothing started or kept in the home."""
    home = tmp_path / "home"
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("LIBRARIAN_", "NEO4J_"))}
    process = await asyncio.create_subprocess_exec(
        *(program, "eval", "evidence", "--data", folder, "--json"),
        env={**inherited, "LIBRARIAN_HOME": str(home), "LIBRARIAN_ENCODER": "none"},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert set(FIGURES) <= json.loads(out).keys()
    assert not home.exists()


def test_conversations_need_the_graph(folder, tmp_path):
    """A folder that holds neither is refused with what is wanted."""
    assert not need_store(evidence_folders([str(folder)]))
    (folder / "films" / "documents.jsonl").rename(folder / "films" / "conversations.jsonl")
    assert need_store(evidence_folders([str(folder)]))
    with pytest.raises(InvalidInput) as refused:
        evidence_folders([str(tmp_path / "nowhere")])
    assert "documents.jsonl or conversations.jsonl" in refused.value.remedy
