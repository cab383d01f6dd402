import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from librarian_agents.sweep.losses import losses
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.template import Section, apply_template, sections_in, templated

TYPES = [type_ for type_ in MemoryType if type_ is not MemoryType.UNKNOWN]
D = MemoryType.DECISION
KNOWN = ["date:2026-03-01", "domain:shop"]
CIRCUMSTANCES = "- date:2026-03-01\n- domain:shop"

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
    """Return the text below each heading."""
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
        "## TAGS\n- type:Decision\n"
    )


def test_headings_and_labels_say_where_their_text_belongs():
    text = (
        "# ADR-7: One owner\n\n## Context\n\nTeams collide.\n\n## Why\n\nNobody owns.\n\n## Decision\n\nOwners.\n\n"
        "### Details\n\nPer table.\n"
    )
    found = sections_of(apply_template(text, D).replace("### ", "@").replace("#@", "@"))
    assert "Teams collide." in found["CONTEXT"]
    assert "Owners." in found["OUTCOME"]
    assert "Per table." in found["OUTCOME"]
    assert found["TAGS"] == "- type:Decision\n- spec:ADR-7"
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
        "TAGS": "- type:Decision",
    }


@pytest.mark.parametrize(
    "block", ["```\na. B c\n\nd. E\n```", "| a. B | c |\n|---|---|\n| d. E | f |", "- a. B\n  c. D"]
)
def test_code_tables_and_lists_stay_whole(block):
    assert block in apply_template(f"Before it. \n\n{block}\n\nWe decided so.", D)


@pytest.mark.parametrize("text", ["e.g. This, i.e. That", "Use `a. B` here", "See [a. B](x. Y)", "J. Doe wrote it"])
def test_no_sentence_is_cut_in_the_middle(text):
    assert text in apply_template(f"We decided. {text} and more because of it.", D)


DIVIDED = {
    "the clause that gives the reason": (
        "We cut the freelance budget, because of the churn in February.",
        {"OUTCOME": "We cut the freelance budget,", "REASONING": "because of the churn in February."},
    ),
    "a reason that comes first": (
        "Because of the egress bill, finance has frozen all new spending.",
        {"REASONING": "Because of the egress bill,", "OUTCOME": "finance has frozen all new spending."},
    ),
    "what follows a decision gives its reason": (
        "We go with the new shader. It looks better at dusk.",
        {"OUTCOME": "We go with the new shader.", "REASONING": "It looks better at dusk."},
    ),
    "Japanese": (
        "決定: ミラーを付ける。運転席からは角の先が見えない。設置から10日、事故は0件である。",
        {
            "OUTCOME": "決定: ミラーを付ける。 設置から10日、事故は0件である。",
            "REASONING": "運転席からは角の先が見えない。",
        },
    ),
}


@pytest.mark.parametrize(("text", "found"), DIVIDED.values(), ids=DIVIDED)
def test_sections_hold_what_the_sentences_do(text, found):
    assert sections_of(apply_template(text, D, KNOWN)) == {"CONTEXT": CIRCUMSTANCES, **found, "TAGS": "- type:Decision"}


@pytest.mark.parametrize(("text", "found"), DIVIDED.values(), ids=DIVIDED)
def test_a_text_that_fills_two_sections_is_left_alone_where_nothing_is_known_of_its_circumstances(text, found):
    assert len(found) == 2
    made = templated(text, D)
    assert (made.changed, made.warnings) == (False, ())


def test_what_the_text_tells_of_its_circumstances_is_enough():
    text = "Three teams edit the schema. Migrations collided because nobody owns it. We decided to give it an owner."
    assert apply_template(text, D, KNOWN) == apply_template(text, D)


@pytest.mark.parametrize(
    "text", ["Logins failed on Monday. After a restart they worked.", "It broke. It broke due to rain."]
)
def test_a_text_without_a_reason_or_an_outcome_is_left_alone(text):
    assert not templated(text, MemoryType.PROBLEM, KNOWN).changed


def test_a_problem_is_divided_into_what_happened_why_and_how_it_ended():
    text = "INC-58: logins failed. The clock was 95 seconds behind because ntp2 is off. After a sync they worked."
    assert sections_of(apply_template(text, MemoryType.PROBLEM)) == {
        "CONTEXT": "INC-58: logins failed.",
        "REASONING": "The clock was 95 seconds behind because ntp2 is off.",
        "OUTCOME": "After a sync they worked.",
        "TAGS": "- type:Problem",
    }


@pytest.mark.parametrize("type_", TYPES)
def test_a_text_with_nothing_to_divide_is_left_alone_without_a_word(type_):
    made = templated("Redis keeps the sessions of the web client", type_)
    assert (made.changed, made.warnings) == (False, ())


