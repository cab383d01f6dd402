"""Settings: the only place that reads the environment.

`Settings.from_env` turns variables into frozen values once, at the edge, and records the source of each for
`librarian config show`. Secrets never show in a repr, a message or that table.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import Meta
from platformdirs import user_cache_path, user_data_path

from librarian.base.errors import SettingsError
from librarian.base.fields import DEFAULT_MAX_FACTS
from librarian.base.settings.reader import Entry, Env, Reader
from librarian.base.settings.values import (
    LogFormat,
    LogLevel,
    ProposeFacts,
    Rate,
    ReasonerChoice,
    Seconds,
    Share,
    absolute_paths,
    checked_namespace,
    encoder_name,
    file_text,
    heap_size,
    host_names,
    http_url,
    interval,
    neo4j_uri,
    networks,
    predicates,
    rate,
    secure_url,
    without_userinfo,
)
from librarian_agents.chat.client import ChatConfig
from retrieval.defaults import DEFAULT_FUSION_METHOD, DEFAULT_MAX_CHARS, DEFAULT_MULTI_QUERY_BOOST, FusionMethod
from retrieval.rerankers.base import Endpoint, RerankerConfig

_MIB = 2**20
_RATE_LIMIT = Rate(6000, 60.0)
_RERANKER = RerankerConfig()


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Addresses and limits of the service, and its number of processes (`workers`).

    `request_timeout_s` caps every request's deadline. At most `max_concurrent` requests run and `max_queued` wait;
    at most `max_agents` search agents run beside them. `rate_limit` applies to each API key across all workers.
    Responses to an Idempotency-Key are kept for `idempotency_hours`, the change feed for `changes_hours`; a key may
    have `max_change_streams` open at once. With `tls_cert` and `tls_key` (PEM files) it speaks TLS; otherwise it
    listens beyond loopback only with `allow_insecure_bind`. X-Forwarded headers are trusted from `trusted_proxies`
    (addresses, networks). `allowed_hosts` are names by which MCP clients may reach it.
    """

    host: Annotated[str, Env("LIBRARIAN_HOST")] = "127.0.0.1"
    port: Annotated[int, Env("LIBRARIAN_PORT"), Meta(ge=0, le=65535)] = 8765
    workers: Annotated[int, Env("LIBRARIAN_WORKERS"), Meta(ge=1, le=64)] = 1
    max_body_bytes: Annotated[int, Env("LIBRARIAN_MAX_BODY_MB", unit=_MIB), Meta(ge=1, le=4096)] = 64 * _MIB
    max_batch_rows: Annotated[int, Env("LIBRARIAN_MAX_BATCH_ROWS"), Meta(ge=1, le=1_000_000)] = 10_000
    request_timeout_s: Annotated[Seconds, Env("LIBRARIAN_REQUEST_TIMEOUT_S")] = 30.0
    max_concurrent: Annotated[int, Env("LIBRARIAN_MAX_CONCURRENT"), Meta(ge=1, le=10_000)] = 32
    max_queued: Annotated[int, Env("LIBRARIAN_MAX_QUEUED"), Meta(ge=0, le=100_000)] = 256
    max_agents: Annotated[int, Env("LIBRARIAN_MAX_AGENTS"), Meta(ge=1, le=10_000)] = 256
    rate_limit: Annotated[Rate, Env("LIBRARIAN_RATE_LIMIT"), rate] = _RATE_LIMIT
    max_change_streams: Annotated[int, Env("LIBRARIAN_MAX_CHANGE_STREAMS"), Meta(ge=1, le=1000)] = 8
    changes_hours: Annotated[int, Env("LIBRARIAN_CHANGES_HOURS"), Meta(ge=1, le=8760)] = 168
    idempotency_hours: Annotated[int, Env("LIBRARIAN_IDEMPOTENCY_HOURS"), Meta(ge=1, le=720)] = 24
    allow_insecure_bind: Annotated[bool, Env("LIBRARIAN_ALLOW_INSECURE_BIND")] = False
    tls_cert: Annotated[Path | None, Env("LIBRARIAN_TLS_CERT")] = None
    tls_key: Annotated[Path | None, Env("LIBRARIAN_TLS_KEY")] = None
    trusted_proxies: Annotated[tuple[str, ...], Env("LIBRARIAN_TRUSTED_PROXIES"), networks] = ()
    allowed_hosts: Annotated[tuple[str, ...], Env("LIBRARIAN_ALLOWED_HOSTS"), host_names] = ()

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            missing = "LIBRARIAN_TLS_CERT" if self.tls_cert is None else "LIBRARIAN_TLS_KEY"
            raise SettingsError("TLS needs a certificate and its key.", field=missing, remedy=f"Set {missing} too.")

    def url_at(self, host: str, port: int) -> str:
        """Return the address of the service at a name or IP address."""
        scheme = "http" if self.tls_cert is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


