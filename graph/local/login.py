"""The server's first answer: readiness, and the change from the first password to the real one."""

import logging
import secrets
from importlib import import_module

from graph.local.errors import ServerStartFailed
from graph.local.home import Home, write_secret
from graph.local.jvm import LOOPBACK, set_first_password
from graph.local.state import Launch

USER = "neo4j"

_CONNECT_TIMEOUT_S = 5.0
_CHANGE = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"

logger = logging.getLogger("librarian.graph")


def prepare_password(home: Home, launch: Launch) -> None:
    """Before the very first start, give the store a temporary password, kept in a file until it is replaced.

    Repeated after a crash for as long as no store exists.
    """
    if home.has_store:
        return
    if not home.first_password_file.exists():
        write_secret(home.first_password_file, secrets.token_hex())
    set_first_password(home, launch, _first_password(home))


def load_driver() -> None:
    """Load the database driver, which takes longer than this process to start; meanwhile the server starts."""
    import_module("neo4j")


class PasswordRefused(ServerStartFailed):
    """Neo4j does not accept the password of its home."""


def answers(home: Home, bolt_port: int) -> bool:
    """Return whether the server answers a query with the home's password, which is set now if it is still the first
    one.

    Raises PasswordRefused if the server expects another password. A starting server may do so for a moment, before it
    has read its users.
    """
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    try:
        if home.first_password_file.exists():
            _replace_first_password(home, bolt_port)
        _run(bolt_port, home.password(), "RETURN 1")
    except AuthError as error:
        raise PasswordRefused(
            f"Neo4j does not accept the password in {home.password_file}. "
            "It was changed in the server: put the right one into that file."
        ) from error
    except (DriverError, Neo4jError) as error:
        logger.debug("not ready yet: %s", type(error).__name__)
        return False
    home.first_password_file.unlink(missing_ok=True)
    return True


def _replace_first_password(home: Home, bolt_port: int) -> None:
    """Change the first password to the real one, and delete it once the server has committed that.

    A stale one must not be retried: refusals lock the account, and after five seconds of that lock the server allows a
    single attempt, which must be with the real password.
    """
    from neo4j.exceptions import AuthError

    first = _first_password(home)
    try:
        _run(bolt_port, first, _CHANGE, database="system", old=first, new=home.password())
    except AuthError:
        logger.info("the first password is refused: replaced by an earlier start, or not read yet")
    else:
        home.first_password_file.unlink(missing_ok=True)


def _run(bolt_port: int, password: str, statement: str, *, database: str | None = None, **values: str) -> None:
    from neo4j import GraphDatabase

    with GraphDatabase.driver(
        f"bolt://{LOOPBACK}:{bolt_port}",
        auth=(USER, password),
        connection_timeout=_CONNECT_TIMEOUT_S,
        max_transaction_retry_time=0,
        telemetry_disabled=True,
    ) as driver:
        driver.execute_query(statement, values, database_=database)


def _first_password(home: Home) -> str:
    return home.first_password_file.read_text(encoding="utf-8").strip()
