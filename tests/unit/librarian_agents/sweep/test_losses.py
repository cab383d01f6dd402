import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from librarian_agents.sweep.losses import losses

PLANTED = {
    "name": ["Mara", "Postgres", "São Paulo", "トークン", "@kenji", "ADR"],
    "number": ["15", "3.14", "-5", "1,000", "99.9%", "$20", "2026-03-01"],
    "path": ["librarian_agents/chat.py", "/etc/hosts", "~/.config/x.toml", "C:\\temp\\log.txt", "settings.yaml"],
    "url": ["https://example.org/a?b=1#c", "bolt://127.0.0.1:7687"],
    "code": ["`x = 1`", "get_user()", "--dry-run", "$HOME", "snake_case", "camelCase", "std::vector", "sha256"],
    "negation": ["not", "never", "without", "cannot", "doesn't", "no"],
    "word": ["redis", "kafka"],
}
SENTENCES = st.lists(
    st.sampled_from(
        [
            "The server starts {}.",
            "We use {} here, and it works.",
            "- item with {} inside",
            "Because of {} the build is slow.",
            "| cell | {} |",
            "設定は {} にある。",
        ]
    ),
    min_size=1,
    max_size=6,
)
SECRETS = st.sampled_from([(kind, token) for kind, tokens in PLANTED.items() for token in tokens])


@given(SENTENCES, SECRETS, st.integers(0, 5))
def test_every_planted_loss_is_found(sentences, secret, place):
    """A text that holds a token once too little has lost it, whatever stands around it."""
    kind, token = secret
    place %= len(sentences)
    full = [sentence.format(f" {token} ") for sentence in sentences]
    cut = [*full[:place], sentences[place].format(" "), *full[place + 1 :]]
    found = losses("\n".join(full), "\n".join(cut))
    assert found
    assert any(token.strip("`") in loss.text or loss.text in token for loss in found)
    if kind == "negation":
        assert "negation" in {loss.kind for loss in found}


@given(SENTENCES, SECRETS)
def test_nothing_is_lost_when_sentences_change_places(sentences, secret):
    full = [sentence.format(f" {secret[1]} ") for sentence in sentences]
    assert losses("\n\n".join(full), "## TITLE\n" + "\n\n".join(reversed(full))) == []


@given(st.text(max_size=2000))
def test_a_text_loses_nothing_to_itself(text):
    assert losses(text, text) == []


@pytest.mark.parametrize(("kind", "token"), [(kind, token) for kind, tokens in PLANTED.items() for token in tokens])
def test_a_loss_is_named_by_its_kind(kind, token):
    if kind == "negation":
        assert [(loss.kind, loss.text) for loss in losses(f"it is {token} safe", "it is safe")] == [
            ("negation", f"{token} safe")
        ]
    else:
        assert kind in {loss.kind for loss in losses(f"we kept {token} there", "we kept there")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("This is not safe. That is fast.", "This is safe. That is not fast."),
        ("5 of 5 passed", "5 of passed"),
        ("```\nx = 1\n  y = 2\n```", "```\nx = 1\ny = 2\n```"),
        ("この鍵は使わない。", "この鍵は使う。"),
        ("本番では未検証です。", "本番では検証です。"),
        ("from -5 to 5", "from 5 to 5"),
        ("a != b", "a == b"),
    ],
)
def test_small_changes_of_meaning_are_losses(old, new):
    assert losses(old, new)


def test_a_long_document_is_read_in_one_go():
    text = "The server at 10.0.0.1 does not answer `ping`. " * 4_400
    assert losses(text, text) == []
    assert losses(text, text.replace("not ", "", 1))


def test_each_word_of_real_memories_is_missed_when_it_goes():
    """No token of the labelled memories can vanish unseen: names, numbers, paths, URLs, code, negations."""
    folder = (
        Path(os.environ.get("LIBRARIAN_EVAL_DATA") or Path(__file__).parents[5] / "shared" / "data") / "memory_types"
    )
    if not (folder / "agent_notes.jsonl").is_file():
        pytest.skip(f"no labelled memories in {folder}")
    planted = missed = 0
    for line in (folder / "agent_notes.jsonl").read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        for token in list(re.finditer(r"\S*\w\S*", text))[::3]:
            planted += 1
            missed += not losses(text, text[: token.start()] + text[token.end() :])
    assert planted > 2000
    assert missed == 0