@dataclass(frozen=True, slots=True)
class Neo4jSettings:
    """The graph. Without `uri` Librarian runs a server of its own, and the other fields are ignored.

    `mounted_password` applies where `password` is empty.
    """

    uri: Annotated[str | None, Env("NEO4J_URI"), neo4j_uri] = None
    username: Annotated[str, Env("NEO4J_USERNAME")] = "neo4j"
    password: Annotated[str, Env("NEO4J_PASSWORD")] = field(default="", repr=False)
    mounted_password: Annotated[str, Env("NEO4J_PASSWORD_FILE"), file_text] = field(default="", repr=False)
    database: Annotated[str | None, Env("NEO4J_DATABASE")] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "password", self.password or self.mounted_password)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The managed Neo4j server; None leaves the choice to Librarian."""

    java: Annotated[str | None, Env("LIBRARIAN_JAVA")] = None
    maven_url: Annotated[str | None, Env("LIBRARIAN_MAVEN_URL"), http_url] = None
    heap_mb: Annotated[int | None, Env("LIBRARIAN_HEAP_MB"), heap_size] = None
    pagecache_mb: Annotated[int | None, Env("LIBRARIAN_PAGECACHE_MB"), Meta(ge=8, le=10_000_000)] = None


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """`name` is onnx, none, sentence-transformers:<name or path>, or http:<base url>#<model>."""

    name: Annotated[str, Env("LIBRARIAN_ENCODER"), encoder_name] = "onnx"
    threads: Annotated[int | None, Env("LIBRARIAN_ENCODER_THREADS"), Meta(ge=1, le=1024)] = None
    api_key: Annotated[str | None, Env("LIBRARIAN_ENCODER_API_KEY")] = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Defaults of a search: hits of a tool call, fusion, favour for what several queries find (0..1), whether a
    threshold may adapt at all, and whether neighbours of the best hits in the graph take part.
    """

    max_facts: Annotated[int, Env("LIBRARIAN_MAX_FACTS"), Meta(ge=1, le=50)] = DEFAULT_MAX_FACTS
    fusion_method: Annotated[FusionMethod, Env("DEFAULT_FUSION_METHOD")] = DEFAULT_FUSION_METHOD
    multi_query_boost: Annotated[Share, Env("DEFAULT_MULTI_QUERY_BOOST")] = DEFAULT_MULTI_QUERY_BOOST
    adaptive_threshold: Annotated[bool, Env("ADAPTIVE_THRESHOLD_ENABLED")] = True
    graph_arm: Annotated[bool, Env("LIBRARIAN_GRAPH_ARM")] = False


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """The reranker, and the share of searches (0..1) that use it; the others are the control group."""

    enabled: Annotated[bool, Env("RERANKER_ENABLED")] = True
    base_url: Annotated[str, Env("RERANKER_BASE_URL"), http_url] = _RERANKER.base_url
    api_key: Annotated[str | None, Env("RERANKER_API_KEY")] = field(default=None, repr=False)
    model: Annotated[str, Env("RERANKER_MODEL")] = _RERANKER.model
    instruction: Annotated[str, Env("RERANKER_INSTRUCTION")] = _RERANKER.instruction
    timeout_s: Annotated[Seconds, Env("RERANKER_TIMEOUT")] = _RERANKER.timeout_s
    max_concurrent: Annotated[int, Env("RERANKER_MAX_CONCURRENT"), Meta(ge=1, le=256)] = _RERANKER.max_concurrent
    oversample: Annotated[float, Env("RERANKER_OVERSAMPLE"), Meta(ge=1, le=100)] = _RERANKER.oversample
    endpoint: Annotated[Endpoint, Env("RERANKER_ENDPOINT")] = _RERANKER.endpoint
    traffic: Annotated[Share, Env("RERANKER_TRAFFIC")] = 1.0

    @property
    def config(self) -> RerankerConfig:
        """The configuration of its client. One step of a rerank fills the server: no deadline allows for more."""
        return RerankerConfig(
            base_url=self.base_url,
            api_key=self.api_key,
            model=self.model,
            instruction=self.instruction,
            timeout_s=self.timeout_s,
            max_concurrent=self.max_concurrent,
            batch_size=self.max_concurrent,
            oversample=self.oversample,
            endpoint=self.endpoint,
        )


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model; none without `base_url`, and the other fields are then ignored.

    It gets at most `context_chars` characters of hits, and `timeout_s` for a whole reply, retries included. A sweep
    asks it at most `sweep_calls` times about one memory.
    """

    base_url: Annotated[str | None, Env("LLM_BASE_URL"), http_url] = None
    model: Annotated[str | None, Env("LLM_MODEL")] = None
    api_key: Annotated[str | None, Env("LLM_API_KEY")] = field(default=None, repr=False)
    intent: Annotated[str, Env("LLM_INTENT")] = "librarian"
    timeout_s: Annotated[Seconds, Env("LLM_TIMEOUT")] = 60.0
    max_tokens: Annotated[int, Env("LLM_MAX_TOKENS"), Meta(ge=16, le=100_000)] = 1024
    context_chars: Annotated[int, Env("LLM_CONTEXT_CHARS"), Meta(ge=500, le=2_000_000)] = DEFAULT_MAX_CHARS
    sweep_calls: Annotated[int, Env("LLM_SWEEP_CALLS"), Meta(ge=1, le=100)] = 3

    def __post_init__(self) -> None:
        if self.base_url is not None and self.model is None:
            remedy = "Name the model, or unset LLM_BASE_URL."
            raise SettingsError("LLM_BASE_URL is set without LLM_MODEL.", field="LLM_MODEL", remedy=remedy)

    @property
    def config(self) -> ChatConfig | None:
        """The configuration of the model's client; None without a model."""
        if self.base_url is None or self.model is None:
            return None
        return ChatConfig(
            self.base_url, self.model, self.api_key, self.intent, self.timeout_s, max_tokens=self.max_tokens
        )


