"""How many tokens a language model makes of a text, estimated: every model counts otherwise."""

import math

ESTIMATE = "estimate: a third of a token for an ASCII letter, one for any other"
"""What `tokens` does, for those who read its figures."""


def tokens(text: str) -> int:
    """About how many tokens a language model makes of `text`, rather more than fewer: a third of an ASCII letter, one
    of any other.
    """
    ascii_letters = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_letters / 3) + len(text) - ascii_letters
