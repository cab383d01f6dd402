"""Captured turns come to the graph, whatever fails on the way."""

import asyncio
import json

import pytest

from librarian.items.capture import turn
from librarian.items.capture.delivery import Delivery, status_of
from librarian.items.contracts import IngestReport, RowError


class Graph:
    """Takes rows, unless it is away; refuses those that say so."""

    def __init__(self):
        self.rows, self.away = [], False

    async def ingest(self, rows, *, namespace):
        report = IngestReport()
        async for number, row in rows:
            if self.away:
                raise ConnectionError("the graph is away")
            if b"refuse me" in row:
                report.errors.append(RowError(line=number, field="$", code="invalid", message="refused"))
            else:
                self.rows.append((namespace, json.loads(row)["text"]))
        return report


@pytest.fixture
def home(tmp_path):
    (tmp_path / "capture" / "sessions").mkdir(parents=True)
    return tmp_path


def keep(home, *texts, namespace="team"):
    turn.append(str(home / "capture"), [{"namespace": namespace, "text": text} for text in texts])


async def test_rows_are_delivered_once_by_namespace(home):
    graph = Graph()
    keep(home, "one", "two")
    keep(home, "three", namespace="other")
    report = await Delivery(home, graph.ingest).deliver()
    assert (report.stored, report.rejected) == (3, 0)
    assert (await Delivery(home, graph.ingest).deliver()).stored == 0
    assert graph.rows == [("team", "one"), ("team", "two"), ("other", "three")]


async def test_rows_wait_while_the_graph_is_away(home):
    graph = Graph()
    graph.away = True
    keep(home, "one")
    with pytest.raises(ConnectionError):
        await Delivery(home, graph.ingest).deliver()
    keep(home, "two")
    assert status_of(home).waiting == 2
    graph.away = False
    await Delivery(home, graph.ingest).deliver()
    assert [text for _, text in graph.rows] == ["one", "two"]
    assert status_of(home).waiting == 0


async def test_what_the_graph_refuses_is_set_aside_and_holds_nothing_up(home):
    graph = Graph()
    keep(home, "refuse me", "one")
    assert (await Delivery(home, graph.ingest).deliver()).rejected == 1
    assert ([text for _, text in graph.rows], status_of(home).rejected) == (["one"], 1)


async def test_a_line_that_a_power_cut_damaged_costs_no_other(home):
    graph = Graph()
    (home / "capture" / "spool.jsonl").write_bytes(b'{"namespace": "team", "te')
    keep(home, "one")
    await Delivery(home, graph.ingest).deliver()
    assert graph.rows == [("team", "one")]


async def test_a_service_delivers_what_comes_and_goes_on_after_a_fault(home, monkeypatch):
    monkeypatch.setattr("librarian.items.capture.delivery._REST_S", 0.01)
    monkeypatch.setattr("librarian.items.capture.delivery._POLL_S", 0.01)
    graph = Graph()
    graph.away = True
    working = asyncio.create_task(Delivery(home, graph.ingest).work())
    keep(home, "one")
    await asyncio.sleep(0.1)
    graph.away = False
    async with asyncio.timeout(5):
        while not graph.rows:
            await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.wait([working])
    assert graph.rows == [("team", "one")]
