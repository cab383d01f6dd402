"""Similarity of texts to questions, as the search agent asks for it in every round."""

import numpy as np
import pytest

from retrieval.encoders.base import item_space
from retrieval.evidence import EncoderSimilarity

TEXTS = ["the ferry leaves at nine", "a berth costs thirty euros", "the cat sat on the mat"]


class Letters:
    """An encoder that counts letters, and records what it encodes."""

    space = item_space("letters", 26, "1")

    def __init__(self):
        self.queries, self.passages = [], []

    async def encode_query(self, texts):
        self.queries += texts
        return counted(texts)

    async def encode_passages(self, texts):
        self.passages += texts
        return counted(texts)

    def waiting(self):
        return {}

    async def aclose(self):
        pass


def counted(texts):
    counts = np.array([[text.count(chr(97 + letter)) for letter in range(26)] for text in texts], np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


async def test_a_text_is_encoded_once_for_all_rounds():
    """And each column still belongs to its text, in any order and with repetitions."""
    encoder = Letters()
    similarity = EncoderSimilarity(encoder, frozenset({"en"}))
    alone = [(await EncoderSimilarity(Letters(), frozenset({"en"}))(["the ferry"], [text]))[0][0] for text in TEXTS]
    assert (await similarity(["the ferry"], TEXTS[:2])) == [pytest.approx(alone[:2], abs=1e-5)]
    before = len(encoder.passages)
    again = await similarity(["the ferry"], [TEXTS[2], TEXTS[0], TEXTS[2], TEXTS[1]])
    assert again == [pytest.approx([alone[2], alone[0], alone[2], alone[1]], abs=1e-5)]
    assert encoder.passages[before:] == [TEXTS[2]]


async def test_only_the_latest_texts_are_kept(monkeypatch):
    monkeypatch.setattr("retrieval.evidence._KEPT", 2)
    encoder = Letters()
    similarity = EncoderSimilarity(encoder, frozenset({"en"}))
    for text in TEXTS:
        await similarity(["the ferry"], [text])
    before = len(encoder.passages)
    await similarity(["the ferry"], [TEXTS[1], TEXTS[2]])
    assert encoder.passages[before:] == []
    await similarity(["the ferry"], [TEXTS[0]])
    assert encoder.passages[before:] == [TEXTS[0]]


async def test_a_question_in_a_language_that_the_encoder_cannot_read_is_not_compared():
    encoder = Letters()
    assert await EncoderSimilarity(encoder, frozenset({"en"}))(["決定係数とは何ですか"], TEXTS) is None
    assert encoder.queries == []
    assert encoder.passages == []
