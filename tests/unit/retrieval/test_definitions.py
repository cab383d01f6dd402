"""Which of several definitions of one name is meant."""

from graph.files import Symbol
from retrieval.definitions import by_meaning

BOUND = Symbol("httpx/_client.py", "aclose", "method", 150, 155, "BoundAsyncStream")
CLIENT = Symbol("httpx/_client.py", "aclose", "method", 1980, 1990, "AsyncClient")
IN_TEST = Symbol("tests/test_client.py", "aclose", "method", 5, 6, "AsyncClient")
SAVE = Symbol("db/base.py", "save", "method", 9, 10, "Model")
FREE = Symbol("storage.py", "save", "function", 3, 4)
LOWER = Symbol("a.py", "agent", "variable", 1, 1)
CLASS = Symbol("deep/down/agents.py", "Agent", "class", 7, 20)


def test_the_qualified_one_comes_first():
    """`AsyncClient.aclose` is not that of BoundAsyncStream, and a source is before a test."""
    found = by_meaning([BOUND, IN_TEST, CLIENT], "aclose", qualifiers=["AsyncClient"])
    assert found == [CLIENT, IN_TEST, BOUND]


def test_a_module_qualifies_too():
    """`storage.save` is the function of that file."""
    assert by_meaning([SAVE, FREE], "save", qualifiers=["storage"])[0] == FREE
    assert by_meaning([SAVE, FREE], "save", qualifiers=["Model"])[0] == SAVE


def test_case_kind_and_role():
    """The very name before another case, the kind that is asked for, sources before tests."""
    assert by_meaning([LOWER, CLASS], "Agent") == [CLASS, LOWER]
    assert by_meaning([SAVE, FREE], "save", kind="function")[0] == FREE
    assert by_meaning([BOUND, IN_TEST], "aclose", roles=())[0] == BOUND
