"""The only access to Neo4j, through a few verbs: fetch_all, fetch_one, write, transaction, run_schema.

Statements are named (`cypher/*.cypher`) and values are parameters; no other module sends Cypher. Reads and writes are
managed transactions: the driver retries retryable errors within its retry window, then they are mapped to
`graph.errors`.

Cancelling a task ends its statement: the driver drops the connection and the server rolls back what ran on it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import stamina
from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession, Query, RoutingControl, unit_of_work
from neo4j import exceptions as driver_errors

from cypher.loader import Statement, load
from graph import bookmarks
from graph.changes import encoded_changes
from graph.driver_errors import from_driver
from graph.errors import (
    BookmarkNotReached,
    DatabaseBusy,
    DatabaseUnavailable,
    DeletedMeanwhile,
    InvalidBookmark,
    QueryTimeout,
    StatementFailed,
    TransactionTooLarge,
)
from graph.observer import Observer, Silence
from graph.types import Change

Row = dict[str, Any]
Params = Mapping[str, Any]
T = TypeVar("T")
# Two processes that create the same index at once deadlock on the schema lock; one of them has to retry.
_SCHEMA_ATTEMPTS = 6
# A statement that waited for a lock may find its node deleted; the next attempt no longer sees it.
_RACE_ATTEMPTS = 4
# The server's own limit would abort the creation of a large constraint.
_NO_TIMEOUT = 0
_DRIVER_ERRORS = (driver_errors.Neo4jError, driver_errors.DriverError)

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the work of this context must end, by the running loop's clock; None: no limit. The server gets no more time for
a statement than is left, so that it never works for a caller who has gone.
"""


class Transaction:
    """Named statements inside one open transaction. The function that receives it may run more than once."""

    def __init__(self, executor: "Executor", transaction: AsyncManagedTransaction) -> None:
        self._executor = executor
        self._transaction = transaction
        self._changes: dict[str, list[Change]] = {}

    def changed(self, namespace: str, changes: Iterable[Change]) -> None:
        """Add `changes` to the namespace's change feed if the transaction is committed."""
        self._changes.setdefault(namespace, []).extend(changes)

    async def number_changes(self) -> None:
        """Number the changes: last of all, since that blocks all other writers of the namespace until the commit."""
        for namespace, changes in sorted(self._changes.items()):
            if rows := encoded_changes(changes):
                await self.run("record_changes", {"namespace": namespace, "changes": rows})

    async def run(self, name: str, params: Params, **template: str | int) -> list[Row]:
        """Return all rows of statement `name`."""
        statement, text = self._executor.prepare(name, params, template)
        started = time.perf_counter()
        try:
            result = await self._transaction.run(text, given=dict(params))
            rows = [dict(record) async for record in result]
            await result.consume()
        except driver_errors.TransientError as error:
            ours = from_driver(error, name)
            if isinstance(ours, TransactionTooLarge):  # the driver would retry its own error
                raise ours from error
            raise
        self._executor.observer.succeeded(statement.name, time.perf_counter() - started, len(rows))
        return rows


@dataclass(slots=True)
class _Link:
    """A driver and the number of tasks that use it."""

    driver: AsyncDriver
    users: int = 0


