"""Settings of the connection, as values."""

from dataclasses import dataclass, field

from neo4j import Auth, basic_auth

CONNECT_TIMEOUT_S = 5.0
ACQUISITION_TIMEOUT_S = 10.0
# Connections idle for longer are probed before use: NAT boxes and Aura drop idle ones silently.
LIVENESS_CHECK_S = 30.0
RETRY_WINDOW_S = 15.0
QUERY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class GraphConfig:
    """Address of the graph, and time limits in seconds.

    `retry_window_s` bounds the retries of a managed transaction; `query_timeout_s` is the server's limit for each one.
    """

    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None = None
    retry_window_s: float = RETRY_WINDOW_S
    query_timeout_s: float = QUERY_TIMEOUT_S
    max_connections: int = 50

    def auth(self) -> Auth:
        """Return basic authentication for the driver."""
        return basic_auth(self.username, self.password)
