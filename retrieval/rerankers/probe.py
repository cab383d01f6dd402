"""Examines a reranker before it is trusted: how to query it, and whether its scores mean anything."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from retrieval.rerankers import parse, prompt
from retrieval.rerankers.base import Reranker, RerankerConfig, Score
from retrieval.rerankers.errors import InvalidScores
from retrieval.rerankers.parse import Answer
from retrieval.rerankers.protocol import Call, Setup, Talk, Way, chat_call, conversation, rerank_call

AGREEMENT = 0.02
"""Largest distance of /v1/rerank from the chat score of the same pair: over twice the noise of a warm cache."""

MIN_GAP = 0.1
CONSTANT = 1e-6

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0

# The instruction that converters write into a model's file for /v1/rerank.
_FIXED_INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"
# Query and document alone, without the prompt around them, would be a small part of it.
_WHOLE_PROMPT = 0.8
_ABSENT = (404, 405)
_MARKERS = ("instruction-7c1e", "query-52ab", "document-e90d")
_FINGERPRINT_CHARS = 16


@dataclass(frozen=True, slots=True)
class KnownPair:
    """A query with a text that answers it and one that does not."""

    query: str
    relevant: str
    irrelevant: str


KNOWN_PAIRS = (
    KnownPair(
        "What is the capital of France?",
        "Paris is the capital and the largest city of France.",
        "Bananas ripen faster when they are kept in a paper bag.",
    ),
    KnownPair(
        "Which database does the billing service use?",
        "The billing service stores its invoices in PostgreSQL.",
        "The picnic was moved to Saturday because of the rain.",
    ),
)
_AGREEMENT_PAIR = KNOWN_PAIRS[0]


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """Requirements on a reranker: each relevant text scores at least `min_gap` above the irrelevant one of its pair."""

    pairs: Sequence[KnownPair] = KNOWN_PAIRS
    min_gap: float = MIN_GAP


DEFAULT_RULES = ProbeRules()


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The lowest score of a relevant text, the highest of an irrelevant one, and the seconds the probe took."""

    relevant: float
    irrelevant: float
    seconds: float


async def examine(reranker: Reranker, rules: ProbeRules = DEFAULT_RULES) -> ProbeReport:
    """Score known pairs. Raises InvalidScores, which says what is wrong with the scores, or another RerankerError."""
    started = time.perf_counter()
    relevant, irrelevant = [], []
    for pair in rules.pairs:
        good, bad = await reranker.score_pairs(pair.query, [pair.relevant, pair.irrelevant])
        relevant.append(good)
        irrelevant.append(bad)
    if (fault := scores_fault(relevant, irrelevant, rules.min_gap)) is not None:
        raise InvalidScores(fault)
    return ProbeReport(
        min(score.value for score in relevant), max(score.value for score in irrelevant), time.perf_counter() - started
    )


def scores_fault(relevant: Sequence[Score], irrelevant: Sequence[Score], min_gap: float) -> str | None:
    """Return the fault of the scores of known pairs, or None."""
    scores = [*relevant, *irrelevant]
    if not all(score.certain for score in scores):
        return "the model answers known pairs without a probability of yes and no: it is no reranker of this kind"
    values = [score.value for score in scores]
    if max(values) - min(values) <= CONSTANT:
        return f"the reranker gives known pairs one constant score ({values[0]:.3f})"
    for good, bad in zip(relevant, irrelevant, strict=True):
        if good.value - bad.value < min_gap:
            return (
                f"the reranker gives a relevant text {good.value:.3f} and an irrelevant one {bad.value:.3f}; "
                f"at least {min_gap:g} should lie between them"
            )
    return None


def pause_s(attempt: int, error: Exception | None = None) -> float:
    """Return the seconds to wait after attempt number `attempt` (from 1) has failed by `error`: doubled each time up to
    five minutes, unless the server says for how long, as it does while it loads.
    """
    requested = getattr(error, "retry_after_s", None)
    backoff = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(attempt - 1, 20))
    return backoff if requested is None else min(float(requested), LONGEST_PAUSE_S)


def discover(config: RerankerConfig) -> Talk[Setup]:
    """Return how to query the server: by chat if its template writes the official prompt, else by the raw prompt.

    A server without /apply-template is queried by chat. /v1/rerank is used only if configured and in agreement with
    chat.
    """
    health = yield Call("/health")
    if health.status not in _ABSENT:
        parse.check(health)
    properties = _properties((yield Call("/props")))
    template = yield Call("/apply-template", conversation(prompt.user_text(*_MARKERS)))
    setup = Setup(_way(template), _context(properties), _fingerprint(config, properties))
    if config.endpoint == "rerank" and (yield from _rerank_agrees(config, setup)):
        return replace(setup, way=Way.RERANK)
    return setup


def _way(template: Answer) -> Way:
    """Return chat, unless the server's template departs from the official prompt: it omits texts, or lets the model
    think first.
    """
    if template.status in _ABSENT:
        return Way.CHAT
    official = template.status == 200 and parse.properties(template).get("prompt") == prompt.raw_prompt(*_MARKERS)
    return Way.CHAT if official else Way.COMPLETION


def _rerank_agrees(config: RerankerConfig, setup: Setup) -> Talk[bool]:
    """Return whether /v1/rerank reads whole prompts and gives the chat's scores, twice: a model without a
    classification head returns meaningless numbers there.
    """
    if setup.way is not Way.CHAT:
        return False
    query, good, bad = _AGREEMENT_PAIR.query, _AGREEMENT_PAIR.relevant, _AGREEMENT_PAIR.irrelevant
    for _ in range(2):
        together = yield rerank_call(config, query, [good, bad])
        if together.status != 200:
            return False
        of_good = yield chat_call(config, prompt.user_text(_FIXED_INSTRUCTION, query, good))
        of_bad = yield chat_call(config, prompt.user_text(_FIXED_INSTRUCTION, query, bad))
        if not _same(together, [of_good, of_bad]):
            return False
    return True


def _same(together: Answer, chats: Sequence[Answer]) -> bool:
    """Return whether a response of /v1/rerank agrees, on equally long prompts, with the chats about the same pairs."""
    if parse.prompt_tokens(together) < _WHOLE_PROMPT * sum(map(parse.prompt_tokens, chats)):
        return False
    try:
        scores = parse.rerank_scores(together, len(chats))
    except InvalidScores:
        return False
    pairs = zip(scores, map(parse.chat_score, chats), strict=True)
    return all(chat.certain and abs(score.value - chat.value) <= AGREEMENT for score, chat in pairs)


def _properties(answer: Answer) -> Mapping[str, Any]:
    return {} if answer.status in _ABSENT else parse.properties(answer)


def _context(properties: Mapping[str, Any]) -> int | None:
    match properties:
        case {"default_generation_settings": {"n_ctx": int(tokens)}} if tokens > 0:
            return tokens
    return None


def _fingerprint(config: RerankerConfig, properties: Mapping[str, Any]) -> str:
    parts = [config.model, str(properties.get("model_path")), str(properties.get("chat_template"))]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:_FINGERPRINT_CHARS]