class Executor:
    """Runs named statements on one database. Safe for concurrent tasks: each call has its own session.

    It owns its driver: `aclose` closes it.
    """

    def __init__(
        self,
        driver: AsyncDriver,
        *,
        database: str | None = None,
        timeout_s: float = 30.0,
        observer: Observer | None = None,
        statements: Mapping[str, Statement] | None = None,
    ) -> None:
        self.observer = observer or Silence()
        self._link = _Link(driver)
        self._causality = bookmarks.Causality()
        self._in_use = 0
        self._in_flight: set[asyncio.Timeout] = set()
        self._database = database
        self._timeout_s = timeout_s
        self._statements = load() if statements is None else statements

    @property
    def driver(self) -> AsyncDriver:
        """The driver for new work."""
        return self._link.driver

    async def reconnect(self, driver: AsyncDriver) -> None:
        """Give new work to `driver`; the previous one is closed when the work begun on it has ended."""
        old, self._link = self._link, _Link(driver)
        self.forget_bookmarks()
        if not old.users:
            await old.driver.close()

    def forget_bookmarks(self) -> None:
        """Stop waiting for earlier work: the database may have been restored since."""
        self._causality.forget()

    def give_up(self) -> None:
        """End the work in flight with DatabaseUnavailable: the database will not be started again for it."""
        now = asyncio.get_running_loop().time()
        for waiting in self._in_flight:
            waiting.reschedule(now)

    async def aclose(self) -> None:
        """Close the driver; nothing can run afterwards."""
        await self._link.driver.close()

    def prepare(self, name: str, params: Params, template: Mapping[str, str | int]) -> tuple[Statement, str]:
        """Return the statement and its text. Raises StatementFailed for an unknown name, or parameters other than its
        header names.
        """
        statement = self._statements.get(name)
        if statement is None:
            raise StatementFailed(f"no statement is named {name!r}")
        if params.keys() != statement.params:
            odd = sorted(params.keys() ^ statement.params)
            raise StatementFailed(f"statement {name!r}: parameters differ from its header: {odd}")
        return statement, statement.render(**template)

    async def fetch_all(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """Return all rows of a read statement."""
        return await self._query(name, params or {}, template, RoutingControl.READ)

    async def fetch_one(self, name: str, params: Params | None = None, **template: str | int) -> Row | None:
        """Return the first row of a read statement, or None."""
        rows = await self.fetch_all(name, params, **template)
        return rows[0] if rows else None

    async def fetch_list(self, name: str, params: Params | None = None, **template: str | int) -> list[Any]:
        """Return the list `found` of a read statement that returns everything in one row: the driver takes 50 us per
        row, however small (60 rows of 4 values: 4 ms apart, .7 ms as a list).
        """
        (row,) = await self.fetch_all(name, params, **template)
        found: list[Any] = row["found"]
        return found

    async def write(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """Return all rows of a write statement, committed."""
        return await self._query(name, params or {}, template, RoutingControl.WRITE)

    @stamina.retry(on=DeletedMeanwhile, attempts=_RACE_ATTEMPTS)
    async def transaction(self, name: str, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run several statements in one write transaction, which errors call `name`. `work` may run more than once."""

        @unit_of_work(metadata=self._metadata(name), timeout=self._time_left(name))
        async def bounded(transaction: AsyncManagedTransaction) -> T:
            ours = Transaction(self, transaction)
            done = await work(ours)
            await ours.number_changes()
            return done

        async with self._session(name) as session:
            done = await session.execute_write(bounded)
        bookmarks.wrote()
        return done

    @stamina.retry(on=DatabaseBusy, attempts=_SCHEMA_ATTEMPTS)
    async def run_schema(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """Run a schema statement (index, constraint) in its own auto-commit transaction, as Neo4j requires."""
        _, text = self.prepare(name, params or {}, template)
        return await self.run_migration(text, {"given": dict(params or {})}, name=name)

    async def run_migration(self, text: str, params: Params | None = None, *, name: str = "migration") -> list[Row]:
        """Run one statement of a migration file, auto-committed. The only verb that takes text; it comes from our
        package.
        """
        async with self._session(name) as session:
            result = await session.run(Query(text, timeout=_NO_TIMEOUT), dict(params or {}))
            rows = [dict(record) async for record in result]
            await result.consume()
            return rows

    @stamina.retry(on=DeletedMeanwhile, attempts=_RACE_ATTEMPTS)
    async def _query(
        self, name: str, params: Params, template: Mapping[str, str | int], access: RoutingControl
    ) -> list[Row]:
        """Run one statement in a managed transaction of its own; the driver sends its BEGIN along with it."""
        statement, text = self.prepare(name, params, template)
        query = Query(text, metadata=self._metadata(name), timeout=self._time_left(name))
        started = time.perf_counter()
        async with self._connection(name) as driver:
            found = await driver.execute_query(
                query, given=dict(params), routing_=access, database_=self._database, bookmark_manager_=self._causality
            )
        if access is RoutingControl.WRITE:
            bookmarks.wrote()
        self.observer.succeeded(statement.name, time.perf_counter() - started, len(found.records))
        return [dict(record) for record in found.records]

    @asynccontextmanager
    async def _session(self, name: str) -> AsyncIterator[AsyncSession]:
        async with (
            self._connection(name) as driver,
            driver.session(database=self._database, bookmark_manager=self._causality) as session,
        ):
            yield session

    @asynccontextmanager
    async def _connection(self, name: str) -> AsyncIterator[AsyncDriver]:
        """Yield the driver to one task, which is counted; failures become GraphErrors and reach the observer."""
        started = time.perf_counter()
        link = self._link
        self._count(link, +1)
        try:
            async with self._until_given_up():
                yield link.driver
        except _DRIVER_ERRORS as error:
            ours = from_driver(error, name)
            if isinstance(ours, InvalidBookmark | BookmarkNotReached):
                self.forget_bookmarks()
            self.observer.failed(name, time.perf_counter() - started, ours.code)
            raise ours from error
        except (DatabaseUnavailable, TransactionTooLarge) as error:
            self.observer.failed(name, time.perf_counter() - started, error.code)
            raise
        except asyncio.CancelledError:
            self.observer.failed(name, time.perf_counter() - started, "cancelled")
            raise
        finally:
            self._count(link, -1)
            if link is not self._link and not link.users:
                await link.driver.close()

    @asynccontextmanager
    async def _until_given_up(self) -> AsyncIterator[None]:
        waiting = asyncio.timeout(None)
        try:
            async with waiting:
                self._in_flight.add(waiting)
                yield
        except TimeoutError:
            if waiting.expired():
                raise DatabaseUnavailable from None
            raise
        finally:
            self._in_flight.discard(waiting)

    def _count(self, link: _Link, change: int) -> None:
        link.users += change
        self._in_use += change
        self.observer.connections(self._in_use)

    def _time_left(self, name: str) -> float:
        """Return the seconds that a statement may take. Raises QueryTimeout past the deadline: the server reads a limit
        of zero as none.
        """
        ends_at = deadline.get()
        if ends_at is None:
            return self._timeout_s
        left = ends_at - asyncio.get_running_loop().time()
        if left <= 0:
            raise QueryTimeout(f"statement {name!r} was not started: the time was up")
        return min(self._timeout_s, left)

    @staticmethod
    def _metadata(name: str) -> dict[str, str]:
        """Return the metadata that SHOW TRANSACTIONS lists for our transactions."""
        return {"app": "librarian", "statement": name}
