"""Parses a llama-server's responses. Pure functions from bytes to scores and errors.

Traps of the format, each seen on a real server: tokens that are part of a UTF-8 character all print as "" or U+FFFD, so
tokens are distinguished by their bytes; `logprobs` is missing as a whole if the generated token is such a part; a zero
probability is -3.4e38; JSON may hold NaN.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval.rerankers.base import UNKNOWN, Score, probability
from retrieval.rerankers.errors import (
    InvalidScores,
    RerankerBroke,
    RerankerError,
    RerankerMisconfigured,
    RerankerRejectedText,
    RerankerUnavailable,
)

LOADING_PAUSE_S = 2
BUSY_PAUSE_S = 5

_YES, _NO = "yes", "no"
_SPOKEN = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
# Servers write a zero probability as a value below the first; all values lie within the second.
_ZERO_LOGPROB = -1e30
_LARGEST = 1e39
_ONE_FOUND = {_YES: Score(0.8, certain=False), _NO: Score(0.2, certain=False)}
_SAID = {_YES: Score(1.0, certain=False), _NO: Score(0.0, certain=False)}


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer: status, body, and the seconds of Retry-After."""

    status: int
    body: bytes = field(repr=False)
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Overflow:
    """A prompt of `prompt_tokens` did not fit into a context of `context_tokens`."""

    prompt_tokens: int
    context_tokens: int


def chat_score(answer: Answer) -> Score:
    """Return the score in a response of /v1/chat/completions. Raises RerankerError."""
    match _content(answer):
        case {"choices": [{"message": {**message}, **choice}, *_]}:
            match choice.get("logprobs"):
                case {"content": [{**token}, *_]}:
                    return _score(token, message.get("content"))
            return _score({}, message.get("content"))
    raise InvalidScores("the reranker's answer has not the form of a chat completion")


def completion_score(answer: Answer) -> Score:
    """Return the score in a response of /completion. Raises RerankerError."""
    match _content(answer):
        case {"completion_probabilities": [{**token}, *_], **rest}:
            return _score(token, rest.get("content"))
        case {"content": str(text)}:
            return _score({}, text)
    raise InvalidScores("the reranker's answer has not the form of a completion")


def rerank_scores(answer: Answer, count: int) -> list[Score]:
    """Return the scores in a response of /v1/rerank to `count` documents, in order. Raises RerankerError."""
    found: dict[int, Score] = {}
    match _content(answer):
        case {"results": [*results]}:
            for result in results:
                match result:
                    case {"index": int(index), "relevance_score": raw} if (value := probability(raw)) is not None:
                        found[index] = Score(value)
    if found.keys() != set(range(count)):
        raise InvalidScores(f"the reranker returned {len(found)} usable scores for {count} documents")
    return [found[index] for index in range(count)]


def prompt_tokens(answer: Answer) -> int:
    """Return the tokens that the server has read, 0 if it does not say. Raises RerankerError."""
    match _content(answer):
        case {"usage": {"prompt_tokens": int(tokens)}}:
            return tokens
    return 0


def overflow(answer: Answer) -> Overflow | None:
    """Return how far a refused prompt exceeded the context; None if the response does not say."""
    if answer.status != 400:
        return None
    match _decoded(answer.body):
        case {"error": {"n_prompt_tokens": int(prompt), "n_ctx": int(context)}} if prompt > 0 and context > 0:
            return Overflow(prompt, context)
    return None


def check(answer: Answer) -> None:
    """Raise the RerankerError for a response's status; only 200 means none."""
    if answer.status != 200:
        raise _refusal(answer)


def properties(answer: Answer) -> Mapping[str, Any]:
    """Return the JSON object in a response, empty if there is none. Raises RerankerError for any status but 200."""
    check(answer)
    content = _decoded(answer.body)
    return content if isinstance(content, dict) else {}


def _content(answer: Answer) -> object:
    check(answer)
    return _decoded(answer.body)


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _refusal(answer: Answer) -> RerankerError:
    status = answer.status
    match status:
        case 503 if b"Loading model" in answer.body:
            return RerankerUnavailable("the reranker's server is loading its model", retry_after_s=LOADING_PAUSE_S)
        case 429 | 503:
            pause_s = answer.retry_after_s or BUSY_PAUSE_S
            return RerankerUnavailable(f"the reranker's server is busy (status {status})", retry_after_s=pause_s)
        case 401 | 403:
            return RerankerMisconfigured(
                f"the reranker's server refuses the key (status {status}); check RERANKER_API_KEY"
            )
        case 400 | 413 | 422:
            return RerankerRejectedText(f"the reranker's server refuses a request (status {status})")
        case 501:
            return RerankerMisconfigured("the reranker's server was not started for /v1/rerank (--rerank)")
        case _ if status >= 500:
            return RerankerBroke(f"the reranker's server failed (status {status}); look at its log")
    return RerankerMisconfigured(f"the reranker's server answers with status {status}; check RERANKER_BASE_URL")


def _score(token: Mapping[Any, Any], text: object) -> Score:
    """Return the score of one generated token: P(yes) against P(no) if both are listed, else the best guess."""
    logprobs = _logprobs(token.get("top_logprobs"))
    yes, no = logprobs.get(_YES), logprobs.get(_NO)
    if yes is not None and no is not None and max(yes, no) > _ZERO_LOGPROB:
        return Score(_softmax(yes, no))
    if (generated := _plain(_bytes(token))) in _SAID:
        return _SAID[generated]
    if (found := logprobs.keys() & _ONE_FOUND.keys()) and len(found) == 1:
        return _ONE_FOUND[found.pop()]
    spoken = _SPOKEN.match(text) if isinstance(text, str) else None
    return _SAID[spoken[1].lower()] if spoken else UNKNOWN


def _softmax(yes: float, no: float) -> float:
    """Return the share of `yes`; exp only sees non-positive values, so it cannot overflow."""
    share = math.exp(-abs(yes - no))
    return 1 / (1 + share) if yes >= no else share / (1 + share)


def _logprobs(candidates: object) -> dict[str, float]:
    """Return the logprob of each answer among `candidates`: of the token itself if listed, else of the likeliest token
    that differs from it only in case or blanks.
    """
    listed = candidates if isinstance(candidates, Sequence) else ()
    exact: dict[str, float] = {}
    alike: dict[str, float] = {}
    for name, logprob in _readable(listed):
        if (answer := _plain(name)) in _SAID:
            found = exact if name.decode() == answer else alike
            found[answer] = max(logprob, found.get(answer, -math.inf))
    return alike | exact


def _plain(token: bytes) -> str:
    """Return a token without its case and surrounding blanks."""
    return token.decode(errors="replace").strip().lower()


def _readable(candidates: Sequence[object]) -> Iterator[tuple[bytes, float]]:
    """Yield token and logprob of those candidates that have both."""
    for candidate in candidates:
        match candidate:
            case {"logprob": int(logprob) | float(logprob), **rest} if -_LARGEST < logprob < _LARGEST:
                yield _bytes(rest), logprob


def _bytes(token: Mapping[Any, Any]) -> bytes:
    """Return a token's bytes, or those of its text if the server sends none."""
    match token:
        case {"bytes": [*numbers]} if all(isinstance(number, int) and 0 <= number < 256 for number in numbers):
            return bytes(numbers)
        case {"token": str(text)}:
            return text.encode(errors="replace")
    return b""
