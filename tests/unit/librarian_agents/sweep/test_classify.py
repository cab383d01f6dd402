import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian_agents.sweep.causal_terms import terms
from librarian_agents.sweep.classify import ACCEPTED, classify_memory, judge
from librarian_agents.sweep.features import features, mask
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.type_head import Embedding, head_for, parse_head, trained_heads

NOTES = Path(__file__).with_name("data") / "agent_notes.jsonl"


@pytest.fixture(scope="module")
def notes():
    """Short notes written for this test; the heads never saw them."""
    rows = [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]
    return [(row["text"], MemoryType.parse(row["type"])) for row in rows]


def test_a_strong_marker_decides_whatever_else_is_said():
    verdict = judge("Decision: stop. It failed, it broke, it crashed, we are blocked by it.")
    assert (verdict.type, verdict.method, verdict.evidence) == (MemoryType.DECISION, "marker", ("decision",))
    assert verdict.accepted


def test_two_signs_of_one_type_decide_and_one_does_not():
    both = judge("We went with Qdrant and ruled out the others.")
    assert (both.type, both.method, both.accepted) == (MemoryType.DECISION, "marker", True)
    assert judge("We went with Qdrant.").method == "head"


def test_the_evidence_of_a_head_is_words_that_tell_something(notes):
    quoted = [word for text, _ in notes if (found := judge(text)).method == "head" for word in found.evidence]
    assert len(quoted) > 50
    assert [word for word in quoted if not terms(word)] == []


def test_signs_at_odds_leave_it_to_the_head():
    assert judge("We chose it and it failed; we decided and it broke.").method == "head"


@pytest.mark.parametrize("text", ["", " \n\t", "…!?", "--- ***", "\x00\x01\x02"])
def test_a_text_without_a_letter_is_surely_of_unknown_type(text):
    assert classify_memory(text) == (MemoryType.UNKNOWN, 1.0)


def test_an_unknown_type_is_never_written():
    assert not judge("").accepted


@given(st.text(max_size=3000))
def test_any_text_gets_a_type_and_a_confidence(text):
    type_, confidence = classify_memory(text)
    assert type_ in MemoryType
    assert 0 <= confidence <= 1


def test_a_megabyte_costs_no_more_than_its_beginning():
    text = "The build fails. " * 60_000
    assert judge(text).type is judge(text[:8000]).type is MemoryType.PROBLEM


def test_an_embedding_of_another_space_is_ignored():
    text = "The rollback was slow in spring."
    strange = Embedding("other", [1.0] + [0.0] * 383)
    assert judge(text, strange) == judge(text)


def test_an_embedding_of_the_head_s_own_space_counts():
    (space,) = (space for space in trained_heads() if space is not None)
    text = "The rollback was slow in spring."
    verdicts = {judge(text, Embedding(space, [0.0] * at + [1.0] + [0.0] * (383 - at))).confidence for at in range(5)}
    assert len(verdicts) == 5
    assert head_for(space).space == space
    assert head_for("other").space is head_for(None).space is None


def test_the_evidence_stands_in_the_text():
    text = "Saving the page crashes on old phones"
    verdict = judge(text)
    assert verdict.method == "head"
    assert verdict.evidence
    words = [name.rpartition(":")[2] for name in verdict.evidence if not name.startswith(("marker:", "form:"))]
    assert words
    assert all(word in text.casefold() for word in words)


def test_probabilities_add_up():
    assert sum(judge("The sky was grey").probabilities.values()) == pytest.approx(1.0)


def test_names_numbers_and_addresses_say_nothing_of_the_type():
    one = "we moved Alpha to `core.db` at https://a.example/x on 2026-01-02 with 15 users in src/app/x.py"
    other = "we moved Bravo to `main.sql` at https://b.example/y?z on 2025-11-30 with 7 users in lib/y/zz.rs"
    assert features(one) == features(other)
    assert "qurl" in mask(one)


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("plain words", set()),
        ("- one\n- **two**", {"form:bullet", "form:bold"}),
        ("- [x] done 80 %\n1. next", {"form:tick", "form:bullet", "form:number", "form:percent"}),
        ("# Title\n| a | b |\nFix: 2026-01-02", {"form:heading", "form:table", "form:label", "form:date"}),
    ],
)
def test_how_a_text_is_written_is_a_sign(text, forms):
    signs = features(text).signs
    assert {name for name in signs if name.startswith("form:")} == forms
    assert all(0.5 < signs[name] <= 1.5 for name in forms)


@pytest.mark.parametrize(
    ("text", "theme"),
    [
        ("Alerts: to be defined", "status"),
        ("作業中。次回に続く。", "status"),
        ("Unlike upstream, menus wrap around", "departure"),
        ("病院だけは対象外とする", "departure"),
        ("The flag is silently dropped", "caution"),
    ],
)
def test_the_theme_of_a_text_is_a_sign(text, theme):
    assert f"lexicon:{theme}" in features(text).signs
    assert f"lexicon:{theme}" not in features("The sky is blue").signs


def test_the_heads_were_not_trained_on_the_notes_that_measure_them(notes):
    files = (Path(__file__).parents[4] / "training").glob("memory_*.jsonl")
    trained = {json.loads(line)["text"] for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    assert len(trained) > 2000
    assert trained.isdisjoint(text for text, _ in notes)


@pytest.mark.parametrize(("text", "laid_out"), [("It failed. We wait.", False), ("# Title\nIt failed.", True)])
def test_lists_and_headings_are_told_from_sentences(text, laid_out):
    assert features(text).laid_out is laid_out


@pytest.mark.parametrize("head", trained_heads().values())
def test_a_text_that_is_laid_out_takes_more_to_be_sure_of(head):
    """Notes cut from documents mislead the heads more often than sentences do."""
    assert head.confidence(0.6, laid_out=True) < head.confidence(0.6, laid_out=False)


def test_a_head_for_other_types_is_refused():
    with pytest.raises(ValueError, match="which are not"):
        parse_head({"types": ["A", "B"]})


def test_words_alone_tell_notes_that_were_never_trained_on(notes):
    """The bound is the target for agent notes; the documentation has the figures."""
    verdicts = [(judge(text), label) for text, label in notes]
    assert _macro_f1([(verdict.type, label) for verdict, label in verdicts]) >= 0.6
    accepted = [(verdict, label) for verdict, label in verdicts if verdict.accepted]
    assert len(accepted) >= 15
    assert sum(verdict.type is label for verdict, label in accepted) / len(accepted) >= 0.85


def test_what_is_sure_of_the_head_is_above_the_bound(notes):
    verdicts = [judge(text) for text, _ in notes]
    assert all(
        verdict.accepted == (verdict.confidence >= ACCEPTED) for verdict in verdicts if verdict.type != "Unknown"
    )


def _macro_f1(pairs):
    scores = []
    for type_ in MemoryType:
        hits = sum(told is label is type_ for told, label in pairs)
        scores.append(2 * hits / sum((told is type_) + (label is type_) for told, label in pairs))
    return sum(scores) / len(scores)
