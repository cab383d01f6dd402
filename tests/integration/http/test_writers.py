"""A key with the scope `write` alone: it stores and deletes, and learns nothing of what is stored."""

import pytest

SECRET = "the vault opens at nine"
ROWS = [
    {"kind": "memory", "uid": "k", "name": f"name: {SECRET}", "text": SECRET, "tags": ["vault"], "evidence": ["m"]},
    {"kind": "fact", "uid": "f", "text": SECRET, "subject": "vault", "predicate": "opens", "object": "nine"},
    {"kind": "message", "uid": "m", "text": SECRET, "author": "Ada", "conversation_id": "c"},
    {"kind": "edge", "source": "k", "target": "m", "type": "CAUSES", "source_quote": SECRET, "reason": SECRET},
]
TOLD = ("vault", "nine", "Ada")


@pytest.fixture
async def writer(client, headers, keys, namespace):
    """Calls as a writer, over a namespace that holds the rows above."""
    stored = await client.post("/v1/items", json=ROWS, headers=headers)
    assert stored.json()["failed"] == 0, stored.text
    key = keys.create("writer", namespaces=[namespace], scopes=["write"])[1]

    async def call(method, path, body=None, **more):
        return await client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}", **more})

    return call


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/v1/items/k", {}),
        ("PATCH", "/v1/items/f", {"confidence": 0.5}),
        ("PUT", "/v1/items/k", ROWS[0]),
        ("POST", "/v1/items/k:correct", {"text": "no"}),
        ("POST", "/v1/items/f:correct", {"object": "ten"}),
        ("POST", "/v1/items:delete", {"filters": {"kinds": ["memory"]}}),
        ("POST", "/v1/items:delete", {"uids": ["k", "f", "m"]}),
        ("POST", "/v1/edges", {"source": "k", "target": "m", "type": "CAUSES"}),
        ("POST", "/v1/tools/unlink", {"source": "k", "target": "m", "type": "CAUSES"}),
        ("POST", "/v1/tools/forget", {"uids": ["k"]}),
        ("POST", "/v1/tools/correct", {"uid": "k", "text": "no"}),
        ("POST", "/v1/tools/link", {"source": "k", "target": "m", "type": "CAUSES"}),
        ("POST", "/v1/tools/remember", {"kind": "memory", "uid": "n", "text": "something else"}),
        ("DELETE", "/v1/items/k", None),
    ],
)
async def test_answers_to_a_writer_hold_nothing_that_is_stored(writer, method, path, body):
    """Answers give counts, uids and versions; no text, name, property, author or quotation."""
    answer = await writer(method, path, body)
    assert answer.status_code in (200, 201), answer.text
    assert not [word for word in TOLD if word in answer.text], answer.text


async def test_a_writer_can_still_delete_in_two_steps(writer):
    """The preview's counts and token are enough; who may read sees what would go."""
    preview = (await writer("POST", "/v1/items:delete", {"uids": ["k", "f"]})).json()
    assert (preview["counts"]["items"], preview["sample"]) == (2, [])
    confirmed = {"uids": ["k", "f"], "confirm_token": preview["confirm_token"]}
    done = (await writer("POST", "/v1/items:delete", confirmed)).json()
    assert (done["deleted"], done["counts"]["items"]) == (True, 2)


async def test_who_may_read_too_is_told_as_before(client, headers):
    """The answer to a patch is the item."""
    await client.post("/v1/items", json=ROWS, headers=headers)
    assert (await client.patch("/v1/items/k", json={}, headers=headers)).json()["text"] == SECRET
    preview = await client.post("/v1/items:delete", json={"uids": ["k"]}, headers=headers)
    assert [brief["uid"] for brief in preview.json()["sample"]] == ["k"]
