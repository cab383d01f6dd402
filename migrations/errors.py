"""Errors of migrations.

MigrationError
├── InvalidMigrationFile   a file of the package violates the format
├── NewerDatabase          the graph was migrated by a newer Librarian
├── EditedMigration        an applied file was edited afterwards
├── MissingMigration       an applied file is missing from the package
├── InterruptedMigration   a migration started, never finished, and is not safe to repeat
├── UnknownMigration       no such version, or nothing to repair about it
├── MigrationFailed        the server refused a statement of a migration
├── MigrationLocked        another process is migrating and does not finish (retryable)
└── LockLost               the lock of a stalled process expired and was taken by another (retryable)
"""

from typing import ClassVar


class MigrationError(Exception):
    """The graph could not be migrated."""

    code: ClassVar[str] = "migration_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class InvalidMigrationFile(MigrationError):
    """A migration file breaks the format; this is a defect of Librarian."""

    code = "migration_invalid"


class NewerDatabase(MigrationError):
    """The graph was migrated by a newer Librarian. Upgrade Librarian, or restore a backup of the graph."""

    code = "database_newer"


class EditedMigration(MigrationError):
    """An applied migration was edited. Restore the file, or accept it with `librarian migrate repair`."""

    code = "migration_edited"


class MissingMigration(MigrationError):
    """An applied migration is missing from this installation. Install Librarian again."""

    code = "migration_missing"


class InterruptedMigration(MigrationError):
    """A migration was interrupted and is not safe to repeat. Complete it by hand, then `librarian migrate repair`."""

    code = "migration_interrupted"


class UnknownMigration(MigrationError):
    """There is nothing to repair under this version. See `librarian migrate status`."""

    code = "migration_unknown"


class MigrationFailed(MigrationError):
    """The server refused a statement of a migration. Remove the cause and run `librarian migrate apply` again."""

    code = "migration_failed"


class MigrationLocked(MigrationError):
    """Another process is migrating this graph. Try again when it has finished."""

    code = "migration_locked"
    retryable = True


class LockLost(MigrationError):
    """The process stalled and another took over the migration. Run `librarian migrate apply` again."""

    code = "migration_lock_lost"
    retryable = True
