"""How blocks of code are read from pages, checked without being run, and compared with what came."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.block_checks import faults_of, is_run, synopsis_faults
from scripts.code_blocks import blocks_of, commands_of, pages, statements_of
from scripts.shown_output import difference, missing_lines

PROJECT = Path(__file__).resolve().parents[3]
PAGE = """\
# Title

```sh no-run="needs Docker"
docker compose up
```

1. A list:

   ```python
   if True:
       pass
   ```

<!--
```sh
echo prepared
```
-->
"""


def test_blocks_are_found_with_their_lines_and_what_their_info_strings_say():
    """In lists and comments too, without the indentation of the list."""
    docker, python, hidden = blocks_of("page.md", PAGE)
    assert (docker.line, docker.language, docker.options) == (3, "sh", {"no-run": "needs Docker"})
    assert (python.line, python.text) == (9, "if True:\n    pass\n")
    assert hidden.text == "echo prepared\n"


@pytest.mark.parametrize("page", ["```sh norun\nx\n```\n", "```sh\nx\n"])
def test_a_misspelt_option_and_a_block_without_an_end_are_errors(page):
    """A block that is taken for another one would pass unseen."""
    with pytest.raises(ValueError, match=r"info string|no end"):
        blocks_of("page.md", page)


def test_every_page_has_been_looked_for():
    """A rule about no pages holds for ever."""
    assert {"README.md", "docs/http-api.md", "docs/reference/http.md"} <= set(pages(PROJECT))


def test_commands_of_a_console_go_on_where_a_shell_would_read_on():
    """Behind a backslash, and inside quotation marks."""
    first, second = commands_of("$ curl a \\\n    -d 'x\ny'\nanswer\n$ librarian version\n0.1.0\n")
    assert (first.text, first.shown) == ("curl a \\\n    -d 'x\ny'", "answer")
    assert (second.text, second.shown) == ("librarian version", "0.1.0")


def test_statements_of_a_script_are_joined_as_a_shell_joins_them():
    """Comments and empty lines are none."""
    script = "# first\necho 'a\nb'\n\ncat > f <<'END'\nmake believe\nEND\nlibrarian list \\\n  --all\n"
    assert statements_of(script) == ["echo 'a\nb'", "cat > f <<'END'\nmake believe\nEND", "librarian list \\\n  --all"]


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("librarian search x", True),
        ("KEY=$(librarian keys show-local); BASE=x", True),
        (".venv/bin/librarian list", True),
        ("librarian serve --with-sample", False),
        ("librarian mcp", False),
        ("librarian mcp install", True),
        ("librarian index . --watch", False),
        ("make run", False),
        ("pip install .", False),
    ],
)
def test_what_ends_by_itself_and_touches_nothing_else_is_run(statement, runs):
    """Servers and installers are only checked."""
    assert is_run(statement) is runs


@pytest.mark.parametrize(
    "statement",
    [
        "make run",
        "make test PYTEST_ARGS='-k x'",
        "pip install '.[sentence-transformers]'",
        "docker compose exec librarian librarian keys show-local",
        "librarian search x -k 3 --explain | head",
        "librarian --remote http://127.0.0.1:1 list",
        "librarian migrate apply",
        "python examples/professor/professor.py &",
    ],
)
def test_what_is_there_has_no_faults(statement):
    """Targets, extras, services, commands with their options, files."""
    assert faults_of(statement, PROJECT) == []


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("make rum", "rum"),
        ("pip install '.[torch]'", "torch"),
        ("docker compose exec database bash", "database"),
        ("librarian serach x", "serach"),
        ("librarian search x --limti 3", "--limti"),
        ("librarian search x --limit many", "many"),
        ("librarian migrate upgrade", "upgrade"),
        ("python examples/professor/teacher.py", "teacher.py"),
    ],
)
def test_what_is_not_there_is_named(statement, named):
    """Whatever a reader types has to exist."""
    (fault,) = faults_of(statement, PROJECT)
    assert named in fault


def test_a_synopsis_names_options_that_there_are():
    """Of the command that it is about."""
    assert synopsis_faults("librarian search QUERY... [-k LIMIT] [--explain]") == []
    assert synopsis_faults("librarian search QUERY... [--explane]") == ["search has no option --explane"]
    assert synopsis_faults("librarian seek QUERY") == ["there is no command librarian seek"]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("│ 1 │ fact │", "┃ 0 ┃ no ┃\n│ 1 │   fact │\n"),
        ("Key a6130bbfe7 (until 2027-02-19 08:39 UTC)", "Key 0123456789 (until 2026-01-01 00:00 UTC)"),
        ("lib_…", "lib_abc-DEF_1"),
        ("vector ██████ +0.264", "vector ██ +0.271"),
        ("needs … more", "needs one or two more"),
        ("", "anything"),
    ],
)
def test_outputs_are_equal_but_for_what_differs_between_runs(shown, printed):
    """And a page may leave lines out."""
    assert missing_lines(shown, printed) == []


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("added 4", "added 3"), ("b\na", "a\nb"), ("│ 1 │ fact │", "│ 2 │ fact │"), ("a\na", "a")],
)
def test_another_output_is_noticed(shown, printed):
    """Other words, another order, a line too many."""
    assert missing_lines(shown, printed)


def test_json_answers_may_be_shortened_but_not_changed():
    """Fields and elements may be missing in the page, never in the answer."""
    answered = {"n": 2, "hits": [{"uid": "a", "score": 0.5}, {"uid": "b", "score": 0.1}], "at": "2026-01-01T00:00:00Z"}
    assert difference({"hits": [{"uid": "b", "score": 0.7}], "at": "2025-05-05T05:05:05Z"}, answered) is None
    assert difference({"n": 3}, answered) == "$.n: 2, not 3"
    assert difference({"hits": [{"uid": "b"}, {"uid": "a"}]}, answered) == "$.hits[1] is not there; 2 were answered"
    assert "more" in (difference({"more": True}, answered) or "")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_every_answer_is_like_itself(value):
    """Whatever it holds."""
    assert difference(value, value) is None
