"""Checks whether a server can run our statements by asking it to plan one, not by its version."""

from cypher.loader import load
from graph.errors import SchemaMismatch, StatementFailed, UnsupportedServer
from graph.executor import Executor


async def check_server(executor: Executor) -> None:
    """Raise UnsupportedServer unless the server plans Cypher 25 with search clauses."""
    try:
        await executor.run_migration(f"EXPLAIN {load()['probe_server'].text}", name="probe_server")
    except SchemaMismatch:
        return  # it read the clauses and missed the index, which does not exist on purpose
    except StatementFailed as error:
        raise UnsupportedServer from error


async def ping(executor: Executor) -> None:
    """One round trip. Raises a GraphError when the database does not answer."""
    await executor.fetch_one("ping")
