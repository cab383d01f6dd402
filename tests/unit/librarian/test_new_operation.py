"""One row of the table is a whole operation."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from librarian.app import Librarian
from librarian.client import AsyncLibrarianClient
from librarian.operations import OPERATIONS

PROGRAM = Path(__file__).resolve().parents[2] / "data" / "new_operation.py"


def test_a_new_row_is_found_in_every_way(tmp_path, monkeypatch):
    """Over HTTP and in its document, as a tool over HTTP and MCP, in both clients, the facade, and with --remote."""
    monkeypatch.setenv("LIBRARIAN_HOME", str(tmp_path / "home"))
    done = subprocess.run([sys.executable, PROGRAM, tmp_path / "found"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found").read_text())
    ways = found.pop("ways")
    assert [way for way, output in ways.items() if output != {"namespace": "a", "text": "hello"}] == []
    assert len(ways) == 7
    assert found == {"operationId": "repeat", "component": True, "read only": True, "listed": ["repeat"]}


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_a_method_of_the_facade_takes_what_the_client_takes(row):
    """A program may exchange one for the other; only the source of rows differs."""
    if row.name in ("search", "ingest"):
        return
    here = inspect.signature(getattr(Librarian, row.name)).parameters
    there = inspect.signature(getattr(AsyncLibrarianClient, row.name)).parameters
    assert [name for name in there if name not in here] == []
    assert [name for name in here if name not in there and here[name].default is inspect.Parameter.empty] == []


def test_the_table_loads_contracts_alone():
    """A command that asks a service is quick, and a client needs no driver."""
    heavy = ("neo4j", "numpy", "starlette", "httpx", "structlog", "retrieval.pipeline", "librarian.app")
    program = f"import sys, librarian.operations; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
