import importlib
import inspect

import pytest

from graph.errors import DatabaseUnavailable, GraphError, StatementFailed
from graph.local.errors import LocalServerError, ServerStartFailed
from librarian.base.errors import ApiError, InvalidInput, LibrarianError, NotReady
from librarian.base.problems import DEFECT_CODE, DEFECT_DETAIL, RULES, message_of, problem_of, retry_after_s, rule_of
from librarian_agents.errors import AgentError
from migrations.errors import MigrationError
from retrieval.encoders.errors import EncoderError
from retrieval.rerankers.errors import RerankerError

TREES = (
    LibrarianError,
    ApiError,
    GraphError,
    LocalServerError,
    MigrationError,
    EncoderError,
    RerankerError,
    AgentError,
)


def walked(error):
    yield error
    for child in error.__subclasses__():
        yield from walked(child)


PUBLIC = [error for tree in TREES for error in walked(tree) if not error.__name__.startswith("_")]


@pytest.mark.parametrize("error", PUBLIC, ids=lambda error: error.__name__)
def test_every_error_of_ours_has_a_row_of_its_own(error):
    assert error in RULES


def test_codes_are_unique_and_equal_those_of_the_classes():
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    assert all(rule.code == error.code for error, rule in RULES.items() if hasattr(error, "code"))


@pytest.mark.parametrize("module", ["librarian.base.errors", "graph.errors", "graph.local.errors", "migrations.errors"])
def test_no_package_has_an_error_outside_its_tree(module):
    loaded = importlib.import_module(module)
    own = [c for _, c in inspect.getmembers(loaded, inspect.isclass) if c.__module__ == module]
    assert all(issubclass(error, TREES) for error in own if issubclass(error, Exception))


def test_what_may_succeed_later_says_when():
    assert all((retry_after_s(error()) or 0) > 0 for error in PUBLIC if getattr(error, "retryable", False))
    assert retry_after_s(NotReady(retry_after_s=7)) == 7
    assert retry_after_s(InvalidInput()) is None


def test_an_unknown_error_tells_nothing_of_itself():
    problem = problem_of(RuntimeError("MATCH (n) password=hunter2"), request_id="r1")
    assert (problem.status, problem.code, problem.request_id) == (500, DEFECT_CODE, "r1")
    assert problem.detail == DEFECT_DETAIL
    assert "hunter2" not in repr(problem)


@pytest.mark.parametrize("error", [StatementFailed("secret"), ServerStartFailed("secret", log_tail="secret line")])
def test_operators_see_messages_that_clients_do_not(error):
    assert "secret" not in repr(problem_of(error))
    assert "secret" in message_of(error)


def test_field_and_remedy_reach_the_client():
    problem = problem_of(InvalidInput("wrong", field="$.limit", remedy="Use 10."))
    assert (problem.status, problem.field, problem.remedy) == (400, "$.limit", "Use 10.")


def test_a_subclass_without_a_row_has_its_base_s():
    class Later(DatabaseUnavailable):
        """Later."""

    assert rule_of(Later()) is RULES[DatabaseUnavailable]
