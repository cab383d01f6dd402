"""Settings of what may be asked beside the graph: reranker, language model, Professor. Read by `librarian.settings`."""

from dataclasses import dataclass, field

from agents.chat import ChatConfig
from librarian.errors import SettingsError
from librarian.professor.config import ProfessorConfig
from librarian.setting_reader import Reader
from librarian.setting_values import (
    ReasonerChoice,
    flag,
    http_url,
    number,
    reasoner_choice,
    rerank_endpoint,
    seconds,
    whole_number,
)
from retrieval.context import DEFAULT_MAX_CHARS
from retrieval.rerankers.base import RerankerConfig

DEFAULT_LLM_TIMEOUT_S = 60.0
DEFAULT_LLM_MAX_TOKENS = 1024
DEFAULT_LLM_INTENT = "librarian"
DEFAULT_LLM_SWEEP_CALLS = 3
DEFAULT_AGENT_TOKEN_BUDGET = 60_000

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """The reranker, and the share of searches (0..1) that use it; the others show what it changes."""

    enabled: bool = True
    traffic: float = 1.0
    config: RerankerConfig = field(default_factory=RerankerConfig)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """The language model; there is none without `config`, and the other fields mean nothing.

    It gets at most `context_chars` characters of hits, and `timeout_s` for a whole reply, retries included. A sweep
    asks it at most `sweep_calls` times about one memory.
    """

    config: ChatConfig | None = None
    context_chars: int = DEFAULT_MAX_CHARS
    timeout_s: float = DEFAULT_LLM_TIMEOUT_S
    sweep_calls: int = DEFAULT_LLM_SWEEP_CALLS


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The search agent: it asks the Professor, or searches what is kept where `how_to_ask` has no address.

    `token_budget` bounds what the language model reads and writes in one request.
    """

    how_to_ask: ProfessorConfig = field(default_factory=lambda: ProfessorConfig(""))
    reasoner: ReasonerChoice = "auto"
    token_budget: int = DEFAULT_AGENT_TOKEN_BUDGET

    @property
    def professor(self) -> ProfessorConfig | None:
        """The Professor to ask, if there is one."""
        return self.how_to_ask if self.how_to_ask.url else None


def read_reranker(reader: Reader) -> RerankerSettings:
    """The RERANKER_ variables. Raises SettingsError."""
    default = RerankerConfig()
    enabled = reader.read("RERANKER_ENABLED", flag, default=True)
    max_concurrent = reader.read("RERANKER_MAX_CONCURRENT", whole_number(1, 256), default=default.max_concurrent)
    config = RerankerConfig(
        base_url=reader.read("RERANKER_BASE_URL", http_url, default=default.base_url),
        api_key=reader.read("RERANKER_API_KEY", str, default=None, secret=True),
        model=reader.read("RERANKER_MODEL", str, default=default.model),
        instruction=reader.read("RERANKER_INSTRUCTION", str, default=default.instruction),
        timeout_s=reader.read("RERANKER_TIMEOUT", seconds, default=default.timeout_s),
        max_concurrent=max_concurrent,
        # One step of a rerank fills the server, and no deadline waits for more.
        batch_size=max_concurrent,
        oversample=reader.read("RERANKER_OVERSAMPLE", number(1, 100), default=default.oversample),
        endpoint=reader.read("RERANKER_ENDPOINT", rerank_endpoint, default=default.endpoint),
    )
    return RerankerSettings(
        enabled=enabled,
        traffic=reader.read("RERANKER_TRAFFIC", number(0, 1), default=1.0),
        config=config,
    )


def read_llm(reader: Reader) -> LlmSettings:
    """The LLM_ variables. Raises SettingsError."""
    base_url = reader.read("LLM_BASE_URL", http_url, default=None)
    model = reader.read("LLM_MODEL", str, default=None)
    api_key = reader.read("LLM_API_KEY", str, default=None, secret=True)
    intent = reader.read("LLM_INTENT", str, default=DEFAULT_LLM_INTENT)
    timeout_s = reader.read("LLM_TIMEOUT", seconds, default=DEFAULT_LLM_TIMEOUT_S)
    max_tokens = reader.read("LLM_MAX_TOKENS", whole_number(16, 100_000), default=DEFAULT_LLM_MAX_TOKENS)
    context_chars = reader.read("LLM_CONTEXT_CHARS", whole_number(500, 2_000_000), default=DEFAULT_MAX_CHARS)
    sweep_calls = reader.read("LLM_SWEEP_CALLS", whole_number(1, 100), default=DEFAULT_LLM_SWEEP_CALLS)
    if base_url is None:
        return LlmSettings(None, context_chars, timeout_s, sweep_calls)
    if model is None:
        raise SettingsError(
            "LLM_BASE_URL is set without LLM_MODEL.", field="LLM_MODEL", remedy="Name the model, or unset LLM_BASE_URL."
        )
    config = ChatConfig(base_url, model, api_key, intent, timeout_s, max_tokens=max_tokens)
    return LlmSettings(config, context_chars, timeout_s, sweep_calls)


def read_agent(reader: Reader) -> AgentSettings:
    """The LIBRARIAN_AGENT_ and PROFESSOR_ variables. Raises SettingsError."""
    default = AgentSettings()
    return AgentSettings(
        how_to_ask=_professor(reader),
        reasoner=reader.read("LIBRARIAN_AGENT_REASONER", reasoner_choice, default=default.reasoner),
        token_budget=reader.read(
            "LIBRARIAN_AGENT_TOKEN_BUDGET", whole_number(0, 10_000_000), default=default.token_budget
        ),
    )


def _professor(reader: Reader) -> ProfessorConfig:
    default = ProfessorConfig("")
    most_mb = default.max_answer_bytes // _MIB
    return ProfessorConfig(
        reader.read("PROFESSOR_SEARCH_URL", http_url, default=default.url),
        api_key=reader.read("PROFESSOR_API_KEY", str, default=None, secret=True),
        timeout_s=reader.read("PROFESSOR_TIMEOUT", seconds, default=default.timeout_s),
        max_retries=reader.read("PROFESSOR_MAX_RETRIES", whole_number(0, 10), default=default.max_retries),
        max_candidates=reader.read("PROFESSOR_MAX_CANDIDATES", whole_number(1, 1000), default=default.max_candidates),
        max_answer_bytes=reader.read("PROFESSOR_MAX_ANSWER_MB", whole_number(1, 1024), default=most_mb) * _MIB,
    )
