import pytest
from neo4j import exceptions as driver_errors

from graph.driver_errors import from_driver
from graph.errors import (
    BookmarkNotReached,
    ConstraintViolated,
    DatabaseAuthFailed,
    DatabaseBusy,
    DatabaseCannotWrite,
    DatabaseUnavailable,
    DeletedMeanwhile,
    GraphError,
    ItemBusy,
    LeaseHeld,
    QueryTimeout,
    SchemaMismatch,
    StatementFailed,
    TransactionTooLarge,
)


def server_error(code: str) -> Exception:
    return driver_errors.Neo4jError._hydrate_neo4j(code=code, message="the secret text of a memory")


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (server_error("Neo.ClientError.Security.Unauthorized"), DatabaseAuthFailed),
        (server_error("Neo.ClientError.Schema.ConstraintValidationFailed"), ConstraintViolated),
        (server_error("Neo.TransientError.Transaction.DeadlockDetected"), DatabaseBusy),
        (server_error("Neo.TransientError.General.DatabaseUnavailable"), DatabaseUnavailable),
        (server_error("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"), QueryTimeout),
        (server_error("Neo.TransientError.Transaction.Terminated"), DatabaseBusy),
        (server_error("Neo.ClientError.Schema.IndexNotFound"), SchemaMismatch),
        (server_error("Neo.ClientError.Statement.EntityNotFound"), DeletedMeanwhile),
        (server_error("Neo.DatabaseError.Transaction.TransactionCommitFailed"), DatabaseCannotWrite),
        (server_error("Neo.DatabaseError.Transaction.TransactionStartFailed"), DatabaseCannotWrite),
        (server_error("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase"), DatabaseCannotWrite),
        (server_error("Neo.ClientError.Statement.SyntaxError"), StatementFailed),
        (driver_errors.ServiceUnavailable("down"), DatabaseUnavailable),
        (driver_errors.SessionExpired("gone"), DatabaseUnavailable),
        (driver_errors.IncompleteCommit("unknown"), DatabaseUnavailable),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(getattr(value, "code", value)),
)
def test_driver_errors_become_ours_without_their_texts(error: Exception, ours: type[GraphError]):
    mapped = from_driver(error, "put_messages")
    assert type(mapped) is ours
    assert "secret" not in str(mapped)


@pytest.mark.parametrize(
    ("limit", "ours"),
    [("db.memory.transaction.max", TransactionTooLarge), ("dbms.memory.transaction.total.max", DatabaseBusy)],
)
def test_only_the_limit_of_all_transactions_together_is_worth_another_attempt(limit, ours):
    message = f"The allocation of an extra 2.0 MiB would use more than the limit 128.0 MiB. {limit} threshold reached"
    error = driver_errors.Neo4jError._hydrate_neo4j(
        code="Neo.TransientError.General.MemoryPoolOutOfMemoryError", message=message
    )
    assert type(from_driver(error, "put_chunks")) is ours


def test_every_error_of_the_driver_is_mapped():
    def leaves(base: type[Exception]) -> list[type[Exception]]:
        return [base, *(leaf for child in base.__subclasses__() for leaf in leaves(child))]

    for base in (driver_errors.Neo4jError, driver_errors.DriverError):
        for kind in leaves(base):
            instance = kind.__new__(kind)
            Exception.__init__(instance, "x")
            assert isinstance(from_driver(instance, "s"), GraphError), kind


def test_only_passing_troubles_are_retryable():
    retryable = {kind for kind in GraphError.__subclasses__() if kind.retryable}
    assert retryable == {
        BookmarkNotReached,
        DatabaseBusy,
        DatabaseUnavailable,
        DeletedMeanwhile,
        ItemBusy,
        LeaseHeld,
        QueryTimeout,
    }
