"""Errors of the graph, and the one place where the driver's errors become ours.

GraphError
├── DatabaseUnavailable   nobody answers, or the server is going down (retryable)
├── DatabaseCannotWrite   its disk is full, or it has stopped itself after a fault
├── DatabaseBusy          deadlocks or memory limits that outlasted the retries (retryable)
├── DeletedMeanwhile      a statement met a node that somebody else was deleting (retryable)
├── LeaseHeld             somebody else is at work where only one may be (retryable)
├── LeaseLost             somebody else has taken over the work
├── InvalidBookmark       a bookmark that the database cannot read
├── BookmarkNotReached    the database does not know the work of a bookmark yet (retryable)
├── QueryTimeout          a statement took longer than it may (retryable)
├── DatabaseAuthFailed    wrong user name or password
├── UnsupportedServer     the server cannot run our statements
├── ConstraintViolated    a uniqueness rule of the graph
├── SchemaMismatch        an index or constraint is missing, failed or other than declared
├── SpaceMismatch         vectors of one embedding space offered to another
├── SpaceIncomplete       a space that lacks vectors was to become the active one
└── StatementFailed       a defect: the statement or its parameters are wrong
"""

from typing import ClassVar

from neo4j import exceptions as driver_errors


class GraphError(Exception):
    """The graph could not do what was asked."""

    code: ClassVar[str] = "graph_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class DatabaseUnavailable(GraphError):
    """The database does not answer; it may be starting or recovering. Try again in a few seconds."""

    code = "database_unavailable"
    retryable = True


class DatabaseCannotWrite(GraphError):
    """The database cannot write; its disk may be full. Make room, restart it (`librarian server stop`, `start`)."""

    code = "database_cannot_write"


class DatabaseBusy(GraphError):
    """The database could not finish the work beside other work. Try again, with smaller batches if it lasts."""

    code = "database_busy"
    retryable = True


class DeletedMeanwhile(GraphError):
    """Something that was to be read or changed was deleted at the same time. Try again."""

    code = "deleted_meanwhile"
    retryable = True


class LeaseHeld(GraphError):
    """Somebody else is at work where only one may be. Try again when they have finished."""

    code = "lease_held"
    retryable = True


class LeaseLost(GraphError):
    """Somebody else has taken over this work, as it was not heard of for too long. Nothing is half done."""

    code = "lease_lost"


class InvalidBookmark(GraphError):
    """The database cannot read this bookmark. Go on without it."""

    code = "invalid_bookmark"


class BookmarkNotReached(GraphError):
    """The database does not know the work of this bookmark yet. Try again; if the database was restored meanwhile, go
    on without the bookmark.
    """

    code = "bookmark_not_reached"
    retryable = True


class QueryTimeout(GraphError):
    """A statement took longer than it may."""

    code = "query_timeout"
    retryable = True


class DatabaseAuthFailed(GraphError):
    """The database refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD."""

    code = "database_auth_failed"


class UnsupportedServer(GraphError):
    """The server cannot run Librarian's statements; Neo4j 2026.06 or newer is needed."""

    code = "unsupported_server"


class ConstraintViolated(GraphError):
    """A uniqueness constraint of the graph refused the write."""

    code = "constraint_violated"


class SchemaMismatch(GraphError):
    """The graph's schema is not the declared one. Run `librarian migrate status`."""

    code = "schema_mismatch"


class SpaceMismatch(GraphError):
    """These vectors belong to another embedding space."""

    code = "space_mismatch"


class SpaceIncomplete(GraphError):
    """Items lack a vector in the space that was to become the active one."""

    code = "space_incomplete"


class StatementFailed(GraphError):
    """A statement failed; this is a defect of Librarian."""

    code = "statement_failed"


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
# Of these their class says it all. The last five are what a commit says that meets a full disk, what every transaction
# says after it until a restart, and what they say where the server knows in time that there is no room.
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
# By an operator, or by a server that stops.
_ENDED_CODES = ("Terminated", "LockClientStopped")
_GOING_DOWN_CODES = ("DatabaseUnavailable", "DatabaseNotFound")


def from_driver(error: Exception, statement: str) -> GraphError:
    """Our error for a driver's one; `statement` is the statement's name. The text of the statement and its parameters
    stay out.
    """
    code = str(getattr(error, "code", None) or "").rpartition(".")[2]
    if code in _TIMEOUT_CODES:
        return QueryTimeout(f"statement {statement!r} was ended by its time limit")
    if code in _ENDED_CODES:
        return DatabaseBusy(f"statement {statement!r} was ended by the server")
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