@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(TYPES))
@example("## TAGS\nx", D)
@example("#", D)
@example("a\n```", D)
@example(" ## Decision\nWe chose Qdrant because it is fast.", D)
def test_twice_is_once_and_nothing_is_lost(text, type_):
    """A templated text is left alone from then on, and holds every token of the original."""
    made = templated(text, type_, KNOWN)
    assert made.losses == ()
    assert losses(text, made.text.replace(CIRCUMSTANCES, "")) == []
    assert apply_template(made.text, type_) == made.text
    if made.changed:
        present = sections_in(made.text)
        assert present == list(Section)
        assert all(sections_of(made.text.replace("\n### ", "\n@"))[section] for section in present)


@given(st.text(max_size=500), st.sampled_from(list(MemoryType)))
def test_any_text_is_written_without_loss_or_left_alone(text, type_):
    made = templated(text, type_)
    assert made.changed or made.text == text
    assert losses(text, made.text) == []


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("", "the text is empty"),
        (" \n", "the text is empty"),
        ("\x00\x01\x02\x03data\x04", "control characters"),
        ("## CONTEXT\na\n## REASONING\n", "section TAGS is missing"),
        ("## CONTEXT\n## REASONING\n## OUTCOME\n## OUTCOME\n## TAGS\ntype: x\n", "OUTCOME stands there twice"),
        ("## REASONING\n## CONTEXT\n## OUTCOME\n## TAGS\ntype: x\n", "another order"),
        ("## CONTEXT\n## REASONING\n## OUTCOME\n## TAGS\nnone\n", "name no type"),
    ],
)
def test_what_cannot_be_templated_is_left_alone_and_said(text, warning):
    made = templated(text, D)
    assert (made.text, made.changed) == (text, False)
    assert any(warning in one for one in made.warnings)


@pytest.mark.parametrize(
    ("text", "reasoning", "outcome"),
    [
        (
            "The alarm rang four nights in a row. A seal had come loose. New seal on Friday, quiet since.",
            "A seal had come loose.",
            "New seal on Friday, quiet since.",
        ),
        (
            "Mails bounced on Monday. The alias pointed nowhere. Ida added the address, all arrived by noon.",
            "The alias pointed nowhere.",
            "Ida added the address, all arrived by noon.",
        ),
        (
            "The demo slips to May. Its last room was rebuilt because people fell out of it. All sides are closed.",
            "Its last room was rebuilt because people fell out of it.",
            "All sides are closed.",
        ),
        (
            "I found out why the band stops at eight: the oven is on the same fuse. Moved it, fine since.",
            "the oven is on the same fuse.",
            "Moved it, fine since.",
        ),
        (
            "画面が真っ白でした。古い設定が残っていたのが原因です。消したら、すぐに表示されました。",
            "古い設定が残っていたのが原因です。",
            "消したら、すぐに表示されました。",
        ),
    ],
)
def test_what_stands_between_trouble_and_its_end_explains_it(text, reasoning, outcome):
    made = apply_template(text, MemoryType.PROBLEM)
    assert made.partition("## REASONING\n")[2].partition("\n\n##")[0].strip() == reasoning
    assert made.partition("## OUTCOME\n")[2].partition("\n\n##")[0].strip() == outcome


def test_trouble_without_a_reason_and_an_end_is_not_divided():
    text = "The alarm rang four nights in a row. Two neighbours came over. The street was dark."
    assert apply_template(text, MemoryType.PROBLEM) == text


def test_a_well_formed_text_is_left_alone_without_a_word():
    text = apply_template("We decided to use Qdrant because it is fast. Teams collide.", D)
    assert templated(text, D).warnings == ()


def test_a_text_of_unknown_type_is_left_alone():
    assert apply_template("All done for today.", MemoryType.UNKNOWN) == "All done for today."


def test_what_would_be_lost_keeps_the_text_as_it_was():
    """A negation that would come to stand before another word may mean something else: nothing is written then."""
    text = "Decision: Solr we take not, because of the licence. It took 15 minutes."
    made = templated(text, D, KNOWN)
    assert (made.text, made.changed) == (text, False)
    assert {loss.kind for loss in made.losses} == {"negation"}
    assert "left as it was" in made.warnings[0]
    assert "licence" not in "".join(made.warnings)


def test_a_long_document_is_templated():
    text = "We decided to use Qdrant because it is fast. The build failed on 3 of 4 runners.\n\n" * 2_500
    made = templated(text, D, KNOWN)
    assert made.changed
    assert len(made.text) > 200_000


def test_real_memories_are_templated_without_false_alarms():
    """At most 2 % of the labelled memories may be refused for a loss that is none."""
    folder = (
        Path(os.environ.get("LIBRARIAN_EVAL_DATA") or Path(__file__).parents[5] / "shared" / "data") / "memory_types"
    )
    if not (folder / "memories.jsonl").is_file():
        pytest.skip(f"no labelled memories in {folder}")
    rows = [
        json.loads(line)
        for name in ("memories", "agent_notes")
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    typed = [(row["text"], MemoryType.parse(row["type"])) for row in rows if row["type"] != "Unknown"]
    made = [templated(text, type_, KNOWN) for text, type_ in typed]
    assert sum(bool(one.losses) for one in made) <= 0.02 * len(made)
    assert sum(text.changed for text in made) >= len(made) / 7
