"""Errors of the graph; `graph.driver_errors` maps the driver's to them.

GraphError
├── DatabaseUnavailable   the server does not answer or is going down (retryable)
├── DatabaseCannotWrite   its disk is full, or it has stopped itself after a fault
├── DatabaseBusy          deadlocks or memory limits that outlasted the retries (retryable)
├── TransactionTooLarge   more memory than the database gives one transaction
├── DeletedMeanwhile      a statement met a node that was being deleted (retryable)
├── ItemBusy              someone else has been changing the item for too long (retryable)
├── ItemForgotten         an item to be stored was forgotten on purpose
├── ChangesGone           the change feed no longer holds the changes after a cursor
├── LeaseHeld             another process holds the lease (retryable)
├── LeaseLost             another process has taken over the lease
├── InvalidBookmark       a bookmark that the database cannot read
├── BookmarkNotReached    the database has not seen a bookmark's work yet (retryable)
├── QueryTimeout          a statement exceeded its time limit (retryable)
├── DatabaseAuthFailed    wrong user name or password
├── UnsupportedServer     the server cannot run our statements
├── ConstraintViolated    a uniqueness constraint refused the write
├── SchemaMismatch        an index or constraint is missing, failed or not as declared
├── SpaceMismatch         vectors of one embedding space offered to another
├── SpaceIncomplete       a space that lacks vectors cannot become the active one
└── StatementFailed       a defect: the statement or its parameters are wrong
"""

from typing import ClassVar


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
    """The database could not finish this alongside other work. Try again, with smaller batches if it happens again."""

    code = "database_busy"
    retryable = True


class TransactionTooLarge(GraphError):
    """The database gives one transaction too little memory for this. Send less at once, or restart it with more memory
    (LIBRARIAN_HEAP_MB).
    """

    code = "transaction_too_large"


class DeletedMeanwhile(GraphError):
    """Something that was to be read or changed was deleted at the same time. Try again."""

    code = "deleted_meanwhile"
    retryable = True


class ItemBusy(GraphError):
    """Someone else has been changing this item for too long. Nothing was changed; try again."""

    code = "item_busy"
    retryable = True


class ItemForgotten(GraphError):
    """The item was forgotten on purpose and is not stored again. To allow its return, use `librarian forgotten lift
    UID`.
    """

    code = "item_forgotten"


class ChangesGone(GraphError):
    """The changes after this cursor are no longer kept, or the graph has been restored since. Read the current contents
    (list or export them), then follow from the cursor that `GET /v1/changes` returns without `after`.
    """

    code = "changes_gone"


class LeaseHeld(GraphError):
    """Another process is doing this work, which allows only one. Try again when it has finished."""

    code = "lease_held"
    retryable = True

    def __init__(self, message: str | None = None, holder: str = "") -> None:
        super().__init__(message)
        self.holder = holder


class LeaseLost(GraphError):
    """Another process has taken over this work because its lease was not renewed in time. Nothing is half done."""

    code = "lease_lost"


class InvalidBookmark(GraphError):
    """The database cannot read this bookmark. Continue without it."""

    code = "invalid_bookmark"


class BookmarkNotReached(GraphError):
    """The database has not caught up with this bookmark yet. Try again; if the database was restored meanwhile,
    continue without the bookmark.
    """

    code = "bookmark_not_reached"
    retryable = True


class QueryTimeout(GraphError):
    """A statement exceeded its time limit."""

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
    """Items lack a vector in the space that was to become active."""

    code = "space_incomplete"


class StatementFailed(GraphError):
    """A statement failed; this is a defect of Librarian."""

    code = "statement_failed"
