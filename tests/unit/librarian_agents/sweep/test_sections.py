import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from librarian_agents.sweep.markers import markers
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.sections import retagged, tagged_type, without_sections
from librarian_agents.sweep.template import apply_template

KNOWN = ["date:2026-03-01", "domain:the shop"]
D, P = MemoryType.DECISION, MemoryType.PROBLEM
TYPES = [type_ for type_ in MemoryType if type_ not in (MemoryType.UNKNOWN, MemoryType.REFERENCE)]
WRITTEN = "Three teams edit the schema. It broke because nobody owns a table. We decided to give each table an owner.\n"
SHORT = "Because nobody owned the table, we decided to give each table an owner.\n"
SECTIONS = "## CONTEXT\na\n## REASONING\n## OUTCOME\nb\n## TAGS\n"


@given(st.sampled_from(TYPES), st.sampled_from(TYPES))
def test_the_tags_follow_the_type_and_nothing_else_does(before, after):
    text = apply_template(f"{WRITTEN}\n```\n## TAGS\ntype: {before.lower()}\n```\n", before, KNOWN)
    assume("## TAGS\n- type:" in text)
    changed = retagged(text, after)
    assert (tagged_type(text), tagged_type(changed)) == (before, after)
    assert retagged(changed, before) == text


@pytest.mark.parametrize(
    "text",
    [
        "type: problem",
        f"type: problem\n{SECTIONS}spec: ADR-7\n",
        f"{SECTIONS}type: story\n",
        f"{SECTIONS}the type: problem\n",
        f"{SECTIONS}type: problem of the day\n",
        "```\n## TAGS\ntype: problem\n```\n",
        f"{SECTIONS}### More\ntype: problem\n",
    ],
)
def test_what_is_no_tag_is_left_alone(text):
    assert tagged_type(text) is None
    assert retagged(text, D) == text


@pytest.mark.parametrize("tag", ["type: problem", "- type:Problem", "- type: problem"])
def test_the_type_is_read_as_the_specification_writes_it(tag):
    text = f"{SECTIONS}- component:api\n{tag}\n"
    assert tagged_type(text) is P
    assert tagged_type(retagged(text, D)) is D


def test_a_tag_that_says_so_already_is_left_as_it_is_written():
    text = f"{SECTIONS}component: api\nType:  Decision\n"
    assert retagged(text, D) == text
    assert retagged(text, P) == f"{SECTIONS}component: api\nType:  Problem\n"


def test_the_type_in_the_tags_is_what_the_text_says_of_itself_first():
    text = f"Problem: it hangs.\n{SECTIONS}type: decision\n"
    strong = [marker.type for marker in markers(text) if marker.strong]
    assert strong == [D, P]
    assert [marker for marker in markers(f"{SECTIONS}type: unknown\n") if marker.strong] == []


def test_what_a_sweep_has_written_around_a_text_is_none_of_it():
    assert without_sections(apply_template(WRITTEN, D)).split() == WRITTEN.split()
    assert without_sections(apply_template(SHORT, D, KNOWN)).split() == SHORT.split()
    assert without_sections("# Title\n\n## Context\n\nit\n") == "# Title\n\n## Context\n\nit\n"
    assert without_sections(SECTIONS).split() == ["a", "b"]


@pytest.mark.parametrize("text", ["## TAGS\ntype: decision\n", "## CONTEXT\n"])
def test_a_text_of_nothing_else_stays(text):
    assert without_sections(text) == text


@pytest.mark.parametrize("line", ["- date:soon", "- domain: shop", "- agent:ada", "date:2026-03-01"])
def test_only_circumstances_that_a_sweep_has_written_are_left_out(line):
    assert line in without_sections(f"## CONTEXT\n{line}\n## OUTCOME\nb\n")
    assert "- domain:shop" in without_sections("## OUTCOME\n- domain:shop\n")


@given(st.text(max_size=300), st.sampled_from(TYPES))
def test_every_line_that_stays_is_one_of_the_text(text, type_):
    made = apply_template(text, type_)
    assert all(line.strip() in made for line in without_sections(made).splitlines())
