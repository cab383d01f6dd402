"""The server's configuration, as text: neo4j.conf and the JVM's flags. Pure."""

from dataclasses import dataclass

from graph.local.java import Java

MAIN_CLASS = "org.neo4j.server.Neo4jCommunity"
BROWSER_GUIDE_HOSTS = ("localhost", "127.0.0.1")
"""Hosts from which Neo4j Browser loads guides and styles."""

_HEAP_MB = (512, 2048)
_PAGECACHE_MB = (256, 1024)
# After a kill everything since the last checkpoint is replayed, vectors slowest of all; the default is 15 minutes.
_CHECKPOINTS = {"db.checkpoint.interval.time": "30s", "db.checkpoint.interval.tx": "2000"}
# Each commit adds a segment to a full-text index. The default merges two at a time, so every entry is rewritten often:
# merging took a third of the processor time of indexing files.
_SEGMENTS = {"internal.dbms.index.lucene.merge_factor": "8"}
# Four times the JVM's defaults: its optimising compiler took a third of a start's processor time, mostly for code that
# runs only then. Over the first 1,600 lookups of files the server needs less time too, and ends as fast.
_OPTIMISED_LATER = (
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)
_READ_ONLY = {
    "server.databases.default_to_read_only": "true",
    # LOAD CSV could send data to any address.
    "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
}


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes for the JVM's heap and for the page cache (the graph's own file cache, outside the heap)."""

    heap_mb: int
    pagecache_mb: int


@dataclass(frozen=True, slots=True)
class Ports:
    """Loopback ports of one server."""

    bolt: int
    http: int


def sized_memory(total_mb: int, *, heap_mb: int | None = None, pagecache_mb: int | None = None) -> Memory:
    """Return the memory settings for a machine with `total_mb` megabytes; given values are kept.

    A quarter of the machine goes to the heap (512 MB to 2 GB) and an eighth to the page cache (256 MB to 1 GB): more
    heap only lengthens garbage collection at the sizes a single machine holds, and the vector and full-text indexes are
    read through the operating system's cache, which gets the rest. Neo4j's own defaults would take most of it.
    """
    return Memory(
        heap_mb=_clamp(total_mb // 4, _HEAP_MB) if heap_mb is None else heap_mb,
        pagecache_mb=_clamp(total_mb // 8, _PAGECACHE_MB) if pagecache_mb is None else pagecache_mb,
    )


def render_conf(ports: Ports, memory: Memory, *, read_only: bool = False) -> str:
    """Return the text of neo4j.conf: loopback only, login required, no telemetry, limits that protect the heap.

    A `read_only` server refuses every change of the graph, and its statements cannot fetch anything from elsewhere.
    """
    settings = {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": f":{ports.bolt}",
        "server.bolt.advertised_address": f":{ports.bolt}",
        "server.http.listen_address": f":{ports.http}",
        "server.http.advertised_address": f":{ports.http}",
        "server.https.enabled": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "dbms.usage_report.enabled": "false",
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        "client.allow_telemetry": "false",
        "browser.remote_content_hostname_whitelist": ",".join(BROWSER_GUIDE_HOSTS),
        "db.query.default_language": "CYPHER_25",
        "server.memory.pagecache.size": f"{memory.pagecache_mb}m",
        # Transaction state lives on the heap: a greedy statement fails instead of the server.
        "dbms.memory.transaction.total.max": f"{memory.heap_mb // 2}m",
        "db.memory.transaction.max": f"{memory.heap_mb // 4}m",
        # Both are unlimited by default.
        "db.transaction.timeout": "60s",
        "db.lock.acquisition.timeout": "10s",
        # The default file is 256 MB, allocated at once: too much for a store of a few MB.
        "db.tx_log.rotation.size": "32m",
        "db.tx_log.rotation.retention_policy": "2 days 512M",
        **_CHECKPOINTS,
        **_SEGMENTS,
        # Bolt waits this long twice, after everything is closed, in case of late calls: 5 s by default.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        "server.config.strict_validation.enabled": "true",
    }
    if read_only:
        settings |= _READ_ONLY
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def jvm_flags(java: Java, memory: Memory) -> tuple[str, ...]:
    """Return the JVM flags that Neo4j's own launcher would set, with the heap size and what makes starts cheaper."""
    opened = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
    vector = ("--add-modules=jdk.incubator.vector",) if java.has_vector_module else ()
    return (
        f"-Xms{memory.heap_mb}m",
        f"-Xmx{memory.heap_mb}m",
        "-XX:+UseG1GC",
        "-XX:-OmitStackTraceInFastThrow",
        "-XX:+DisableExplicitGC",
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+TrustFinalNonStaticFields",
        *_OPTIMISED_LATER,
        "-Djdk.nio.maxCachedBufferSize=1024",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dio.netty.leakDetection.level=DISABLED",
        "-Djdk.tls.ephemeralDHKeySize=2048",
        "-Djdk.tls.rejectClientInitiatedRenegotiation=true",
        "-Dfile.encoding=UTF-8",
        "-Dlog4j2.disable.jmx=true",
        "-Dlog4j.layout.jsonTemplate.maxStringLength=32768",
        "-Dorg.neo4j.shaded.lucene9.vectorization.upperJavaFeatureVersion=25",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opened),
        "--enable-native-access=ALL-UNNAMED",
        *vector,
    )


def _clamp(value: int, limits: tuple[int, int]) -> int:
    low, high = limits
    return min(max(value, low), high)
