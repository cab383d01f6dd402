"""Who hears of the work on the database."""

from typing import Protocol


class Observer(Protocol):
    """Hears of every statement. Called from inside the work, so its methods must be quick and must not raise."""

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """A statement gave `rows` rows; the time includes waiting for a connection, retries and reading the rows."""

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """A statement, or a transaction under its own name, failed for good with the code of a GraphError; "cancelled"
        when nobody wanted its answer any more.
        """

    def connections(self, in_use: int) -> None:
        """So many connections are held by work or waited for."""


class Silence:
    """An observer that tells nobody."""

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """Nothing."""

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """Nothing."""

    def connections(self, in_use: int) -> None:
        """Nothing."""
