"""Maps the driver's errors to ours. A module of its own because the driver is slow to import."""

from neo4j import exceptions as driver_errors

from graph.errors import (
    BookmarkNotReached,
    ConstraintViolated,
    DatabaseAuthFailed,
    DatabaseBusy,
    DatabaseCannotWrite,
    DatabaseUnavailable,
    DeletedMeanwhile,
    GraphError,
    InvalidBookmark,
    QueryTimeout,
    SchemaMismatch,
    StatementFailed,
    TransactionTooLarge,
)

_BY_DRIVER_ERROR: tuple[tuple[type[Exception], type[GraphError]], ...] = (
    (driver_errors.AuthError, DatabaseAuthFailed),
    (driver_errors.ConstraintError, ConstraintViolated),
    (driver_errors.TransientError, DatabaseBusy),
    (driver_errors.DatabaseUnavailable, DatabaseUnavailable),
    (driver_errors.ServiceUnavailable, DatabaseUnavailable),
    (driver_errors.SessionExpired, DatabaseUnavailable),
    (driver_errors.ReadServiceUnavailable, DatabaseUnavailable),
    (driver_errors.WriteServiceUnavailable, DatabaseUnavailable),
    (driver_errors.ConnectionAcquisitionTimeoutError, DatabaseBusy),
    (driver_errors.Neo4jError, StatementFailed),
    (driver_errors.DriverError, StatementFailed),
)
_TIMEOUT_CODES = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "TransactionTerminated")
_MISSING_INDEX_CODES = ("IndexNotFound",)
_DELETED_CODES = ("EntityNotFound",)
# One code for two limits: all transactions together (transient), and one alone, which fails again however often.
_MEMORY_CODE = "MemoryPoolOutOfMemoryError"
_TRANSACTION_LIMIT = "db.memory.transaction.max"
# Codes that need no message of their own. The last five: a commit that meets a full disk, every transaction after it
# until a restart, and those where the server notices in time that there is no room.
_PLAIN_CODES: dict[str, type[GraphError]] = {
    "InvalidBookmark": InvalidBookmark,
    "InvalidBookmarkMixture": InvalidBookmark,
    "BookmarkTimeout": BookmarkNotReached,
    "TransactionCommitFailed": DatabaseCannotWrite,
    "TransactionStartFailed": DatabaseCannotWrite,
    "TransactionLogError": DatabaseCannotWrite,
    "WriteOnReadOnlyAccessDatabase": DatabaseCannotWrite,
    "ForbiddenOnReadOnlyDatabase": DatabaseCannotWrite,
}
# Ended by an operator, or by a server that is stopping.
_ENDED_CODES = ("Terminated", "LockClientStopped")
_GOING_DOWN_CODES = ("DatabaseUnavailable", "DatabaseNotFound")


def from_driver(error: Exception, statement: str) -> GraphError:
    """Return our error for a driver error; `statement` is the statement's name. Its text and parameters stay out."""
    code = str(getattr(error, "code", None) or "").rpartition(".")[2]
    if code in _TIMEOUT_CODES:
        return QueryTimeout(f"statement {statement!r} was ended by its time limit")
    if code in _ENDED_CODES:
        return DatabaseBusy(f"statement {statement!r} was ended by the server")
    if code == _MEMORY_CODE and _TRANSACTION_LIMIT in str(error):
        return TransactionTooLarge()
    if code in _MISSING_INDEX_CODES:
        return SchemaMismatch(f"statement {statement!r} needs an index that is missing; run `librarian migrate status`")
    if code in _DELETED_CODES:
        return DeletedMeanwhile(f"statement {statement!r} met something that was deleted at the same time")
    if code in _PLAIN_CODES:
        return _PLAIN_CODES[code]()
    if code in _GOING_DOWN_CODES:
        return DatabaseUnavailable(f"statement {statement!r}: the database is not available")
    for driver_type, ours in _BY_DRIVER_ERROR:
        if isinstance(error, driver_type):
            return ours(_message(ours, error, statement, code))
    raise TypeError(f"not a driver error: {type(error).__name__}") from error


def _message(ours: type[GraphError], error: Exception, statement: str, code: str) -> str | None:
    if ours is DatabaseAuthFailed or ours is DatabaseUnavailable:
        return None
    return f"statement {statement!r}: {code or type(error).__name__}"
