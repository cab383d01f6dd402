"""Every saved query of the pack on the sample as it is shipped, and what its sweep has found."""

import pytest
from neo4j import RoutingControl

from librarian.analyst.browser_pack.pack import saved_queries
from librarian.items.contracts import EdgeQuery
from librarian.sweep.contracts import ReviewQuery, SweepQuery
from librarian.sweep.sample import decisions

# Read by people: each of these causes is stated by one of the two texts.
TRUE = {
    ("mem-chart-cleanup", "mem-chart-snapshots"),
    ("mem-cutoff-wrong", "mem-cutoff-stopgap"),
    ("mem-flag-removed", "mem-tax-one-line"),
    ("mem-n-plus-one", "mem-query-budget"),
    ("mem-nordwind-escalation", "mem-credit-limit"),
    ("mem-rounding-per-line", "mem-tax-golden"),
}


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


async def test_what_the_sweep_of_the_sample_accepts_is_true_and_a_part_is_decided(librarian, shelf):
    """Typed edges that count without anybody having looked are true ones; people have decided about some, and others
    wait; a second start sweeps nothing.
    """
    accepted = (await librarian.list_edges(shelf, EdgeQuery(states=["accepted"], limit=500))).edges
    drawn = {(edge.source, edge.target) for edge in accepted if edge.method == "rule" and edge.type == "CAUSES"}
    assert drawn <= TRUE
    assert len(drawn) >= 4
    assert {edge.type for edge in accepted if edge.method == "rule" and not edge.reviewed_by} <= {
        "CAUSES",
        "RELATES_TO",
    }
    decided = (await librarian.list_reviews(shelf, ReviewQuery(states=["accepted", "rejected"], limit=500))).reviews
    assert len(decided) >= len(decisions()) / 2
    assert {review.state for review in decided} == {"accepted", "rejected"}
    assert (await librarian.list_reviews(shelf, ReviewQuery())).reviews
    assert not await librarian.sweep_sample()
    assert len((await librarian.list_sweeps(shelf, SweepQuery())).sweeps) == 1
