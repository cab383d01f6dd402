"""Settings: the only place that reads the environment.

`Settings.from_env` turns variables into frozen values once, at the edge; each value remembers where it came from, so
that `librarian config show` can print all of them. Secrets never show in a repr, a message or that table.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from librarian.contracts.semantic import DEFAULT_MAX_FACTS
from librarian.errors import SettingsError
from librarian.setting_assistants import (
    AgentSettings,
    LlmSettings,
    RerankerSettings,
    read_agent,
    read_llm,
    read_reranker,
)
from librarian.setting_reader import Entry, Reader
from librarian.setting_values import (
    LogFormat,
    LogLevel,
    Rate,
    absolute_path,
    absolute_paths,
    encoder_name,
    file_text,
    flag,
    fusion_method,
    http_url,
    interval,
    log_format,
    log_level,
    namespace,
    neo4j_uri,
    networks,
    number,
    rate,
    seconds,
    whole_number,
    without_userinfo,
)
from retrieval.fusion import FusionMethod
from retrieval.types import DEFAULT_FUSION_METHOD, DEFAULT_MULTI_QUERY_BOOST

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
DEFAULT_NAMESPACE = "default"
DEFAULT_MAX_BODY_MB = 64
DEFAULT_MAX_TEXT_CHARS = 1_000_000
DEFAULT_MAX_BATCH_ROWS = 10_000
DEFAULT_REQUEST_TIMEOUT_S = 30.0
DEFAULT_MAX_CONCURRENT = 32
DEFAULT_MAX_QUEUED = 256
DEFAULT_MAX_AGENTS = 256
DEFAULT_RATE_LIMIT = Rate(6000, 60.0)
DEFAULT_IDEMPOTENCY_HOURS = 24
DEFAULT_TRUSTED_PROXIES = ("127.0.0.1", "::1")
DEFAULT_SLOW_QUERY_MS = 500
DEFAULT_MAX_FILE_MB = 10
DEFAULT_BACKUPS_KEPT = 7

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where the service listens and what it accepts.

    `request_timeout_s` caps every request's deadline. At most `max_concurrent` requests run and `max_queued` wait for
    them; beside those at most `max_agents` search agents run. `rate_limit` holds for each API key in this process.
    Answers to an Idempotency-Key live `idempotency_hours`. With `tls_cert` and `tls_key` (PEM files) it speaks TLS;
    otherwise it listens beyond loopback with `allow_insecure_bind` only. What `trusted_proxies` (addresses, networks)
    say in X-Forwarded headers is believed.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    max_body_bytes: int = DEFAULT_MAX_BODY_MB * _MIB
    max_batch_rows: int = DEFAULT_MAX_BATCH_ROWS
    request_timeout_s: float = DEFAULT_REQUEST_TIMEOUT_S
    max_concurrent: int = DEFAULT_MAX_CONCURRENT
    max_queued: int = DEFAULT_MAX_QUEUED
    max_agents: int = DEFAULT_MAX_AGENTS
    rate_limit: Rate = DEFAULT_RATE_LIMIT
    idempotency_hours: int = DEFAULT_IDEMPOTENCY_HOURS
    allow_insecure_bind: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trusted_proxies: tuple[str, ...] = DEFAULT_TRUSTED_PROXIES


@dataclass(frozen=True, slots=True)
class Neo4jSettings:
    """The graph. Without `uri` Librarian runs a server of its own, and the other fields mean nothing."""

    uri: str | None = None
    username: str = "neo4j"
    password: str = field(default="", repr=False)
    database: str | None = None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The managed Neo4j server; None leaves the choice to Librarian."""

    java: str | None = None
    maven_url: str | None = None
    heap_mb: int | None = None
    pagecache_mb: int | None = None


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """`name` is onnx, none, sentence-transformers:<name or path>, or http:<base url>#<model>."""

    name: str = "onnx"
    threads: int | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What searches do where they are not told: hits of a tool call, fusion, favour for what several queries find
    (0..1), whether a threshold may adapt at all, and whether what stands beside the best hits in the graph takes part.
    """

    max_facts: int = DEFAULT_MAX_FACTS
    fusion_method: FusionMethod = DEFAULT_FUSION_METHOD
    multi_query_boost: float = DEFAULT_MULTI_QUERY_BOOST
    adaptive_threshold: bool = True
    graph_arm: bool = False


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Folders that may be indexed over HTTP, with what is below them; larger files are found by name only."""

    roots: tuple[Path, ...] = ()
    max_bytes: int = DEFAULT_MAX_FILE_MB * _MIB


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """Backups that the service makes by itself every `every_s` seconds (0: never) in `folder`; the newest `keep` stay
    (0: all).
    """

    folder: Path
    every_s: float = 0.0
    keep: int = DEFAULT_BACKUPS_KEPT


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """The service that clients and the command line talk to; without `url` the command line opens the graph itself.

    Its certificate must come from an authority of the file `ca` (PEM), by default from one that the system knows.
    """

    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    allow_insecure: bool = False
    ca: Path | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "RemoteSettings":
        """These settings alone, for programs that only talk to a service. Raises SettingsError."""
        return _remote(Reader(os.environ if env is None else env))


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Traces go to the OTLP/HTTP collector at `endpoint`; without one there are none."""

    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How and what to log; None is the default of the command: JSON off a terminal, and info for `serve`, else warning.

    `texts` allows texts of memories in logs, `queries` those of searches (hashed otherwise). A database statement that
    takes `slow_query_ms` or longer is logged by its name; 0 logs none.
    """

    format: LogFormat | None = None
    level: LogLevel | None = None
    texts: bool = False
    queries: bool = True
    slow_query_ms: int = DEFAULT_SLOW_QUERY_MS


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set; `max_text_chars` bounds every single text that comes in, by whatever way."""

    home: Path
    cache: Path
    keys_file: Path
    cookie_secret_file: Path
    backup: BackupSettings
    namespace: str = DEFAULT_NAMESPACE
    max_text_chars: int = DEFAULT_MAX_TEXT_CHARS
    eval_data: Path | None = None
    http: HttpSettings = HttpSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    server: ServerSettings = ServerSettings()
    encoder: EncoderSettings = EncoderSettings()
    search: SearchSettings = SearchSettings()
    reranker: RerankerSettings = field(default_factory=RerankerSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    files: FileSettings = FileSettings()
    remote: RemoteSettings = RemoteSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()
    entries: tuple[Entry, ...] = field(default=(), repr=False, compare=False)
    warnings: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "Settings":
        """Settings of `env` (default: the process's environment); an empty variable counts as unset.

        Raises SettingsError, which names the variable, what is wrong with its value, and the remedy.
        """
        reader = Reader(os.environ if env is None else env)
        home = reader.read("LIBRARIAN_HOME", absolute_path, default=platformdirs.user_data_path("librarian"))
        settings = cls(
            home=home,
            cache=reader.read("LIBRARIAN_CACHE", absolute_path, default=platformdirs.user_cache_path("librarian")),
            keys_file=reader.read("LIBRARIAN_KEYS_FILE", absolute_path, default=home / "keys.json"),
            cookie_secret_file=reader.read(
                "LIBRARIAN_COOKIE_SECRET_FILE", absolute_path, default=home / "cookie.secret"
            ),
            backup=BackupSettings(
                folder=reader.read("LIBRARIAN_BACKUP_DIR", absolute_path, default=home / "backups"),
                every_s=reader.read("LIBRARIAN_BACKUP_EVERY", interval, default=0.0),
                keep=reader.read("LIBRARIAN_BACKUP_KEEP", whole_number(0, 100_000), default=DEFAULT_BACKUPS_KEPT),
            ),
            namespace=reader.read("LIBRARIAN_NAMESPACE", namespace, default=DEFAULT_NAMESPACE),
            max_text_chars=reader.read(
                "LIBRARIAN_MAX_TEXT_CHARS", whole_number(1000, 1_000_000), default=DEFAULT_MAX_TEXT_CHARS
            ),
            eval_data=reader.read("LIBRARIAN_EVAL_DATA", absolute_path, default=None),
            http=_http(reader),
            neo4j=_neo4j(reader),
            server=_server(reader),
            encoder=_encoder(reader),
            search=_search(reader),
            reranker=read_reranker(reader),
            llm=read_llm(reader),
            agent=read_agent(reader),
            files=_files(reader),
            remote=_remote(reader),
            log=_log(reader),
            tracing=TracingSettings(reader.read("OTEL_EXPORTER_OTLP_ENDPOINT", http_url, default=None)),
        )
        return replace(settings, entries=tuple(reader.entries), warnings=tuple(reader.unknown()))

    def has_default(self, name: str) -> bool:
        """Whether the setting `name` was left alone."""
        return all(entry.source == "default" for entry in self.entries if entry.name == name)

    def with_address(self, host: str | None, port: int | None) -> "Settings":
        """These settings with the command line's host and port, where given."""
        given = {"LIBRARIAN_HOST": host, "LIBRARIAN_PORT": port}
        entries = tuple(
            entry if given.get(entry.name) is None else Entry(entry.name, str(given[entry.name]), "option")
            for entry in self.entries
        )
        http = replace(
            self.http,
            host=self.http.host if host is None else host,
            port=self.http.port if port is None else port,
        )
        return replace(self, http=http, entries=entries)

    def with_remote(self, url: str | None) -> "Settings":
        """These settings with the command line's service, where given. Raises SettingsError."""
        if url is None:
            return self
        try:
            remote = replace(self.remote, url=http_url(url))
        except ValueError as error:
            raise SettingsError(f"{without_userinfo(url)!r} cannot be used: {error}.", field="--remote") from None
        return replace(self, remote=remote)


def _http(reader: Reader) -> HttpSettings:
    tls_cert = reader.read("LIBRARIAN_TLS_CERT", absolute_path, default=None)
    tls_key = reader.read("LIBRARIAN_TLS_KEY", absolute_path, default=None)
    if (tls_cert is None) != (tls_key is None):
        missing = "LIBRARIAN_TLS_CERT" if tls_cert is None else "LIBRARIAN_TLS_KEY"
        raise SettingsError("TLS needs a certificate and its key.", field=missing, remedy=f"Set {missing} too.")
    return HttpSettings(
        host=reader.read("LIBRARIAN_HOST", str, default=DEFAULT_HOST),
        port=reader.read("LIBRARIAN_PORT", whole_number(0, 65535), default=DEFAULT_PORT),
        max_body_bytes=reader.read("LIBRARIAN_MAX_BODY_MB", whole_number(1, 4096), default=DEFAULT_MAX_BODY_MB) * _MIB,
        max_batch_rows=reader.read(
            "LIBRARIAN_MAX_BATCH_ROWS", whole_number(1, 1_000_000), default=DEFAULT_MAX_BATCH_ROWS
        ),
        request_timeout_s=reader.read("LIBRARIAN_REQUEST_TIMEOUT_S", seconds, default=DEFAULT_REQUEST_TIMEOUT_S),
        max_concurrent=reader.read("LIBRARIAN_MAX_CONCURRENT", whole_number(1, 10_000), default=DEFAULT_MAX_CONCURRENT),
        max_queued=reader.read("LIBRARIAN_MAX_QUEUED", whole_number(0, 100_000), default=DEFAULT_MAX_QUEUED),
        max_agents=reader.read("LIBRARIAN_MAX_AGENTS", whole_number(1, 10_000), default=DEFAULT_MAX_AGENTS),
        rate_limit=reader.read("LIBRARIAN_RATE_LIMIT", rate, default=DEFAULT_RATE_LIMIT),
        idempotency_hours=reader.read(
            "LIBRARIAN_IDEMPOTENCY_HOURS", whole_number(1, 720), default=DEFAULT_IDEMPOTENCY_HOURS
        ),
        allow_insecure_bind=reader.read("LIBRARIAN_ALLOW_INSECURE_BIND", flag, default=False),
        tls_cert=tls_cert,
        tls_key=tls_key,
        trusted_proxies=reader.read("LIBRARIAN_TRUSTED_PROXIES", networks, default=DEFAULT_TRUSTED_PROXIES),
    )


def _neo4j(reader: Reader) -> Neo4jSettings:
    from_file = reader.read("NEO4J_PASSWORD_FILE", file_text, default="", secret=True)
    return Neo4jSettings(
        uri=reader.read("NEO4J_URI", neo4j_uri, default=None),
        username=reader.read("NEO4J_USERNAME", str, default="neo4j"),
        password=reader.read("NEO4J_PASSWORD", str, default=from_file, secret=True),
        database=reader.read("NEO4J_DATABASE", str, default=None),
    )


def _server(reader: Reader) -> ServerSettings:
    return ServerSettings(
        java=reader.read("LIBRARIAN_JAVA", str, default=None),
        maven_url=reader.read("LIBRARIAN_MAVEN_URL", http_url, default=None),
        heap_mb=reader.read("LIBRARIAN_HEAP_MB", whole_number(128, 1_000_000), default=None),
        pagecache_mb=reader.read("LIBRARIAN_PAGECACHE_MB", whole_number(8, 10_000_000), default=None),
    )


def _encoder(reader: Reader) -> EncoderSettings:
    return EncoderSettings(
        name=reader.read("LIBRARIAN_ENCODER", encoder_name, default="onnx"),
        threads=reader.read("LIBRARIAN_ENCODER_THREADS", whole_number(1, 1024), default=None),
        api_key=reader.read("LIBRARIAN_ENCODER_API_KEY", str, default=None, secret=True),
    )


def _search(reader: Reader) -> SearchSettings:
    return SearchSettings(
        max_facts=reader.read("LIBRARIAN_MAX_FACTS", whole_number(1, 50), default=DEFAULT_MAX_FACTS),
        fusion_method=reader.read("DEFAULT_FUSION_METHOD", fusion_method, default=DEFAULT_FUSION_METHOD),
        multi_query_boost=reader.read("DEFAULT_MULTI_QUERY_BOOST", number(0, 1), default=DEFAULT_MULTI_QUERY_BOOST),
        adaptive_threshold=reader.read("ADAPTIVE_THRESHOLD_ENABLED", flag, default=True),
        graph_arm=reader.read("LIBRARIAN_GRAPH_ARM", flag, default=False),
    )


def _files(reader: Reader) -> FileSettings:
    return FileSettings(
        roots=reader.read("LIBRARIAN_INDEX_ROOTS", absolute_paths, default=()),
        max_bytes=reader.read("LIBRARIAN_MAX_FILE_MB", whole_number(1, 100), default=DEFAULT_MAX_FILE_MB) * _MIB,
    )


def _remote(reader: Reader) -> RemoteSettings:
    return RemoteSettings(
        url=reader.read("LIBRARIAN_REMOTE", http_url, default=None),
        api_key=reader.read("LIBRARIAN_API_KEY", str, default=None, secret=True),
        allow_insecure=reader.read("LIBRARIAN_ALLOW_INSECURE_REMOTE", flag, default=False),
        ca=reader.read("LIBRARIAN_REMOTE_CA", absolute_path, default=None),
    )


def _log(reader: Reader) -> LogSettings:
    return LogSettings(
        format=reader.read("LIBRARIAN_LOG_FORMAT", log_format, default=None),
        level=reader.read("LIBRARIAN_LOG_LEVEL", log_level, default=None),
        texts=reader.read("LIBRARIAN_LOG_TEXT", flag, default=False),
        queries=reader.read("LIBRARIAN_LOG_QUERIES", flag, default=True),
        slow_query_ms=reader.read(
            "LIBRARIAN_SLOW_QUERY_MS", whole_number(0, 86_400_000), default=DEFAULT_SLOW_QUERY_MS
        ),
    )
