"""neo4j.conf, JVM flags and memory sizes are pure functions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.local.conf import Memory, Ports, jvm_flags, render_conf, sized_memory
from graph.local.java import Java
from graph.local.machine import memory_mb

SMALL = Memory(heap_mb=512, pagecache_mb=256)


def settings(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_conf_listens_on_loopback_and_sends_nothing_anywhere():
    conf = settings(render_conf(Ports(bolt=1234, http=5678), SMALL))
    assert conf["server.default_listen_address"] == "127.0.0.1"
    assert conf["server.bolt.listen_address"] == conf["server.bolt.advertised_address"] == ":1234"
    assert conf["server.http.listen_address"] == ":5678"
    assert conf["dbms.security.auth_enabled"] == "true"
    for sender in (
        "dbms.usage_report.enabled",
        "dbms.fleet_manager.enabled",
        "server.fleet_discovery.enabled",
        "client.allow_telemetry",
    ):
        assert conf[sender] == "false"


def test_transactions_may_take_half_the_heap_one_of_them_a_quarter():
    conf = settings(render_conf(Ports(1, 2), SMALL))
    assert conf["dbms.memory.transaction.total.max"] == "256m"
    assert conf["db.memory.transaction.max"] == "128m"


def test_a_read_only_server_differs_by_what_it_refuses_alone():
    ports = Ports(1, 2)
    writable, read_only = (settings(render_conf(ports, SMALL, read_only=entry)) for entry in (False, True))
    assert read_only.items() - writable.items() == {
        ("server.databases.default_to_read_only", "true"),
        ("internal.dbms.cypher_ip_blocklist", "0.0.0.0/0,::/0"),
    }
    assert writable.items() <= read_only.items()


@given(st.integers(min_value=256, max_value=4_000_000))
def test_sized_memory_stays_in_its_limits_and_grows_with_the_machine(total_mb):
    memory = sized_memory(total_mb)
    assert 512 <= memory.heap_mb <= 2048
    assert 256 <= memory.pagecache_mb <= 1024
    larger = sized_memory(total_mb * 2)
    assert larger.heap_mb >= memory.heap_mb
    assert larger.pagecache_mb >= memory.pagecache_mb


def test_given_memory_is_used_as_it_is():
    assert sized_memory(1000, heap_mb=4000) == Memory(heap_mb=4000, pagecache_mb=256)
    assert sized_memory(64_000, pagecache_mb=64) == Memory(heap_mb=2048, pagecache_mb=64)


@pytest.mark.parametrize("has_vector", [True, False])
def test_vector_module_is_asked_for_only_where_it_exists(has_vector):
    flags = jvm_flags(Java(Path("java"), 25, has_vector), SMALL)
    assert ("--add-modules=jdk.incubator.vector" in flags) is has_vector
    assert "-Xmx512m" in flags


def test_a_containers_limit_counts_when_it_is_below_the_machines_memory(tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text(f"{300 * 2**20}\n")
    assert memory_mb(limit) == 300
    limit.write_text("max\n")
    assert memory_mb(limit) == memory_mb(tmp_path / "missing") > 300


def test_little_has_to_be_replayed_after_a_kill():
    """3,000 items with vectors took 14 s to replay, and 2 s since the last of these checkpoints (measured)."""
    conf = render_conf(Ports(bolt=1, http=2), Memory(heap_mb=512, pagecache_mb=256))
    assert "db.checkpoint.interval.time=30s\n" in conf
    assert "db.checkpoint.interval.tx=2000\n" in conf
