import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents import template
from agents.losses import losses
from agents.memory_types import MemoryType
from agents.template import Section, apply_template, sections_in, templated

TYPES = [type_ for type_ in MemoryType if type_ is not MemoryType.UNKNOWN]
D = MemoryType.DECISION

PIECES = st.sampled_from(
    [
        "We chose Qdrant because it is fast.",
        "The build failed on 3 of 4 runners.",
        "It does not work without `sudo`.",
        "\n\n",
        "\n",
        " ",
        "# Title\n",
        "## Decision\n",
        "## CONTEXT of things\n",
        "- item one\n- item two\n  nested\n",
        "1. first\n2. second\n",
        "```python\nif x:\n    y = 1\n```\n",
        "```\n## CONTEXT\n```\n",
        "~~~\nnever closed",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "> quoted\n",
        "    indented code\n",
        "<Match>\n  <Bug/>\n</Match>\n",
        "Why: e.g. it was slow. Fix: restart it!",
        "設定は変えない。理由は速度です。",
        "https://example.org/a?b=1",
        "\r\n",
        "\u2028",
        "\x0c",
    ]
)


def sections_of(text):
    """What stands under each heading."""
    parts = text.split("## ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def test_sentences_are_assigned_as_they_are():
    text = (
        "Three teams edit the schema. Migrations collided twice because nobody owns a table. "
        "We decided to give each table one owner."
    )
    assert apply_template(text, D) == (
        "## CONTEXT\nThree teams edit the schema.\n\n"
        "## REASONING\nMigrations collided twice because nobody owns a table.\n\n"
        "## OUTCOME\nWe decided to give each table one owner.\n\n"
        "## TAGS\ntype: decision\n"
    )


def test_headings_and_labels_say_where_their_text_belongs():
    text = "# ADR-7: One owner\n\n## Context\n\nTeams collide.\n\n## Decision\n\nOwners.\n\n### Details\n\nPer table.\n"
    found = sections_of(apply_template(text, D).replace("### ", "@").replace("#@", "@"))
    assert "Teams collide." in found["CONTEXT"]
    assert "Owners." in found["OUTCOME"]
    assert "Per table." in found["OUTCOME"]
    assert found["TAGS"] == "type: decision\nspec: ADR-7"
    labelled = sections_of(apply_template("Symptom: it hangs.\nCause: a lock.\nFix: restart.", MemoryType.PROBLEM))
    assert [labelled[name] for name in ("CONTEXT", "REASONING", "OUTCOME")] == [
        "Symptom: it hangs.",
        "Cause: a lock.",
        "Fix: restart.",
    ]


def test_japanese_is_cut_at_its_own_full_stops():
    found = sections_of(apply_template("保存が遅い。索引がないためです。索引を追加することにした。", D))
    assert found == {
        "CONTEXT": "保存が遅い。",
        "REASONING": "索引がないためです。",
        "OUTCOME": "索引を追加することにした。",
        "TAGS": "type: decision",
    }


@pytest.mark.parametrize(
    "block", ["```\na. B c\n\nd. E\n```", "| a. B | c |\n|---|---|\n| d. E | f |", "- a. B\n  c. D"]
)
def test_code_tables_and_lists_stay_whole(block):
    assert block in apply_template(f"Before it. \n\n{block}\n\nWe decided so.", D)


@pytest.mark.parametrize("text", ["e.g. This, i.e. That", "Use `a. B` here", "See [a. B](x. Y)", "J. Doe wrote it"])
def test_no_sentence_is_cut_in_the_middle(text):
    assert text in apply_template(f"We decided. {text} and more because of it.", D)


def test_a_sentence_that_leans_on_the_one_before_follows_it():
    found = sections_of(apply_template("We decided to use Qdrant. This is because it is fast.", D))
    assert found["OUTCOME"] == "We decided to use Qdrant. This is because it is fast."


@pytest.mark.parametrize("type_", TYPES)
def test_a_single_statement_has_a_section_and_the_others_a_warning(type_):
    made = templated("Redis keeps the sessions of the web client", type_)
    assert made.changed
    assert len(made.warnings) == 2
    assert "Redis keeps the sessions of the web client" in sections_of(made.text).values()


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(TYPES))
@example("## TAGS\nx", D)
@example("#", D)
@example("a\n```", D)
def test_twice_is_once_and_nothing_is_lost(text, type_):
    """What was templated is left alone from then on, and holds every token of the text."""
    made = templated(text, type_)
    assert made.losses == ()
    assert losses(text, made.text) == []
    assert apply_template(made.text, type_) == made.text
    if made.changed:
        assert sections_in(made.text) == list(Section)


