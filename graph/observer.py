"""The interface of observers of work on the database."""

from typing import Protocol


class Observer(Protocol):
    """Observes every statement. Called from inside the work, so its methods must be quick and must not raise."""

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """A statement returned `rows` rows; `seconds` includes waiting for a connection, retries and reading rows."""

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """A statement, or a transaction under its own name, failed for good with the code of a GraphError, or
        "cancelled".
        """

    def connections(self, in_use: int) -> None:
        """`in_use` connections are held by work or waited for."""


class Silence:
    """An observer that does nothing."""

    def succeeded(self, statement: str, seconds: float, rows: int) -> None:
        """Do nothing."""

    def failed(self, statement: str, seconds: float, code: str) -> None:
        """Do nothing."""

    def connections(self, in_use: int) -> None:
        """Do nothing."""
