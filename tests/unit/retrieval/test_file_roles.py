"""The role of a file, by its path, and the roles that a query asks for."""

import pytest

from retrieval.file_roles import Role, asked_roles, preference, role_of


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/app.py", Role.SOURCE),
        ("django/test/client.py", Role.SOURCE),
        ("pkg/testing/clock.py", Role.SOURCE),
        ("testing/example_clock.py", Role.TEST),
        ("tests/test_app.py", Role.TEST),
        ("src/test/java/AppTest.java", Role.TEST),
        ("src/AgentPanel.test.tsx", Role.TEST),
        ("pkg/conftest.py", Role.TEST),
        ("pkg/_core/_tests/tools.py", Role.TEST),
        ("docs/guide.md", Role.DOCS),
        ("README.md", Role.DOCS),
        ("CHANGELOG.md", Role.CHANGELOG),
        ("docs/releases/5.1.txt", Role.CHANGELOG),
        ("HISTORY", Role.CHANGELOG),
        ("src/history.py", Role.SOURCE),
        ("package-lock.json", Role.GENERATED),
        ("static/jquery.min.js", Role.GENERATED),
        ("api/user_pb2.py", Role.GENERATED),
        ("pkg/_generated_run.py", Role.GENERATED),
        ("examples/echo.py", Role.EXAMPLE),
        ("templates/base.html", Role.DATA),
    ],
)
def test_a_path_has_a_role(path, role):
    """Folders and names say it; what they say nothing of is source."""
    assert role_of(path) is role


@pytest.mark.parametrize(
    ("query", "roles"),
    [
        ("tests for the parser", {Role.TEST}),
        ("which tests cover retries?", {Role.TEST}),
        ("the test client", set()),
        ("how does the clock for tests skip time?", set()),
        ("release notes for 5.1", {Role.CHANGELOG}),
        ("the changelog", {Role.CHANGELOG}),
        ("docs of the parser", {Role.DOCS}),
        ("パーサのテスト", {Role.TEST}),
        ("how is the parser tested?", {Role.TEST}),
        ("where is the documentation?", {Role.DOCS}),
        ("a benchmark of the parser", {Role.EXAMPLE}),
        ("how are links to other documentation resolved?", set()),
        ("how can code examples in the manual be tested?", set()),
        ("which test covers retries?", {Role.TEST}),
        ("which test client is there?", set()),
        ("how are the failed tests of the last run kept?", set()),
        ("テスト用のサーバ", set()),
        ("parser", set()),
    ],
)
def test_a_query_asks_for_roles(query, roles):
    """By saying so, not by a word that happens to be there."""
    assert asked_roles(query) == roles


def test_sources_come_first_unless_others_are_asked_for():
    """A source before its test; the test before it where tests are asked for."""
    assert preference("src/app.py", ()) < preference("tests/test_app.py", ()) < preference("CHANGELOG.md", ())
    assert preference("tests/test_app.py", {Role.TEST}) < preference("src/app.py", {Role.TEST})