@given(st.text(max_size=500), st.sampled_from(list(MemoryType)))
def test_any_text_is_written_without_loss_or_left_alone(text, type_):
    made = templated(text, type_)
    assert made.changed or (made.text == text and made.warnings)
    assert losses(text, made.text) == []


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("", "the text is empty"),
        (" \n", "the text is empty"),
        ("\x00\x01\x02\x03data\x04", "control characters"),
        ("## CONTEXT\na\n## REASONING\n", "section OUTCOME is missing"),
        ("## CONTEXT\n## REASONING\n## OUTCOME\n## OUTCOME\n## TAGS\ntype: x\n", "OUTCOME stands there twice"),
        ("## REASONING\n## CONTEXT\n## OUTCOME\n## TAGS\ntype: x\n", "another order"),
        ("## CONTEXT\n## REASONING\n## OUTCOME\n## TAGS\nnone\n", "name no type"),
    ],
)
def test_what_cannot_be_templated_is_left_alone_and_said(text, warning):
    made = templated(text, D)
    assert (made.text, made.changed) == (text, False)
    assert any(warning in one for one in made.warnings)


def test_a_well_formed_text_is_left_alone_without_a_word():
    text = apply_template("We decided to use Qdrant because it is fast. Teams collide.", D)
    assert templated(text, D).warnings == ()


def test_a_text_of_unknown_type_is_left_alone():
    assert apply_template("All done for today.", MemoryType.UNKNOWN) == "All done for today."


def test_what_would_be_lost_keeps_the_text_as_it_was(monkeypatch):
    """The check guards the writing itself: with a writer that drops a sentence nothing is written."""
    joined = template._joined
    monkeypatch.setattr(template, "_joined", lambda placed: joined(placed[:-1]))
    text = "We decided to use Qdrant. It took 15 minutes."
    made = templated(text, D)
    assert (made.text, made.changed) == (text, False)
    assert {loss.kind for loss in made.losses} >= {"number"}
    assert "left as it was" in made.warnings[0]
    assert "15" not in "".join(made.warnings)


def test_a_megabyte_is_templated():
    text = "We decided to use Qdrant because it is fast. The build failed on 3 of 4 runners.\n\n" * 12_500
    made = templated(text, D)
    assert made.changed
    assert len(made.text) > 1_000_000


def test_real_memories_are_templated_without_false_alarms():
    """At most 2 % of the labelled memories may be refused for a loss that is none."""
    folder = (
        Path(os.environ.get("LIBRARIAN_EVAL_DATA") or Path(__file__).parents[4] / "shared" / "data") / "memory_types"
    )
    if not (folder / "memories.jsonl").is_file():
        pytest.skip(f"no labelled memories in {folder}")
    rows = [
        json.loads(line)
        for name in ("memories", "agent_notes")
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    typed = [(row["text"], MemoryType.parse(row["type"])) for row in rows if row["type"] != "Unknown"]
    made = [templated(text, type_) for text, type_ in typed]
    assert sum(bool(one.losses) for one in made) <= 0.02 * len(made)
    assert all(one.changed for one in made if not one.losses)
