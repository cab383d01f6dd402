"""The async driver, opened once per process and closed explicitly."""

from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationDisabledClassification, NotificationMinimumSeverity
from neo4j import exceptions as driver_errors

from graph.config import ACQUISITION_TIMEOUT_S, CONNECT_TIMEOUT_S, LIVENESS_CHECK_S, GraphConfig
from graph.driver_errors import from_driver

USER_AGENT = "librarian"
_DRIVER_ERRORS = (driver_errors.Neo4jError, driver_errors.DriverError)


def open_driver(config: GraphConfig) -> AsyncDriver:
    """Return a driver for `config`, which connects on first use. The caller closes it."""
    return AsyncGraphDatabase.driver(
        config.uri,
        auth=config.auth(),
        connection_timeout=CONNECT_TIMEOUT_S,
        connection_acquisition_timeout=ACQUISITION_TIMEOUT_S,
        liveness_check_timeout=LIVENESS_CHECK_S,
        max_connection_pool_size=config.max_connections,
        max_transaction_retry_time=config.retry_window_s,
        notifications_min_severity=NotificationMinimumSeverity.WARNING,
        # An empty database has none of our labels yet; the statement is not at fault.
        notifications_disabled_classifications=[NotificationDisabledClassification.UNRECOGNIZED],
        telemetry_disabled=True,
        user_agent=USER_AGENT,
    )


async def verify(driver: AsyncDriver) -> None:
    """Raise DatabaseUnavailable or DatabaseAuthFailed unless the server answers and accepts our login."""
    try:
        await driver.verify_connectivity()
        if not await driver.verify_authentication():
            raise driver_errors.AuthError
    except _DRIVER_ERRORS as error:
        raise from_driver(error, "verify") from error


async def reach(driver: AsyncDriver) -> None:
    """Make one round trip without retries. Raises DatabaseUnavailable if nothing answers, DatabaseBusy if all
    connections are in use, or DatabaseAuthFailed.
    """
    try:
        await driver.verify_connectivity()
    except _DRIVER_ERRORS as error:
        raise from_driver(error, "reach") from error
