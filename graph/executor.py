"""The few verbs through which everything speaks to Neo4j: fetch_all, fetch_one, write, transaction, run_schema.

Statements are named (`cypher/*.cypher`) and values are parameters; no other module sends Cypher. Reads and writes are
managed transactions: retryable errors are repeated by the driver for its retry window, then mapped to `graph.errors`.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import stamina
from neo4j import AsyncDriver, AsyncManagedTransaction, Query, RoutingControl, unit_of_work
from neo4j import exceptions as driver_errors

from cypher.loader import Statement, load
from graph.errors import DatabaseBusy, StatementFailed, from_driver

Row = dict[str, Any]
Params = Mapping[str, Any]
Observe = Callable[[str, float], None]
T = TypeVar("T")
# Two processes that create one index at the same time deadlock on the schema's lock; one of them has to come again.
_SCHEMA_ATTEMPTS = 6
# The server's own limit would end the building of a large constraint.
_NO_TIMEOUT = 0
_DRIVER_ERRORS = (driver_errors.Neo4jError, driver_errors.DriverError)


def _ignore(_statement: str, _seconds: float) -> None:
    """Default observer."""


class Transaction:
    """Named statements inside one open transaction. The function that gets it may run more than once."""

    def __init__(self, executor: "Executor", transaction: AsyncManagedTransaction) -> None:
        self._executor = executor
        self._transaction = transaction

    async def run(self, name: str, params: Params, **template: str | int) -> list[Row]:
        """All rows of statement `name`."""
        statement, text = self._executor.prepare(name, params, template)
        started = time.perf_counter()
        result = await self._transaction.run(text, dict(params))
        rows = [dict(record) async for record in result]
        await result.consume()
        self._executor.observe(statement.name, time.perf_counter() - started)
        return rows


class Executor:
    """Runs named statements on one database. Safe for concurrent tasks: each call has its own session."""

    def __init__(
        self, driver: AsyncDriver, *, database: str | None = None, timeout_s: float = 30.0, observe: Observe = _ignore
    ) -> None:
        self.driver = driver
        self.observe = observe
        self._database = database
        self._timeout_s = timeout_s
        self._statements = load()

    def prepare(self, name: str, params: Params, template: Mapping[str, str | int]) -> tuple[Statement, str]:
        """The statement and its text. Raises StatementFailed for an unknown name or other parameters than its header
        names.
        """
        statement = self._statements.get(name)
        if statement is None:
            raise StatementFailed(f"no statement is named {name!r}")
        if params.keys() != statement.params:
            odd = sorted(params.keys() ^ statement.params)
            raise StatementFailed(f"statement {name!r}: parameters differ from its header: {odd}")
        return statement, statement.render(**template)

    async def fetch_all(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """All rows of a read statement."""
        return await self._query(name, params or {}, template, RoutingControl.READ)

    async def fetch_one(self, name: str, params: Params | None = None, **template: str | int) -> Row | None:
        """The first row of a read statement, or None."""
        rows = await self.fetch_all(name, params, **template)
        return rows[0] if rows else None

    async def write(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """All rows of a write statement, committed."""
        return await self._query(name, params or {}, template, RoutingControl.WRITE)

    async def transaction(self, name: str, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Several statements in one write transaction; `name` names the work in errors. `work` may run more than
        once.
        """

        @unit_of_work(metadata=self._metadata(name), timeout=self._timeout_s)
        async def bounded(transaction: AsyncManagedTransaction) -> T:
            return await work(Transaction(self, transaction))

        try:
            async with self.driver.session(database=self._database) as session:
                return await session.execute_write(bounded)
        except _DRIVER_ERRORS as error:
            raise from_driver(error, name) from error

    @stamina.retry(on=DatabaseBusy, attempts=_SCHEMA_ATTEMPTS)
    async def run_schema(self, name: str, params: Params | None = None, **template: str | int) -> list[Row]:
        """A schema statement (index, constraint): its own auto-committed transaction, as Neo4j demands."""
        _, text = self.prepare(name, params or {}, template)
        return await self.run_migration(text, params, name=name)

    async def run_migration(self, text: str, params: Params | None = None, *, name: str = "migration") -> list[Row]:
        """One statement of a migration file, auto-committed. The only verb that takes text; it comes from our
        package.
        """
        try:
            async with self.driver.session(database=self._database) as session:
                result = await session.run(Query(text, timeout=_NO_TIMEOUT), dict(params or {}))
                rows = [dict(record) async for record in result]
                await result.consume()
                return rows
        except _DRIVER_ERRORS as error:
            raise from_driver(error, name) from error

    async def _query(
        self, name: str, params: Params, template: Mapping[str, str | int], access: RoutingControl
    ) -> list[Row]:
        """One statement in a managed transaction of its own; the driver sends its begin along with it."""
        statement, text = self.prepare(name, params, template)
        query = Query(text, metadata=self._metadata(name), timeout=self._timeout_s)
        started = time.perf_counter()
        try:
            found = await self.driver.execute_query(
                query, dict(params), routing_=access, database_=self._database, bookmark_manager_=None
            )
        except _DRIVER_ERRORS as error:
            raise from_driver(error, name) from error
        self.observe(statement.name, time.perf_counter() - started)
        return [dict(record) for record in found.records]

    @staticmethod
    def _metadata(name: str) -> dict[str, str]:
        """What SHOW TRANSACTIONS tells about a transaction of ours."""
        return {"app": "librarian", "statement": name}
