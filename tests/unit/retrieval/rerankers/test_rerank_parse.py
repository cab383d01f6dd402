"""The meaning of answers: the order of the fallbacks, and that no bytes raise anything but our errors."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerankers import parse
from retrieval.rerankers.base import UNKNOWN, Score
from retrieval.rerankers.errors import InvalidScores, RerankerError
from retrieval.rerankers.parse import Answer, Overflow


def token(name, logprob=-1.0, **more):
    return {"token": name, "bytes": list(name.encode()), "logprob": logprob, **more}


def chat(*, top=(), generated="?", text="?", logprobs=True):
    content = {"content": [token(generated, top_logprobs=list(top))]}
    return Answer(
        200,
        json.dumps({"choices": [{"message": {"content": text}, "logprobs": content if logprobs else None}]}).encode(),
    )


def guess(value):
    return Score(value, certain=False)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (chat(top=[token("yes", -0.5), token("no", -0.5)]), Score(0.5)),
        (chat(top=[token("yes", -0.5), token("no", -0.5)], generated="no", text="no"), Score(0.5)),
        (chat(top=[token("yes", 0.0), token("no", -3.4028235e38)]), Score(1.0)),
        (chat(top=[token("no", 0.0), token("yes", -3.4028235e38)]), Score(0.0)),
        (chat(top=[token("no", -0.5)], generated="yes"), guess(1.0)),
        (chat(top=[token("yes", -0.5)], generated="no"), guess(0.0)),
        (chat(top=[token("yes", -3.4e38), token("no", -3.4e38)]), UNKNOWN),
        (chat(top=[token("yes", -0.5), token("maybe", -1)]), guess(0.8)),
        (chat(top=[token("no", -1.5), token("yes", -0.5), token("No", -0.1)]), Score(1 / (1 + math.exp(-1.0)))),
        (chat(top=[token(" no", -1.5), token("Yes", -0.5), token(" yes", -0.9)]), Score(1 / (1 + math.exp(-1.0)))),
        (chat(top=[token("maybe", -0.5)], generated=" Yes"), guess(1.0)),
        (chat(top=[token("maybe", -0.5), token("NO ", -1)]), guess(0.2)),
        (chat(logprobs=False, text=" yes"), guess(1.0)),
        (chat(logprobs=False, text="Yes, it does"), guess(1.0)),
        (chat(logprobs=False, text='"No."'), guess(0.0)),
        (chat(logprobs=False, text="Nobody knows, yes"), UNKNOWN),
        (chat(top=[token("yes", None), token("no", -1)]), guess(0.2)),
        (chat(top=[token("yes", math.nan), token("no", math.inf)], text=" Yes\n"), guess(1.0)),
        (chat(top=[token("yes", math.inf), token("no", -1)]), guess(0.2)),
        (chat(top=[token("yes", 10**400), token("no", -1)]), guess(0.2)),
        (chat(text="NO"), guess(0.0)),
        (chat(logprobs=False, text="\ufffd"), UNKNOWN),
        (chat(logprobs=False, text=None), UNKNOWN),
        (chat(logprobs=False, text="yes"), guess(1.0)),
    ],
)
def test_the_fallbacks_come_in_order_and_only_both_logprobs_are_certain(answer, score):
    assert parse.chat_score(answer) == score


def test_tokens_are_told_apart_by_bytes():
    """An incomplete character and a control token print as "", and one that prints "yes" may be another token."""
    odd = {"token": "yes", "bytes": [], "logprob": -0.01}
    listed = [odd, {"token": "", "bytes": [121, 101, 115], "logprob": -1.0}, token("no", -2.0)]
    assert parse.chat_score(chat(top=listed)).value == pytest.approx(1 / (1 + math.exp(-1)))


def test_a_server_without_bytes_is_read_by_its_texts():
    listed = [{"token": name, "bytes": None, "logprob": logprob} for name, logprob in (("yes", -1.0), ("no", -2.0))]
    assert parse.chat_score(chat(top=listed)).certain


def test_completions_carry_the_same_token():
    body = {
        "content": "no",
        "completion_probabilities": [token("no", top_logprobs=[token("yes", -2), token("no", -2)])],
    }
    assert parse.completion_score(Answer(200, json.dumps(body).encode())) == Score(0.5)
    assert parse.completion_score(Answer(200, b'{"content": "no"}')) == guess(0.0)


@given(st.floats(-1e38, 0), st.floats(-1e38, 0))
def test_the_score_is_the_softmax_and_keeps_the_order(yes, no):
    score = parse.chat_score(chat(top=[token("yes", yes), token("no", no)])).value
    assert 0 <= score <= 1
    if max(yes, no) > -1e30:
        assert (score >= 0.5) == (yes >= no) or score == pytest.approx(0.5)


REPLIES = ["choices", "message", "content", "completion_probabilities", "results", "error", "usage"]
TOKENS = ["logprobs", "top_logprobs", "bytes", "token", "logprob"]
NUMBERS = ["index", "relevance_score", "n_prompt_tokens", "n_ctx", "prompt_tokens"]
NAMES = [*REPLIES, *TOKENS, *NUMBERS]
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["yes", "no"])
JSON = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=30,
)


@given(
    JSON.map(lambda value: json.dumps(value).encode()) | st.binary(), st.sampled_from([200, 400, 401, 404, 500, 503])
)
def test_any_answer_gives_a_score_or_an_error_of_ours(body, status):
    answer = Answer(status, body)
    for read in (parse.chat_score, parse.completion_score, lambda one: parse.rerank_scores(one, 1)[0]):
        with contextlib.suppress(RerankerError):
            assert 0 <= read(answer).value <= 1
    parse.overflow(answer)


@pytest.mark.parametrize(
    "results",
    [
        [{"index": 0, "relevance_score": 0.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": math.nan}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 12.5}],
        [{"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.5}],
    ],
)
def test_rerank_wants_one_probability_a_document(results):
    with pytest.raises(InvalidScores):
        parse.rerank_scores(Answer(200, json.dumps({"results": results}).encode()), 2)


def test_rerank_puts_scores_into_the_documents_order():
    results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    scores = parse.rerank_scores(Answer(200, json.dumps({"results": results}).encode()), 2)
    assert [score.value for score in scores] == [0.1, 0.9]


def test_an_overflow_says_how_far():
    body = b'{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":3278,"n_ctx":2048}}'
    assert parse.overflow(Answer(400, body)) == Overflow(3278, 2048)
    assert parse.overflow(Answer(200, body)) is None
    assert parse.overflow(Answer(400, b'{"error":{"message":"no"}}')) is None


def test_bodies_do_not_show():
    assert "private" not in repr(Answer(200, b"private words"))
