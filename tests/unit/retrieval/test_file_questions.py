"""Which files a question is about."""

import pytest

from retrieval.file_questions import FilePart, question_words, ranked_files


def parts(*paths):
    return [FilePart(path, number, 1.0) for number, path in enumerate(paths)]


def paths(found):
    return list(dict.fromkeys(part.path for part in found))


def test_sources_before_tests_and_change_logs():
    """They repeat the words of a question more often than the source does."""
    found = ranked_files(
        "how are redirects followed?", parts("CHANGELOG.md", "tests/test_redirects.py", "src/client.py"), {}
    )
    assert paths(found)[0] == "src/client.py"
    assert (
        paths(ranked_files("which tests cover redirects?", parts("src/client.py", "tests/test_redirects.py"), {}))[0]
        == "tests/test_redirects.py"
    )


def test_a_name_that_the_question_says_counts():
    """Also as a part of a compound, in another number, or as the folder of a file without a name of its own."""
    for question, path in (
        ("where are cookies kept?", "src/cookies.py"),
        ("how are proxies chosen?", "src/httpproxy.py"),
        ("how is a session stored?", "src/sessions/__init__.py"),
    ):
        assert paths(ranked_files(question, parts("src/a.py", "src/b.py", path), {path: []}))[0] == path


@pytest.mark.parametrize(
    ("question", "path"),
    [("who writes the pid file?", "src/pidfile.py"), ("where are the settings kept?", "src/config.py")],
)
def test_other_ways_to_write_a_name_count(question, path):
    """Neighbouring words as one, and another word for the same thing."""
    assert paths(ranked_files(question, parts("src/logfile.py", path), {}))[0] == path


def test_an_outline_with_more_words_of_the_question_counts():
    """Rare words most: every file speaks of messages, one of their age."""
    about = {"src/broker.py": [1], "src/stub.py": [1], "src/limit.py": [0, 1]}
    found = ranked_files("what drops old messages?", [], about, {})
    assert question_words("what drops old messages?") == ["drops", "old", "messages"]
    assert paths(found) == ["src/limit.py", "src/broker.py", "src/stub.py"]


def test_a_name_that_many_paths_have_says_little():
    """Of a question about cookies of requests, the file of cookies before those of requests."""
    requests = [f"app/http/request_{name}.py" for name in ("body", "head", "form", "json", "line", "files")]
    parts = [FilePart(path, path, 1.0) for path in [*requests, "app/extra/cookies.py"]]
    first = ranked_files("How are the cookies of a request kept?", parts, {})[0]
    assert first.path == "app/extra/cookies.py"


def test_a_package_name_says_nothing():
    """Words of folders that hold most files tell none of them apart."""
    found = ranked_files(
        "how does harbor lock?", parts("src/harbor/lock.py", "src/harbor/__init__.py", "src/harbor/a.py"), {}
    )
    assert paths(found)[0] == "src/harbor/lock.py"


def test_the_best_part_of_each_file_comes_before_its_others():
    """So that a list of ten shows more than one file."""
    found = ranked_files("x", parts("a.py", "a.py", "b.py"), {"c.py": []})
    assert [(part.path, part.item) for part in found] == [("a.py", 0), ("c.py", None), ("b.py", 2), ("a.py", 1)]


def test_several_near_parts_count():
    """A file of which much is about the question stands before one that mentions it once."""
    assert paths(ranked_files("x", parts("a.py", "b.py", "b.py", "b.py"), {}))[0] == "b.py"


def test_words_of_a_question():
    """Without the words of grammar; names whole and in parts."""
    assert question_words("How does AsyncClient retry?") == ["asyncclient", "async", "client", "retry"]
    assert question_words("LockFileはどこ") == ["lockfile", "lock", "file", "はどこ"]
