"""Migrates a graph to the schema that this version of Librarian needs."""

import logging
from collections.abc import AsyncIterator, Callable, Sequence

import stamina

from graph.errors import DatabaseBusy, GraphError, SchemaMismatch
from graph.executor import Executor
from graph.leases import Lease
from graph.schema import differences, wait_until_online
from migrations.errors import LockLost, MigrationFailed, UnknownMigration
from migrations.lock import NAME, LockTimes, held
from migrations.plan import Migration, Plan, Record, Status, discover, plan, statuses

OnProgress = Callable[[Migration], None]
_DEFAULT_TIMES = LockTimes()
_ATTEMPTS = 10

logger = logging.getLogger("librarian.migrations")


def _ignore(_migration: Migration) -> None:
    """Report no progress."""


class Migrator:
    """Migrates one graph. `owner` identifies this process to those who wait for it, such as `host:pid`.

    Several may run at once, in one process or many: one of them works, the others wait and find the work done.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        owner: str,
        app_version: str,
        migrations: Sequence[Migration] | None = None,
        times: LockTimes = _DEFAULT_TIMES,
    ) -> None:
        self._executor = executor
        self._owner = owner
        self._app_version = app_version
        self._migrations = discover() if migrations is None else tuple(migrations)
        self._times = times

    async def status(self) -> list[Status]:
        """Return every migration of the package and of the graph, ordered by version. Writes nothing."""
        return statuses(self._migrations, await self._records())

    async def plan(self) -> Plan:
        """Return what `apply` would do, and what would block it. Writes nothing."""
        return plan(self._migrations, await self._records())

    async def apply(self, on_progress: OnProgress = _ignore) -> list[Migration]:
        """Run the migrations not yet applied and return them; `on_progress` is called before each.

        Raises NewerDatabase, MissingMigration, EditedMigration or InterruptedMigration before anything is changed,
        MigrationFailed or SchemaMismatch because of the graph, MigrationLocked or LockLost because of other processes.
        """
        if not (seen := await self.plan()).runnable:
            seen.require_runnable()
            return []
        await self._bootstrap()
        async with held(self._executor, self._owner, self._times) as lock:
            current = await self.plan()
            current.require_runnable()
            for migration in current.runnable:
                on_progress(migration)
                await self._run(lock, migration)
            return list(current.runnable)

    async def validate(self) -> list[str]:
        """Return the reasons why the graph cannot be served, one line each; empty if none. Writes nothing."""
        return [*(await self.plan()).problems(), *await differences(self._executor)]

    async def repair(self, version: str) -> Migration:
        """Accept the current file of `version`, although it was edited or interrupted.

        An idempotent migration is run again, so that its file's effects are in place (a dropped index comes back). Any
        other is only recorded as applied: somebody has completed it by hand. Raises UnknownMigration for a version that
        has no file or is pending.
        """
        migration = next((migration for migration in self._migrations if migration.version == version), None)
        if migration is None:
            raise UnknownMigration(f"version {version!r} has no file here; see `librarian migrate status`")
        if migration in (await self.plan()).pending:
            raise UnknownMigration(f"version {version} is not applied yet; run `librarian migrate apply`")
        await self._bootstrap()
        async with held(self._executor, self._owner, self._times) as lock:
            if migration.idempotent:
                await self._run(lock, migration)
            else:
                await self._finish(lock, migration)
        return migration

    async def _records(self) -> list[Record]:
        rows = await self._executor.fetch_all("list_migrations")
        return [
            Record(
                version=row["version"],
                name=row["name"],
                kind=row["kind"],
                checksum=row["checksum"],
                status=row["status"],
                finished_at=row["finished_at"].to_native() if row["finished_at"] else None,
            )
            for row in rows
        ]

    async def _bootstrap(self) -> None:
        """Create the two constraints that lock and records rely on, before anybody can hold the lock."""
        for name in ("create_lock_constraint", "create_migration_constraint"):
            async for attempt in _while_busy():
                with attempt:
                    await self._executor.run_schema(name)

    async def _run(self, lock: Lease, migration: Migration) -> None:
        await self._begin(lock, migration)
        for number, statement in enumerate(migration.statements, start=1):
            if lock.lost:
                raise LockLost
            await self._execute(migration, number, statement)
        if migration.kind == "schema":
            await self._require_schema(migration)
        await self._finish(lock, migration)
        logger.info("migration applied", extra={"version": migration.version, "migration": migration.name})

    async def _execute(self, migration: Migration, number: int, statement: str) -> None:
        try:
            # A data statement IN TRANSACTIONS may be partly committed, so only an idempotent one is repeated.
            async for attempt in _while_busy(attempts=_ATTEMPTS if migration.idempotent else 1):
                with attempt:
                    await self._executor.run_migration(statement, name=f"migration {migration.version}")
        except GraphError as error:
            if error.retryable:
                raise
            where = f"{migration.version}_{migration.name}, statement {number} ({_first_line(statement)})"
            raise MigrationFailed(f"{where}: {error}. Remove the cause, then `librarian migrate apply`.") from error

    async def _require_schema(self, migration: Migration) -> None:
        """Require by name what the file creates: IF NOT EXISTS does not report an equal index under another name."""
        await wait_until_online(self._executor)
        if wrong := await differences(self._executor, migration.created):
            raise SchemaMismatch(f"after migration {migration.version}_{migration.name}: {'; '.join(wrong)}")

    async def _begin(self, lock: Lease, migration: Migration) -> None:
        rows = await self._executor.write(
            "begin_migration",
            {
                "lock": NAME,
                "owner": lock.owner,
                "version": migration.version,
                "name": migration.name,
                "kind": migration.kind,
                "checksum": migration.checksum,
                "by": self._owner,
                "app_version": self._app_version,
            },
        )
        _require_row(rows)

    async def _finish(self, lock: Lease, migration: Migration) -> None:
        params = {"lock": NAME, "owner": lock.owner, "version": migration.version, "checksum": migration.checksum}
        _require_row(await self._executor.write("finish_migration", params))


def _while_busy(*, attempts: int = _ATTEMPTS) -> AsyncIterator[stamina.Attempt]:
    """Yield attempts at one schema statement: other schema statements or writers may cause a deadlock (measured)."""
    return aiter(stamina.retry_context(on=DatabaseBusy, attempts=attempts, timeout=60.0, wait_max=5.0))


def _require_row(rows: Sequence[object]) -> None:
    """Raise LockLost unless a row was written: a record is written only while the lock is ours."""
    if not rows:
        raise LockLost


def _first_line(statement: str) -> str:
    return statement.partition("\n")[0][:120]
