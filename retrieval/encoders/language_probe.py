"""Which languages an encoder can tell apart, proven on a few pairs instead of believed from its name.

The default model is English: in Japanese its neighbours are mostly noise, which drowns a good keyword arm (fused by
rank with another English model, recall at 1 fell from .79 to .25). On 200 questions over 2,000 Japanese paragraphs its
own recall at 1 is .31 where bigram BM25 has .79. So the vector arm is asked in covered languages only.
"""

import tomllib
from importlib import resources

import numpy as np

from retrieval.encoders.base import Encoder

COVERED_ACCURACY = 0.8
"""Share of queries whose own passage is the nearest of the 12, from which on a language counts as covered.

Guessing gets 1/12. The default English model gets .92 in English and .17-.25 in the others: shared letters help it a
little. One that understands a language gets nearly all, since the pairs are easy; .8 forgives two odd ones of 12.
"""


async def covered_languages(encoder: Encoder) -> frozenset[str]:
    """The languages among en, ja, zh and ko in which the encoder can be trusted."""
    accuracies = await probe_accuracies(encoder)
    return frozenset(language for language, accuracy in accuracies.items() if accuracy >= COVERED_ACCURACY)


async def probe_accuracies(encoder: Encoder) -> dict[str, float]:
    """Language -> share of its probe queries (0-1) whose own passage is nearer than the others of that language."""
    return {language: await _accuracy(encoder, pairs) for language, pairs in _probes().items()}


async def _accuracy(encoder: Encoder, pairs: list[dict[str, str]]) -> float:
    queries = await encoder.encode_query([pair["query"] for pair in pairs])
    passages = await encoder.encode_passages([pair["passage"] for pair in pairs])
    nearest = (queries @ passages.T).argmax(axis=1)
    return float(np.mean(nearest == np.arange(len(pairs))))


def _probes() -> dict[str, list[dict[str, str]]]:
    text = resources.files("retrieval.encoders").joinpath("language_probes.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
