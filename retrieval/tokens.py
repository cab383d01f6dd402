"""Estimates the tokens of a text: every language model counts differently."""

import math

ESTIMATE = "estimate: a third of a token for an ASCII letter, one for any other"
"""Description of the estimate, for readers of its figures."""


def tokens(text: str) -> int:
    """Estimate the tokens of `text`, erring on the high side: a third of a token for an ASCII letter, one for any
    other.
    """
    ascii_letters = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_letters / 3) + len(text) - ascii_letters
