import math

import numpy as np
import pytest

from retrieval.encoders.base import item_space
from retrieval.evaluation.baselines import Document, FusedBaseline, KeywordBaseline, encoded
from retrieval.evaluation.bm25 import Bm25, plain_words, stemmed_words

TEXTS = ["the cat sat on the mat", "a dog chased the cat", "birds fly"]
DOCUMENTS = [Document(f"d{place}", text, None, text) for place, text in enumerate(TEXTS)]


class Letters:
    """An encoder that counts letters."""

    space = item_space("letters", 26, "1")

    async def encode_query(self, texts):
        counts = np.array([[text.count(chr(97 + letter)) for letter in range(26)] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    encode_passages = encode_query

    def waiting(self):
        return {}

    async def aclose(self):
        pass


def test_bm25_is_the_formula():
    index = Bm25(TEXTS, plain_words, k1=1.2, b=0.75)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    usual = (6 + 5 + 2) / 3
    expected = idf * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * 6 / usual))
    assert index.scores("cat")[0] == pytest.approx(expected)
    assert set(index.scores("cat birds")) == {0, 1, 2}
    assert index.scores("horse") == {}


def test_words_are_stemmed_and_stop_words_dropped():
    assert stemmed_words()("The dogs were Running") == ["dog", "run"]
    assert plain_words("The dogs") == ["the", "dogs"]


def test_japanese_is_cut_into_pairs_of_letters():
    assert plain_words("東京の harbor-api") == ["東京", "京の", "harbor", "api"]
    assert plain_words("猫") == ["猫"]


async def test_the_encoder_ranks_by_the_best_passage():
    ranked = await (await encoded(DOCUMENTS, Letters())).ranked("birds")
    assert ranked[0] == "d2"
    assert sorted(ranked) == ["d0", "d1", "d2"]


async def test_fusion_puts_first_what_both_find():
    keyword = KeywordBaseline(DOCUMENTS, Bm25(TEXTS, stemmed_words()))
    assert await keyword.ranked("dogs") == ["d1"]
    fused = FusedBaseline(keyword, await encoded(DOCUMENTS, Letters()))
    assert (await fused.ranked("chased by dogs"))[0] == "d1"
