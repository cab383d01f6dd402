"""The audit of dependencies: what it does with each answer of pip-audit, and that it never holds anybody up."""

import json
import sys

import pytest

from scripts.audit import Memory, Outcome, audited

ANSWER = {
    "dependencies": [
        {"name": "sound", "version": "1.0", "vulns": []},
        {"name": "leaky", "version": "2.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"], "aliases": []}]},
        {"name": "sad", "version": "3.0", "vulns": [{"id": "PYSEC-2", "fix_versions": [], "aliases": []}]},
        {"name": "librarian", "skip_reason": "distribution marked as editable"},
    ],
    "fixes": [],
}


def program(text):
    """A stand-in for pip-audit."""
    return [sys.executable, "-c", text]


def test_findings_are_told_with_what_mends_them():
    """pip-audit ends with 1 then, which is an answer."""
    outcome = audited(program(f"import sys; print({json.dumps(json.dumps(ANSWER))}); sys.exit(1)"), 10)
    assert outcome.lines == (
        "leaky 2.0: PYSEC-1, fixed in 2.1",
        "sad 3.0: PYSEC-2, not fixed yet",
        "audit: 2 known vulnerabilities in 4 packages",
    )
    assert (outcome.findings, outcome.answered) == (2, True)


def test_a_clean_answer_says_so():
    outcome = audited(program('print(\'{"dependencies": [], "fixes": []}\')'), 10)
    assert outcome == Outcome(("audit: 0 known vulnerabilities in 0 packages",))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.exit('ERROR: Could not connect to the vulnerability service')", "Could not connect"),
        ("import time; time.sleep(60)", "no answer within 0.5 s"),
        ("print('<html>a proxy</html>')", "it said nothing"),
        ("print('[]')", "it said nothing"),
    ],
)
def test_without_a_network_it_is_skipped_and_says_why(text, reason):
    (line,) = (outcome := audited(program(text), 0.5)).lines
    assert line.startswith("audit skipped: no network (")
    assert reason in line
    assert (outcome.findings, outcome.answered) == (0, False)


@pytest.fixture
def memory(tmp_path):
    """Memories of the same file, at a time that the test sets."""
    now = [1000.0]

    def at(packages=("a==1", "b==2")):
        return Memory(tmp_path / "audit.json", packages, lambda: now[0])

    at.now = now
    return at


@pytest.mark.parametrize(("answered", "counts_s"), [(True, 24 * 3600), (False, 3600)])
def test_an_outcome_counts_for_a_while(memory, answered, counts_s):
    """A day where somebody answered, an hour where not."""
    outcome = Outcome(("x",), 0, answered)
    assert memory().recall() is None
    memory().keep(outcome)
    memory.now[0] += counts_s - 1
    assert memory().recall() == outcome
    memory.now[0] += 1
    assert memory().recall() is None


def test_other_packages_are_asked_for_anew(memory):
    memory().keep(Outcome(("x",)))
    assert memory(("b==2", "a==1")).recall() is not None
    assert memory(("a==1", "b==3")).recall() is None


def test_a_damaged_note_is_no_note(memory, tmp_path):
    for text in ("{", "[]", '{"lines": []}'):
        (tmp_path / "audit.json").write_text(text)
        assert memory().recall() is None
