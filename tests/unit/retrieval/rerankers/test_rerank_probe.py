"""When a reranker is trusted, and when it is asked again."""

import json
import math

import pytest

from librarian.runtime.reranking import variant_of
from retrieval.rerankers import prompt
from retrieval.rerankers.base import RerankerConfig, Score
from retrieval.rerankers.errors import InvalidScores, RerankerUnavailable
from retrieval.rerankers.parse import Answer
from retrieval.rerankers.probe import discover, pause_s, scores_fault
from retrieval.rerankers.protocol import Setup, Way


@pytest.mark.parametrize(
    ("relevant", "irrelevant", "fault"),
    [
        ([0.9, 0.8], [0.1, 0.2], None),
        ([0.5, 0.5], [0.5, 0.5], "constant"),
        ([0.9, 0.2], [0.1, 0.8], "0.200"),
        ([0.9, 0.85], [0.1, 0.8], "0.850"),
    ],
)
def test_known_pairs_must_be_told_apart(relevant, irrelevant, fault):
    found = scores_fault([Score(value) for value in relevant], [Score(value) for value in irrelevant], 0.1)
    assert found is None if fault is None else fault in (found or "")


def test_a_guess_is_no_score():
    assert scores_fault([Score(1.0, certain=False)], [Score(0.0)], 0.1)


def test_pauses_double_up_to_five_minutes_unless_the_server_names_one():
    broken, loading = InvalidScores(), RerankerUnavailable(retry_after_s=2)
    assert [pause_s(attempt, broken) for attempt in (1, 2, 3, 9, 10, 1000)] == [1, 2, 4, 256, 300, 300]
    assert [pause_s(attempt, loading) for attempt in (1, 50)] == [2, 2]
    assert pause_s(1, RerankerUnavailable(retry_after_s=86_400)) == 300


def test_the_share_of_searches_is_kept_and_a_query_keeps_its_side():
    queries = [f"query {number}" for number in range(2000)]
    sides = [variant_of(query, 0.3) for query in queries]
    assert sides == [variant_of(query, 0.3) for query in queries]
    assert 500 < sides.count("reranked") < 700
    assert {variant_of(query, 1.0) for query in queries} == {"reranked"}
    assert {variant_of(query, 0.0) for query in queries} == {"control"}


class Server:
    """Answers a discovery: by chat with .9 and .1 and 300 tokens a pair, by /v1/rerank as told, round by round."""

    def __init__(self, *rounds: tuple[list[float], int]):
        self.rounds = list(rounds)
        self.chats = 0

    def answer(self, call) -> Answer:
        if call.path == "/v1/rerank":
            scores, tokens = self.rounds.pop(0)
            results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
            return reply({"results": results, "usage": {"prompt_tokens": tokens}})
        if call.path == "/v1/chat/completions":
            self.chats += 1
            return self.chat(0.9 if self.chats % 2 else 0.1)
        if call.path == "/apply-template":
            user = call.body["messages"][1]["content"]
            turns = prompt.raw_prompt("", "", "").split("<Instruct>")[0]
            return reply({"prompt": f"{turns}{user}<|im_end|>\n{prompt.SUFFIX}"})
        return reply({"default_generation_settings": {"n_ctx": 4096}} if call.path == "/props" else {})

    def chat(self, yes: float) -> Answer:
        top = [{"token": name, "logprob": math.log(share)} for name, share in (("yes", yes), ("no", 1 - yes))]
        choice = {"message": {"content": "?"}, "logprobs": {"content": [{"token": "?", "top_logprobs": top}]}}
        return reply({"choices": [choice], "usage": {"prompt_tokens": 300}})


def reply(body) -> Answer:
    return Answer(200, json.dumps(body).encode())


def discovered(server: Server, **options) -> Setup:
    talk = discover(RerankerConfig(**options))
    call = next(talk)
    while True:
        try:
            call = talk.send(server.answer(call))
        except StopIteration as done:
            return done.value


@pytest.mark.parametrize(
    ("rounds", "way"),
    [
        ([([0.91, 0.09], 600), ([0.9, 0.1], 600)], Way.RERANK),
        ([([0.95, 0.1], 600)], Way.CHAT),
        ([([0.9, 0.1], 600), ([0.9, 0.5], 600)], Way.CHAT),
        ([([0.9, 0.1], 60)], Way.CHAT),
        ([([0.9, math.nan], 600)], Way.CHAT),
        ([([0.9], 600)], Way.CHAT),
    ],
    ids=["agrees twice", "differs", "differs the second time", "reads texts without the prompt", "nan", "too few"],
)
def test_rerank_must_agree_with_chat_twice(rounds, way):
    assert discovered(Server(*rounds), endpoint="rerank").way is way


def test_rerank_is_not_even_tried_unless_wanted():
    setup = discovered(Server())
    assert (setup.way, setup.context_tokens) == (Way.CHAT, 4096)
