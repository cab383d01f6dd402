"""The context pack: what a model should be given, within a budget."""

import pytest

from librarian.base.errors import InvalidInput
from librarian.base.strictjson import convert
from librarian.search.contracts import ContextInput
from retrieval.pack import HEAD, NEAR, NOTHING
from retrieval.tokens import tokens

QUERY = "how long did the rollback of harbor-api take"


def turn(position, author, text, **fields):
    return {
        "kind": "message", "uid": f"t{position}", "conversation_id": "c", "session_id": "s", "position": position,
        "author": author, "text": text, "sent_at": f"2026-02-18T05:{position:02}:00Z", **fields,
    }  # fmt: skip


async def test_the_lines_are_dated_named_and_cited(serving, librarian, namespace, story):
    """Over HTTP; what gives orders is left out, and that is said."""
    async with serving(librarian, namespace) as client:
        answer = await client.post("/v1/context", json={"query": QUERY, "max_tokens": 500})
    assert answer.status_code == 200, answer.text
    pack = answer.json()
    head, _, best = pack["text"].splitlines()[:3]
    assert head == HEAD
    assert best == "2026-02-18 Kenji: The rollback of harbor-api took 16 minutes, no longer. [memory: tell]"
    assert (pack["supported"], pack["tokens"]) == (True, tokens(pack["text"]))
    assert pack["items"][0] == {"id": "tell", "uid": "tell", "hit": True}
    assert "PWNED" not in pack["text"]
    assert pack["notes"] == ["1 hits that give orders to their reader were left out"]


async def test_the_budget_is_never_exceeded(librarian, namespace, ingest):
    """However much is kept; how many hits found no room is told."""
    await ingest(*(turn(at, "Ann", f"Step {at} of the rollback of harbor-api took {at} minutes.") for at in range(40)))
    for most in (100, 300, 1000):
        pack = await librarian.context(namespace, ContextInput(query=QUERY, max_tokens=most))
        assert tokens(pack.text) == pack.tokens <= most
        assert pack.tokens > most / 2
    assert any("found no room in 1000 tokens" in note for note in pack.notes) == (len(pack.items) < 40)
    with pytest.raises(InvalidInput):
        convert({"query": QUERY, "max_tokens": 99}, ContextInput)


async def test_turns_that_say_too_little_bring_their_neighbours(librarian, namespace, ingest):
    """A short reply comes behind what it replies to, a bare question before what follows it; of one session only."""
    await ingest(
        turn(1, "Ann", "Shall we paint the boathouse in the blue of the old ferry?"),
        turn(2, "Ben", "Blue for the boathouse, yes."),
        turn(3, "Ann", "The ladder is in the shed behind the greenhouse, next to the bikes.", session_id="later"),
    )
    pack = await librarian.context(namespace, ContextInput(query="Which colour does the boathouse get, blue?"))
    lines = [line for line in pack.text.splitlines() if "boathouse" in line]
    assert [line[-4:-1] for line in lines] == [" t1", " t2"]
    assert "ladder" not in pack.text


async def test_what_was_replaced_names_its_replacement(librarian, namespace, ingest):
    """Both stand in the pack, the older one marked."""
    await ingest(
        {"kind": "message", "uid": "old", "author": "Ann", "sent_at": "2025-01-30T11:00:00Z",
         "text": "The wifi password for guests is mussel-2025."},
        {"kind": "message", "uid": "new", "author": "Ann", "sent_at": "2026-01-15T11:00:00Z",
         "text": "I changed it: the wifi password for guests is samphire-9 from now on."},
    )  # fmt: skip
    pack = await librarian.context(namespace, ContextInput(query="What is the wifi password for guests?"))
    assert "mussel-2025. [memory: old], replaced by [memory: new]" in pack.text


async def test_nothing_known_is_the_first_thing_said(librarian, namespace, ingest):
    """With what is near below it, or nothing."""
    query = ContextInput(query="What is the capital of France?")
    assert (await librarian.context(namespace, query)).text == NOTHING
    await ingest({"kind": "memory", "uid": "m", "text": "The office in the capital moved to the harbour last year."})
    pack = await librarian.context(namespace, query)
    assert not pack.supported
    assert pack.text.splitlines()[0] in (NEAR, NOTHING)