@dataclass(frozen=True, slots=True)
class ProfessorConfig:
    """Address and limits of the Professor's search.

    `timeout_s` bounds one attempt of a search, which is repeated up to `max_retries` times when the Professor is busy,
    late or unreachable. Only the first `max_candidates` of each answer are considered; an answer of more than
    `max_answer_bytes` is refused.
    """

    url: Annotated[str, Env("PROFESSOR_SEARCH_URL"), http_url] = ""
    api_key: Annotated[str | None, Env("PROFESSOR_API_KEY")] = field(default=None, repr=False)
    timeout_s: Annotated[Seconds, Env("PROFESSOR_TIMEOUT")] = 10.0
    max_retries: Annotated[int, Env("PROFESSOR_MAX_RETRIES"), Meta(ge=0, le=10)] = 2
    max_candidates: Annotated[int, Env("PROFESSOR_MAX_CANDIDATES"), Meta(ge=1, le=1000)] = 100
    max_answer_bytes: Annotated[int, Env("PROFESSOR_MAX_ANSWER_MB", unit=_MIB), Meta(ge=1, le=1024)] = 8 * _MIB


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The search agent: it asks the Professor, or searches the graph where `how_to_ask` has no address.

    `token_budget` bounds what the language model reads and writes in one request.
    """

    how_to_ask: ProfessorConfig = field(default_factory=ProfessorConfig)
    reasoner: Annotated[ReasonerChoice, Env("LIBRARIAN_AGENT_REASONER")] = "auto"
    token_budget: Annotated[int, Env("LIBRARIAN_AGENT_TOKEN_BUDGET"), Meta(ge=0, le=10_000_000)] = 60_000

    @property
    def professor(self) -> ProfessorConfig | None:
        """The Professor to ask, if there is one."""
        return self.how_to_ask if self.how_to_ask.url else None


@dataclass(frozen=True, slots=True)
class FileSettings:
    """Folders that may be indexed over HTTP, subfolders included; larger files are found by name only."""

    roots: Annotated[tuple[Path, ...], Env("LIBRARIAN_INDEX_ROOTS"), absolute_paths] = ()
    max_bytes: Annotated[int, Env("LIBRARIAN_MAX_FILE_MB", unit=_MIB), Meta(ge=1, le=100)] = 10 * _MIB


@dataclass(frozen=True, slots=True)
class BackupSettings:
    """Scheduled backups: every `every_s` seconds (0: never) into `folder`; the newest `keep` are kept (0: all)."""

    folder: Annotated[Path, Env("LIBRARIAN_BACKUP_DIR", in_home="backups")]
    every_s: Annotated[float, Env("LIBRARIAN_BACKUP_EVERY"), interval] = 0.0
    keep: Annotated[int, Env("LIBRARIAN_BACKUP_KEEP"), Meta(ge=0, le=100_000)] = 7


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Webhooks: their secrets derive from `secret_file`; one that accepts nothing for `hours` is paused; `private`
    also allows non-public addresses and plain http.
    """

    secret_file: Annotated[Path, Env("LIBRARIAN_WEBHOOKS_SECRET_FILE", in_home="webhooks.secret")]
    hours: Annotated[int, Env("LIBRARIAN_WEBHOOKS_HOURS"), Meta(ge=1, le=720)] = 72
    private: Annotated[bool, Env("LIBRARIAN_WEBHOOKS_PRIVATE")] = False


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """Access tokens accepted by MCP over HTTP beside API keys: those of `issuer` (empty: none) for `audience`, the
    address of /mcp as clients know it. The claim `namespaces_claim` lists the namespaces that a token opens.
    """

    issuer: Annotated[str | None, Env("LIBRARIAN_OAUTH_ISSUER"), secure_url] = None
    audience: Annotated[str | None, Env("LIBRARIAN_OAUTH_AUDIENCE"), secure_url] = None
    namespaces_claim: Annotated[str, Env("LIBRARIAN_OAUTH_NAMESPACES_CLAIM")] = "librarian_namespaces"

    def __post_init__(self) -> None:
        if (self.issuer is None) != (self.audience is None):
            missing = "LIBRARIAN_OAUTH_ISSUER" if self.issuer is None else "LIBRARIAN_OAUTH_AUDIENCE"
            raise SettingsError(
                "Access tokens need an issuer and an audience.", field=missing, remedy=f"Set {missing}."
            )


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """The service that clients and the command line use; without `url` the command line opens the graph itself.

    Its certificate must be signed by an authority in the file `ca` (PEM); by default, one that the system trusts.
    """

    url: Annotated[str | None, Env("LIBRARIAN_REMOTE"), http_url] = None
    api_key: Annotated[str | None, Env("LIBRARIAN_API_KEY")] = field(default=None, repr=False)
    allow_insecure: Annotated[bool, Env("LIBRARIAN_ALLOW_INSECURE_REMOTE")] = False
    ca: Annotated[Path | None, Env("LIBRARIAN_REMOTE_CA")] = None

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "RemoteSettings":
        """Read these settings alone, for programs that only talk to a service. Raises SettingsError."""
        return Reader(os.environ if env is None else env).read(cls)


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Traces, sent to the OTLP/HTTP collector at `endpoint`; off without one."""

    endpoint: Annotated[str | None, Env("OTEL_EXPORTER_OTLP_ENDPOINT"), http_url] = None


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Format, level and contents of logs; None: JSON unless on a terminal, level info for `serve`, else warning.

    `texts` allows the texts of memories in logs, `queries` those of searches (hashed otherwise). A database statement
    that takes `slow_query_ms` or longer is logged by name; 0 logs none.
    """

    format: Annotated[LogFormat | None, Env("LIBRARIAN_LOG_FORMAT")] = None
    level: Annotated[LogLevel | None, Env("LIBRARIAN_LOG_LEVEL")] = None
    texts: Annotated[bool, Env("LIBRARIAN_LOG_TEXT")] = False
    queries: Annotated[bool, Env("LIBRARIAN_LOG_QUERIES")] = True
    slow_query_ms: Annotated[int, Env("LIBRARIAN_SLOW_QUERY_MS"), Meta(ge=0, le=86_400_000)] = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. `max_text_chars` bounds every incoming text. For `single_valued` predicates a newer fact supersedes
    the older one of the same subject, for `multi_valued` ones never. `propose_facts` decides whether statements in
    incoming messages become facts. Sweeps let items expire by the rules in `retention`, a JSON array, and purge them
    `purge_after_days` later.
    """

    home: Annotated[Path, Env("LIBRARIAN_HOME")] = field(default_factory=partial(user_data_path, "librarian"))
    cache: Annotated[Path, Env("LIBRARIAN_CACHE")] = field(default_factory=partial(user_cache_path, "librarian"))
    keys_file: Annotated[Path, Env("LIBRARIAN_KEYS_FILE", in_home="keys.json")]
    cookie_secret_file: Annotated[Path, Env("LIBRARIAN_COOKIE_SECRET_FILE", in_home="cookie.secret")]
    backup: BackupSettings
    webhooks: WebhookSettings
    namespace: Annotated[str, Env("LIBRARIAN_NAMESPACE"), checked_namespace] = "default"
    max_text_chars: Annotated[int, Env("LIBRARIAN_MAX_TEXT_CHARS"), Meta(ge=1000, le=1_000_000)] = 1_000_000
    single_valued: Annotated[frozenset[str], Env("LIBRARIAN_SINGLE_VALUED"), predicates] = frozenset()
    multi_valued: Annotated[frozenset[str], Env("LIBRARIAN_MULTI_VALUED"), predicates] = frozenset()
    propose_facts: Annotated[ProposeFacts, Env("LIBRARIAN_PROPOSE_FACTS")] = "off"
    retention: Annotated[str, Env("LIBRARIAN_RETENTION")] = "[]"
    purge_after_days: Annotated[int, Env("LIBRARIAN_PURGE_AFTER_DAYS"), Meta(ge=0, le=36_500)] = 30
    eval_data: Annotated[Path | None, Env("LIBRARIAN_EVAL_DATA")] = None
    http: HttpSettings = HttpSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    server: ServerSettings = ServerSettings()
    encoder: EncoderSettings = EncoderSettings()
    search: SearchSettings = SearchSettings()
    reranker: RerankerSettings = field(default_factory=RerankerSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    files: FileSettings = FileSettings()
    oauth: OAuthSettings = OAuthSettings()
    remote: RemoteSettings = RemoteSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings = TracingSettings()
    entries: tuple[Entry, ...] = field(default=(), repr=False, compare=False)
    warnings: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings of `env` (default: the process's environment); an empty variable counts as unset.

        Raises SettingsError, which names the variable, the fault in its value, and the remedy.
        """
        reader = Reader(os.environ if env is None else env)
        settings = reader.read(cls)
        return replace(settings, entries=tuple(reader.entries), warnings=tuple(reader.unknown()))

    def has_default(self, name: str) -> bool:
        """Return whether the setting `name` has its default."""
        return all(entry.source == "default" for entry in self.entries if entry.name == name)

    def with_address(self, host: str | None, port: int | None) -> "Settings":
        """Return these settings with the command line's host and port, where given."""
        options = {"LIBRARIAN_HOST": host, "LIBRARIAN_PORT": port}
        entries = tuple(
            entry if options.get(entry.name) is None else Entry(entry.name, str(options[entry.name]), "option")
            for entry in self.entries
        )
        http = replace(
            self.http,
            host=self.http.host if host is None else host,
            port=self.http.port if port is None else port,
        )
        return replace(self, http=http, entries=entries)

    def with_remote(self, url: str | None) -> "Settings":
        """Return these settings with the command line's service, where given. Raises SettingsError."""
        if url is None:
            return self
        try:
            remote = replace(self.remote, url=http_url(url))
        except ValueError as error:
            raise SettingsError(f"{without_userinfo(url)!r} cannot be used: {error}.", field="--remote") from None
        return replace(self, remote=remote)

    def without_remote(self) -> "Settings":
        """Return these settings without the service, to work on the graph directly."""
        return replace(self, remote=replace(self.remote, url=None))
