"""Every saved query of the pack, on the shipped sample after a sweep."""

import pytest
from neo4j import RoutingControl

from librarian.analyst.browser_pack.pack import saved_queries


@pytest.mark.parametrize("query", saved_queries(), ids=lambda query: query.name)
async def test_a_saved_query_reads_and_finds_something(query, executor, shelf):
    """With the parameters that stand above it; the server lets it read only, and finds nothing odd about it."""
    parameters = {**query.parameters, "namespace": shelf}
    found = await executor.driver.execute_query(query.text, parameters, routing_=RoutingControl.READ)
    assert found.records != []
    assert [status for status in found.summary.gql_status_objects if status.is_notification] == []
    assert [row for row in found.records if all(value is None for value in row.values())] == []


async def test_the_live_graph_says_that_it_is_no_copy(executor):
    """In words, without a warning and without a null."""
    (query,) = [query for query in saved_queries() if query.name == "live-or-copy"]
    (row,) = (await executor.driver.execute_query(query.text, routing_=RoutingControl.READ)).records
    assert row.data() == {"this_is": "the live graph", "namespaces": ["all"], "as_of": "now", "age": "none"}


async def test_a_saved_query_shows_nothing_of_another_namespace(executor, shelf, ingest, namespace):
    """Beside the sample stands a namespace with the same uids; no row names it."""
    await ingest(
        {"kind": "memory", "uid": "mem-deploy-failed", "text": "failed deploy of the others"},
        {"kind": "memory", "uid": "mem-chart-cleanup", "text": "their cause"},
        {"kind": "edge", "source": "mem-chart-cleanup", "type": "CAUSES", "target": "mem-deploy-failed"},
        {"kind": "fact", "uid": "fact-pool-size-3", "text": "eight of the others", "person_id": "rui-carvalho"},
        embed=False,
    )
    for query in saved_queries():
        if "namespace" in query.parameters:
            records, _, _ = await executor.driver.execute_query(
                query.cypher, {**query.parameters, "namespace": shelf}, routing_=RoutingControl.READ
            )
            assert namespace not in repr(records), query.name
            assert "the others" not in repr(records), query.name
