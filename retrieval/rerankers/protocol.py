"""The protocol with a llama-server, without I/O: generators that yield requests, are sent responses and return results.

The synchronous and the asynchronous client run the same ones.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from retrieval.rerankers import parse, prompt
from retrieval.rerankers.base import UNKNOWN, RerankerConfig, Score
from retrieval.rerankers.errors import TEXT_FAULTS, RerankerError
from retrieval.rerankers.parse import Answer

T = TypeVar("T")

TOP_LOGPROBS = 10


@dataclass(frozen=True, slots=True)
class Call:
    """A request: a GET, or a POST of `body` as JSON."""

    path: str
    body: Mapping[str, Any] | None = field(default=None, repr=False)


Talk = Generator[Call, Answer, T]
Outcome = Score | RerankerError


class Way(StrEnum):
    """Ways to put pairs to the server."""

    CHAT = "chat"
    COMPLETION = "completion"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Setup:
    """Facts about a server: the way to query it, the context of one slot in tokens (None: it does not say), and a hash
    of its model and template.
    """

    way: Way
    context_tokens: int | None = None
    fingerprint: str = ""


def score(config: RerankerConfig, setup: Setup, query: str, document: str) -> Talk[Score]:
    """Return the score of one pair. A document that exceeds the context is cut and retried once, then UNKNOWN."""
    query = prompt.harmless(query, prompt.query_bytes(setup.context_tokens))
    document = prompt.harmless(document, prompt.document_bytes(setup.context_tokens))
    answer = yield pair_call(config, setup.way, query, document)
    if (excess := parse.overflow(answer)) is not None:
        kept = prompt.bytes_that_fit(document, prompt_tokens=excess.prompt_tokens, context_tokens=excess.context_tokens)
        answer = yield pair_call(config, setup.way, query, prompt.harmless(document, kept))
        if parse.overflow(answer) is not None:
            return UNKNOWN
    return parse.chat_score(answer) if setup.way is Way.CHAT else parse.completion_score(answer)


def score_together(config: RerankerConfig, setup: Setup, query: str, documents: Sequence[str]) -> Talk[list[Outcome]]:
    """Return the scores of several documents by one call of /v1/rerank, one by one if that is refused: a pair there
    must also fit into the server's physical batch.
    """
    most_query, most = prompt.query_bytes(setup.context_tokens), prompt.document_bytes(setup.context_tokens)
    shown = [prompt.harmless(document, most) for document in documents]
    answer = yield rerank_call(config, prompt.harmless(query, most_query), shown)
    if answer.status == 200:
        return [*parse.rerank_scores(answer, len(documents))]
    found: list[Outcome] = []
    for talk in talks(config, replace(setup, way=Way.CHAT), query, documents):
        found += yield from talk
    return found


def pair_call(config: RerankerConfig, way: Way, query: str, document: str) -> Call:
    """Return the request for one pair of harmless texts."""
    instruction = prompt.harmless(config.instruction, prompt.QUERY_BYTES)
    if way is Way.CHAT:
        return chat_call(config, prompt.user_text(instruction, query, document))
    return Call(
        "/completion",
        {
            "prompt": prompt.raw_prompt(instruction, query, document),
            "n_predict": 1,
            "temperature": 0,
            "n_probs": TOP_LOGPROBS,
        },
    )


def chat_call(config: RerankerConfig, user: str) -> Call:
    """Return the request for the logprobs of the first token after the user's turn."""
    return Call(
        "/v1/chat/completions",
        {
            **conversation(user),
            "model": config.model,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
        },
    )


def rerank_call(config: RerankerConfig, query: str, documents: Sequence[str]) -> Call:
    """Return the request for the scores of several documents at once."""
    return Call("/v1/rerank", {"model": config.model, "query": query, "documents": list(documents)})


def conversation(user: str) -> dict[str, Any]:
    """Return the turns, with the model's thinking left empty."""
    return {
        "messages": [{"role": "system", "content": prompt.SYSTEM}, {"role": "user", "content": user}],
        "chat_template_kwargs": {"enable_thinking": False},
    }


def talks(config: RerankerConfig, setup: Setup, query: str, documents: Sequence[str]) -> list[Talk[list[Outcome]]]:
    """Return concurrent exchanges for the scores of `documents`: joined in order, their results are those, with an
    error in place of a score if the server fails on the text.
    """
    if setup.way is not Way.RERANK:
        return [_alone(score(config, setup, query, document)) for document in documents]
    size = config.batch_size
    batches = [documents[at : at + size] for at in range(0, len(documents), size)]
    return [score_together(config, setup, query, batch) for batch in batches]


def identity_of(config: RerankerConfig, setup: Setup) -> str:
    """Return what the scores of this server depend on besides the texts."""
    return "\0".join((config.model, setup.fingerprint, setup.way, config.instruction))


def _alone(talk: Talk[Score]) -> Talk[list[Outcome]]:
    try:
        return [(yield from talk)]
    except TEXT_FAULTS as error:
        return [error]
