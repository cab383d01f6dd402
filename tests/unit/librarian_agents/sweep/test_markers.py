import pytest

from librarian_agents.sweep.markers import MAX_CHARS, markers
from librarian_agents.sweep.memory_types import MemoryType

P, D, B, I, X, R = list(MemoryType)[:6]  # noqa: E741 - Pattern, Decision, proBlem, Insight, eXception, Reference

STRONG = [
    ("Pattern: one repository per aggregate", P),
    ("### Pattern: guards first", P),
    ("Decision: use SQLite", D),
    ("**Decision:** use SQLite", D),
    ("- **Decision**: use SQLite", D),
    ("2026-03-01: Decision: use SQLite", D),
    ("[2026-03-01] Decision: use SQLite", D),
    ("Issue: login loops", B),
    ("BUG: login loops", B),
    ("[Bug] login loops", B),
    ("Error: login loops", B),
    ("TIL: bash has arrays", I),
    ("TIL bash has arrays", I),
    ("Today I learned that bash has arrays", I),
    ("Realized: the cache is per process", I),
    ("Observed: two of three fail", I),
    ("Lessons learned: measure first", I),
    ("Exemption: the demo needs no tests", X),
    ("Override: 30 days for this tenant", X),
    ("Constitution exception: direct writes", X),
    ("https://example.org/page", R),
    ("<https://example.org/page> explains it", R),
    ("See: the runbook", R),
    ("ref: RFC 9457", R),
    ("Docs: chapter 5", R),
    ("決定: SQLite を使う", D),
    ("決定：SQLite を使う", D),
    ("【決定】 SQLite を使う", D),
    ("問題: 保存できない", B),
    ("学び: 先に測る", I),
    ("例外: ここだけ許す", X),
    ("参照: 手順書", R),
    ("パターン: 一画面一部品", P),
    ("## CONTEXT\nIt fails.\n## REASONING\n## OUTCOME\n## TAGS\ntype: exception\n", X),
]
WEAK = [
    ("We always use the helper, it is the standard approach.", P, 2),
    ("We chose it because we know it.", D, 2),
    ("The build failed and the page broke.", B, 2),
    ("Turns out we never observed it; we learned it later.", I, 3),
    ("Skipped on purpose, an exception to rule 3.", X, 2),
    ("Note: the cache is per process", I, 1),
    ("認証は外部に任せることにした。自前は見送り。", D, 2),
]


@pytest.mark.parametrize(("text", "type_"), STRONG)
def test_what_a_text_names_itself_is_a_strong_marker(text, type_):
    strong = [marker.type for marker in markers(text) if marker.strong]
    assert strong == [type_]


@pytest.mark.parametrize(("text", "type_", "count"), WEAK)
def test_phrases_are_weak_markers_each_once(text, type_, count):
    found = markers(text)
    assert not any(marker.strong for marker in found)
    assert sum(marker.type is type_ for marker in found) == count


@pytest.mark.parametrize(
    "text", ["", "   \n", "The sky is blue.", "decisionmaking", "12:30 lunch", "http", "ratio 3:1"]
)
def test_a_text_that_says_nothing_of_itself_has_no_strong_marker(text):
    assert not any(marker.strong for marker in markers(text))


def test_a_marker_quotes_what_stands_in_the_text():
    text = "Fixed. It failed twice.\nRoot cause: unknown\nDecision: wait\n"
    assert all(marker.quote.casefold() in text.casefold() for marker in markers(text))
    assert MemoryType.DECISION in {marker.type for marker in markers(text)}


def test_only_the_beginning_of_a_long_text_is_read():
    assert markers("x" * MAX_CHARS + " failed") == []


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("ConstitutionType::Exception the demo tenant skips the audit log.", MemoryType.EXCEPTION),
        ("Feed the sourdough at three.\n- type:Pattern\n", MemoryType.PATTERN),
        ("Exception to the string sheet: the credits keep their text.", MemoryType.EXCEPTION),
        ("Where replays are: builds/replays.", MemoryType.REFERENCE),
        ("手順: 必ず記録を保存してから止める。", MemoryType.PATTERN),
    ],
)
def test_the_marks_of_the_specification_and_of_notes_are_read(text, type_):
    assert {marker.type for marker in markers(text) if marker.strong} == {type_}
