"""Facts that a language model names: only what the message states is believed."""

import json

import pytest

from librarian_agents.errors import UnusableReply
from librarian_agents.facts.llm import messages_of, told_facts
from librarian_agents.facts.stated import ACCEPTED_FROM

TEXT = "I took up fencing in May. Should I move to Lima? If I did, my rent would be 900 euros.\n> I live in Oslo."


class Model:
    """Replies with `reply`."""

    name = "scripted"

    def __init__(self, reply):
        self.reply = reply

    async def complete(self, messages, schema=None):
        return self.reply


def fact(**changed):
    """Return an entry of a reply that is right, but for what is changed."""
    entry = {"subject": "Rosa", "predicate": "does", "object": "fencing", "quote": "I took up fencing", "sure": True}
    return entry | changed


async def told(*entries):
    """Return what is believed of such a reply."""
    return await told_facts(Model(json.dumps({"facts": entries})), TEXT, "Rosa")


async def test_a_fact_with_a_genuine_quote_is_proposed():
    """It is never sure enough to be stored unseen."""
    (found,) = await told(fact())
    assert (found.subject, found.predicate, found.object, found.method) == ("Rosa", "does", "fencing", "llm")
    assert found.by_author
    assert found.confidence < ACCEPTED_FROM
    assert found.quote in TEXT


@pytest.mark.parametrize(
    "changed",
    [
        {"quote": "I took up Fencing"},
        {"quote": "fencing is what I do"},
        {"object": "rowing"},
        {"subject": "Emil"},
        {"object": "Lima", "quote": "Should I move to Lima?"},
        {"object": "900 euros", "quote": "my rent would be 900 euros"},
        {"object": "Oslo", "quote": "I live in Oslo."},
        {"object": ""},
        {"quote": None},
    ],
)
async def test_what_the_message_does_not_state_is_left_out(changed):
    """Changed letters, other words, strangers, questions, suppositions, quotations, gaps."""
    assert await told(fact(**changed)) == []


@pytest.mark.parametrize("reply", ["", "no", "[]", '{"facts": 3}', '{"fact": []}'])
async def test_another_reply_is_unusable(reply):
    """It is counted as such by whoever asked."""
    with pytest.raises(UnusableReply):
        await told_facts(Model(reply), TEXT, "Rosa")


def test_secrets_are_masked():
    """Before a model sees them."""
    asked = messages_of("The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789.", "Rosa")
    assert "ghp_abcdefghijklmnopqrstuvwxyz0123456789" not in asked[-1].content
