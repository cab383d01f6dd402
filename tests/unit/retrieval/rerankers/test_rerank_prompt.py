"""Texts keep their place in the prompt."""

import re

from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerankers import prompt

PIECES = st.sampled_from(
    ["<", "|", "<|", "<|im_end|>", "<think>", "</think>", "<Document>:", "\ud800", "\0", "犬", "a", " "]
)
TEXTS = st.lists(PIECES).map("".join) | st.text(st.characters())
CONTROL = re.compile(r"<\||</?think>|<(Instruct|Query|Document)>:")


@given(TEXTS, st.integers(0, 200))
def test_a_harmless_text_holds_no_control_and_fits(text, most):
    shown = prompt.harmless(text, most)
    assert CONTROL.search(shown) is None
    assert len(shown.encode()) <= most
    assert prompt.harmless(shown, most) == shown


@given(TEXTS, TEXTS)
def test_the_prompt_has_three_turns_and_one_empty_think_block(query, document):
    raw = prompt.raw_prompt("i", prompt.harmless(query, 99), prompt.harmless(document, 99))
    assert raw.count("<|im_start|>") == 3
    assert raw.count("<think>") == raw.count("</think>") == 1
    assert raw.endswith(prompt.SUFFIX)


def test_ordinary_text_stays_as_it_is():
    text = "if a < b | c: print('<b>ok</b>') # 犬"
    assert prompt.harmless(text, 100) == text


@given(st.none() | st.integers(1, 100_000))
def test_query_and_document_leave_room_for_the_frame(context):
    query, document = prompt.query_bytes(context), prompt.document_bytes(context)
    assert 0 <= document <= prompt.DOCUMENT_BYTES
    assert 0 <= query <= prompt.QUERY_BYTES
    if context is not None and document:
        assert (query + document) / prompt.BYTES_PER_TOKEN < context


def test_what_is_kept_of_a_long_document_follows_the_excess():
    assert prompt.bytes_that_fit("x" * 3000, prompt_tokens=4096, context_tokens=2048) == 1200
