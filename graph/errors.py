"""Errors of the graph; `graph.driver_errors` maps the driver's to them.

GraphError
├── DatabaseUnavailable   nobody answers, or the server is going down (retryable)
├── DatabaseCannotWrite   its disk is full, or it has stopped itself after a fault
├── DatabaseBusy          deadlocks or memory limits that outlasted the retries (retryable)
├── DeletedMeanwhile      a statement met a node that somebody else was deleting (retryable)
├── ItemBusy              an item that somebody else is changing for longer than one waits (retryable)
├── ItemForgotten         what is to be kept was forgotten on purpose
├── ChangesGone           a cursor of the change feed behind which changes are not kept any more
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


class ItemBusy(GraphError):
    """Somebody else is changing this item, and has been for longer than one waits. Nothing was changed; try again."""

    code = "item_busy"
    retryable = True


class ItemForgotten(GraphError):
    """It was forgotten on purpose and is not kept again. Whoever may decide that lets it come back: `librarian
    forgotten lift UID`.
    """

    code = "item_forgotten"


class ChangesGone(GraphError):
    """What was changed right behind this cursor is not kept any more, or the graph was restored since. Read what there
    is anew (list or export it), then follow from the cursor that `GET /v1/changes` gives without `after`.
    """

    code = "changes_gone"


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
