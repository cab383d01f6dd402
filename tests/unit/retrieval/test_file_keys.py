"""Keys of paths and of queries for files."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from retrieval.files import Candidate, Tier, file_query, lucene_words, path_keys, ranked, within_one_edit

PATHS = st.lists(st.text("abAB1._-é ", min_size=1, max_size=8), min_size=1, max_size=4).map("/".join)


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_one_edit(left, right):
    """Equal to trying every edit."""
    assert within_one_edit(left, right) == (right in edits(left))


@given(PATHS)
def test_a_path_is_the_first_of_its_own_query(path):
    """Whatever else is there, the very path comes first."""
    others = [f"x/{path}", f"{path}.bak", path.upper() + "x"]
    assume(path == path.strip() and not path.startswith("./") and "/ " not in path and " /" not in path)
    assert ranked(file_query(path), [Candidate(one) for one in (*others, path)])[0].path == path


@example("\u1e96 \u0130stanbul")  # lower-case forms with a mark of their own
@given(st.text(max_size=40))
def test_no_query_breaks_the_index(text):
    """Only letters and digits reach it, whatever is asked."""
    words = lucene_words(file_query(text), "n")
    if words is not None:
        inside = words.replace("search_text:", "").replace("tokens:", "").replace("^0", "").replace("^4", "")
        assert set(inside) - set("+()*~ ") <= {char for char in inside if char.isalnum()}


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("a/AgentPanel.tsx", "agentpanel"),
        ("a/.env", "env"),
        ("Makefile", "makefile"),
        ("x.test.ts", "xtest"),
        ("ﬁ.c", "fi"),
    ],
)
def test_stems(path, stem):
    """Letters and digits of the name without its last ending."""
    assert path_keys(path).stem_key == stem


def order(query, *paths, **about):
    """The paths that are found, best first; `about` has what is known of some by their stems."""
    candidates = [Candidate(path, **about.get(path.rpartition("/")[2].partition(".")[0], {})) for path in paths]
    return [found.path for found in ranked(file_query(query), candidates)]


def test_exact_then_beginnings_then_parts_then_typos():
    """And typos only where nothing else is found."""
    paths = ("src/MyAgent.ts", "src/AgentPanel.tsx", "src/Agent.ts", "src/agnt.ts")
    assert order("Agent", *paths) == ["src/Agent.ts", "src/AgentPanel.tsx", "src/MyAgent.ts"]
    assert order("Agents", *paths)[:2] == ["src/Agent.ts", "src/AgentPanel.tsx"]
    assert order("Ag", *paths)[:2] == ["src/Agent.ts", "src/AgentPanel.tsx"]
    assert order("Agentt", "src/agnt.ts", "src/Agent.ts") == ["src/Agent.ts"]


@pytest.mark.parametrize(
    "query", ["middleware for sessions", "the sessions middleware", "open the session middleware file"]
)
def test_words_that_carry_the_request_are_left_out(query):
    """The others are the stem and its folders, in any order."""
    paths = ("docs/middleware.md", "core/middleware.py", "contrib/sessions/middleware.py", "contrib/sessions/models.py")
    assert order(query, *paths)[0] == "contrib/sessions/middleware.py"


def test_what_a_file_defines_finds_it():
    """A name of code that no file is called, and words that its path lacks."""
    assert (
        order("the ModelForm file", "forms/models.py", "docs/modelforms.md", models={"defines": True})[0]
        == "forms/models.py"
    )
    told = {"schema": {"told": frozenset({"editor"})}}
    assert order("sqlite schema editor", "backends/sqlite3/schema.py", "backends/base/creation.py", **told) == [
        "backends/sqlite3/schema.py"
    ]


def test_words_that_are_written_together_in_a_name():
    """A name that says two words of the query at once is all said by it."""
    told = {"feed": {"told": frozenset({"rss", "generator"})}}
    paths = ("tests/syndication/feeds.py", "utils/feedgenerator.py")
    assert order("rss feed generator", *paths, **told)[0] == "utils/feedgenerator.py"


def test_sources_before_tests_unless_tests_are_asked_for():
    """Of files with the same words."""
    paths = ("tests/test_canvas.py", "src/canvas.py", "docs/canvas.md")
    assert order("canvas", *paths)[0] == "src/canvas.py"
    assert order("tests for canvas", *paths)[0] == "tests/test_canvas.py"


def test_a_test_with_half_the_words_when_tests_are_requested():
    """A source with that name in those folders hides no test."""
    paths = ("pkg/brokers/redis.py", "tests/test_redis.py", "tests/test_cli.py")
    assert order("tests for the redis broker", *paths)[0] == "tests/test_redis.py"
    assert order("the redis broker", *paths) == ["pkg/brokers/redis.py"]


def test_each_file_says_why():
    """In words, by how it was found."""
    found = ranked(file_query("agent"), [Candidate("src/agent.py"), Candidate("src/agents.py")])
    assert [(file.tier, file.why) for file in found] == [
        (Tier.STEM, "its name without the ending is this"),
        (Tier.PREFIX, "its name is a form of this word"),
    ]


def edits(word):
    letters = "abc"
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        word,
        *(a + b[1:] for a, b in splits if b),
        *(a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1),
        *(a + c + b[1:] for a, b in splits if b for c in letters),
        *(a + c + b for a, b in splits for c in letters),
    }


_PROJECT = (
    *(
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "CONTRIBUTING.md",
        ".github/workflows/ci.yml",
        "pyproject.toml",
        "uv.lock",
    ),
    *("Dockerfile", "tests/conftest.py", "Makefile", "src/app.py", "src/release.py", "docs/notes.md", ".env.example"),
)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("release notes", "CHANGELOG.md"),
        ("where are the release notes?", "CHANGELOG.md"),
        ("what's new", "CHANGELOG.md"),
        ("変更履歴", "CHANGELOG.md"),
        ("licence terms", "LICENSE"),
        ("license terms", "LICENSE"),
        ("getting started", "README.md"),
        ("contribution guidelines", "CONTRIBUTING.md"),
        ("CI config", ".github/workflows/ci.yml"),
        ("the dependencies of the project", "pyproject.toml"),
        ("lock file", "uv.lock"),
        ("container image", "Dockerfile"),
        ("test settings", "tests/conftest.py"),
        ("build targets", "Makefile"),
        ("environment variables", ".env.example"),
    ],
)
def test_what_a_well_known_file_is_for_names_it(query, path):
    wanted = file_query(query)
    assert ranked(wanted, [Candidate(one) for one in _PROJECT])[0].path == path
    stems = [(key.stem, key.ending) for key in wanted.stems if key.usual]
    assert any(path_keys(path).stem_key == stem and path.endswith(ending) for stem, ending in stems)


def test_a_file_of_that_name_precedes_those_usually_called_otherwise():
    found = ranked(file_query("dependencies"), [Candidate("pyproject.toml"), Candidate("app/dependencies.py")])
    assert [file.path for file in found] == ["app/dependencies.py", "pyproject.toml"]
