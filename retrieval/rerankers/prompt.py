"""The official prompt of a Qwen3 reranker, with texts that cannot break out of their section."""

import re

from retrieval.passages import clean

SYSTEM = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".'
)
SUFFIX = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
"""Start of the model's answer. Without the empty think block it would think first."""

QUERY_BYTES = 1_200
DOCUMENT_BYTES = 2_400
"""Bytes of a text that are read, in UTF-8: about 600 tokens of English, 800 characters of Japanese. The time of a pair
grows with its length, and a document that answers mostly does so early.
"""

BYTES_PER_TOKEN = 3
"""Fewer than in English (4) and about as many as in Japanese, so that a text cut accordingly mostly fits."""

_FRAME_TOKENS = 120
_OVERFLOW_MARGIN = 0.8
# Control tokens, and the labels of the prompt's own sections.
_BREAKS_OUT = re.compile(r"<(?=\||/?think>|(?:Instruct|Query|Document)>:)")


def harmless(text: str, most_bytes: int) -> str:
    """Return the start of `text`, at most `most_bytes` bytes of valid UTF-8, written so that no part of it is read as a
    control token or as a section of the prompt.
    """
    # A character takes at least a byte: anything further need not be looked at.
    broken = _BREAKS_OUT.sub("< ", clean(text[:most_bytes]))
    return broken.encode()[:most_bytes].decode(errors="ignore")


def document_bytes(context_tokens: int | None) -> int:
    """Return the bytes of a document that fit into a context of `context_tokens` (None: unknown) beside the longest
    query.
    """
    if context_tokens is None:
        return DOCUMENT_BYTES
    left = (context_tokens - _FRAME_TOKENS) * BYTES_PER_TOKEN - query_bytes(context_tokens)
    return max(0, min(DOCUMENT_BYTES, left))


def query_bytes(context_tokens: int | None) -> int:
    """Return the bytes of a query that are read: all of QUERY_BYTES, or a quarter of a small context."""
    return QUERY_BYTES if context_tokens is None else min(QUERY_BYTES, context_tokens * BYTES_PER_TOKEN // 4)


def bytes_that_fit(document: str, *, prompt_tokens: int, context_tokens: int) -> int:
    """Return the bytes of `document` to keep if its prompt has `prompt_tokens`, more than there is room for."""
    return int(len(document.encode()) * context_tokens / prompt_tokens * _OVERFLOW_MARGIN)


def user_text(instruction: str, query: str, document: str) -> str:
    """Return the user's turn; the document comes last, so that a server may reuse its computation for the text before
    it.
    """
    return f"<Instruct>: {instruction}\n<Query>: {query}\n<Document>: {document}"


def raw_prompt(instruction: str, query: str, document: str) -> str:
    """Return the whole prompt with its control tokens, for a server whose chat template would write another."""
    turns = (("system", SYSTEM), ("user", user_text(instruction, query, document)))
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + SUFFIX
