"""The semantic searches at the terminal, over HTTP and by the client: one answer."""

import json

import msgspec
import pytest

from librarian.client import AsyncLibrarianClient
from librarian.search.contracts import SemanticSearchInput

ROWS = [
    {
        "kind": "message",
        "message_id": "m1",
        "author": "Mia",
        "text": "The nightly backup failed because the disk was full.",
    },
    {
        "kind": "fact",
        "uid": "f1",
        "subject": "the nightly backup",
        "predicate": "failed because of",
        "object": "a full disk",
        "evidence": ["m1"],
    },
    {"kind": "memory", "uid": "k1", "text": "Old logs are deleted every night, so that backups fit on the disk."},
]
QUESTION = "why was there no backup?"
COMMANDS = {
    "search-facts": ("semantic_search_facts", {"fact"}),
    "search-messages": ("semantic_search_messages", {"message"}),
    "search-memories": ("semantic_search_memories", {"memory"}),
    "search-all": ("search_all", {"fact", "message", "memory"}),
}


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_way_gives_the_same_answer(cli, client, headers, librarian, ingest, namespace, command):
    """Facade, tool, client and command: the same hits, of the tool's kinds only. The command is a process of its
    own, which may know a newer calibration: it is compared by what it finds.
    """
    await ingest(*ROWS)
    tool, kinds = COMMANDS[command]
    query = SemanticSearchInput(queries=[QUESTION], limit=5)
    own = msgspec.to_builtins(await getattr(librarian, tool)(namespace, query), str_keys=True)
    assert {hit["kind"] for hit in own["results"]} == kinds
    sent = await client.post(f"/v1/tools/{tool}", headers=headers, json={"queries": [QUESTION], "limit": 5})
    assert sent.json() == own
    async with AsyncLibrarianClient(str(client.base_url), headers["Authorization"].removeprefix("Bearer ")) as remote:
        assert msgspec.to_builtins(await getattr(remote, tool)(namespace, query)) == own
    code, out, err = await cli(command, QUESTION, "-k", "5", "-n", namespace, "--threshold", "0", "--json")
    assert code == 0, err
    assert {hit["uid"] for hit in json.loads(out)["results"]} >= {hit["uid"] for hit in own["results"]}
    assert {hit["kind"] for hit in json.loads(out)["results"]} == kinds


async def test_facts_are_shown_with_what_supports_them(cli, ingest, namespace):
    """A person sees the message behind a fact, the similarity, and how far the threshold went."""
    await ingest(*ROWS)
    code, out, err = await cli("search-facts", QUESTION, "-n", namespace)
    assert code == 0
    shown = " ".join(out.replace("│", " ").split())
    assert "Mia: The nightly backup failed" in shown
    assert "threshold 0.35 (step 9)" in err
    code, _, err = await cli("search-memories", "Which enzyme breaks down lactose?", "-n", namespace)
    assert (code, "Nothing similar is known." in err) == (0, True)


async def test_contradicting_ends_of_a_threshold_are_a_clear_error(cli, client, headers, namespace):
    """HTTP names the field, the terminal its option."""
    ends = {"adaptive_threshold_min": 0.8, "adaptive_threshold_max": 0.2}
    for path in ("/v1/search", "/v1/tools/search_all"):
        answer = await client.post(path, headers=headers, json={"queries": ["x"], **ends})
        problem = answer.json()
        assert (answer.status_code, problem["field"]) == (400, "adaptive_threshold_min")
        assert "0.8 lies above" in problem["detail"]
    code, _, err = await cli("search-all", "x", "--adaptive-min", "0.8", "--adaptive-max", "0.2", "-n", namespace)
    assert code == 65
    assert "--adaptive-min" in err


async def test_a_replaced_threshold_is_told_to_who_sent_it(client, headers, ingest, namespace):
    """`adaptive_threshold: true` drops a similarity_threshold beside it; alone that is kept to the letter."""
    await ingest(*ROWS)
    body = {"queries": [QUESTION], "similarity_threshold": 1.0}
    strict = (await client.post("/v1/tools/search_all", headers=headers, json=body)).json()
    assert (strict["results"], strict["threshold"], strict["iterations"], strict["notes"]) == ([], 1.0, 1, [])
    body["adaptive_threshold"] = True
    adapted = (await client.post("/v1/tools/search_all", headers=headers, json=body)).json()
    assert (len(adapted["results"]), adapted["threshold"]) == (3, 0.35)
    assert any("similarity_threshold" in note for note in adapted["notes"])


async def test_a_plain_search_has_no_threshold_and_finds_nothing_about_something_else(
    client, headers, ingest, namespace
):
    """A hit that words or meaning back is found without a threshold; nothing backs a question about something
    else (docs/decisions/0017).
    """
    await ingest(*ROWS)
    related = (await client.post("/v1/search", headers=headers, json={"queries": [QUESTION]})).json()
    assert (len(related["results"]), related["threshold"], related["iterations"]) == (3, None, 0)
    body = {"queries": ["Which enzyme breaks down lactose?"]}
    plain = (await client.post("/v1/search", headers=headers, json=body)).json()
    assert (plain["results"], plain["threshold"], plain["iterations"]) == ([], None, 0)
    asked = (await client.post("/v1/search", headers=headers, json={**body, "adaptive_threshold": True})).json()
    assert (asked["results"], asked["threshold"], asked["iterations"]) == ([], 0.35, 9)
