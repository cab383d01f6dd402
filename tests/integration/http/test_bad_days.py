"""Trouble on a bad day: strange namespaces, keys of others, deleting beside searching, bodies without end, and
searches that ask for next to nothing.
"""

import asyncio
import itertools
import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from librarian.http.api import ENDPOINTS
from librarian.http.limits import FAILED_AUTHENTICATIONS

GUARDED = [endpoint for endpoint in ENDPOINTS if endpoint.scope is not None]
OURS, THEIRS = "The vault code is 47-11.", "The vault was painted green."
BODIES = {
    "search": {"queries": ["vault code"], "limit": 50},
    "switch_embeddings": {"space": "nowhere"},
    "why_not": {"uid": "m1", "queries": ["vault code"]},
    "relevant_memory": {"query": "What is the vault code?"},
    "answer": {"query": "What is the vault code?"},
    "review_many": {"verdict": "accept", "because": "the vault"},
    "context": {"query": "What is the vault code?"},
    "post_items": [{"kind": "memory", "uid": "k1", "text": THEIRS}, {"kind": "fact", "text": "x", "evidence": ["m1"]}],
    "post_import": {"kind": "memory", "uid": "k1", "text": THEIRS},
    "delete_items": {"uids": ["k1", "k2", "m1"]},
    "correct_item": {"text": THEIRS},
    "put_item": {"kind": "memory", "text": THEIRS},
    "patch_item": {"text": THEIRS},
    "post_edge": {"source": "k2", "target": "k1", "type": "BLOCKS"},
    "delete_namespace": {},
    "import_namespace": {},
    "tool_semantic_search_facts": {"queries": ["vault code"], "limit": 50},
    "tool_semantic_search_messages": {"queries": ["vault code"], "limit": 50},
    "tool_semantic_search_memories": {"queries": ["vault code"], "limit": 50},
    "tool_search_all": {"queries": ["vault code"], "limit": 50},
    "tool_relevant_memory": {"query": "What is the vault code?"},
    "tool_context": {"query": "What is the vault code?"},
    "search_agent": {
        "user_query": "What is the vault code?",
        "analyzed_info": {},
        "task": {"target_items": ["code"], "max_retries": 1},
        "stop_conditions": "",
    },
    "tool_find_evidence": {"question": "What is the vault code?", "target_items": ["code"], "max_retries": 1},
    "index_files": {"root": "/"},
    "find_file": {"name": "vault"},
    "search_text": {"query": "opens the vault"},
    "locate": {"query": "vault code"},
    "put_file": {"code": 4712},
    "tool_find_file": {"name": "vault"},
    "tool_search_text": {"query": "opens the vault"},
    "tool_locate": {"query": "vault code"},
    "post_review": {"verdict": "accept"},
    "post_sweep": {},
    "tool_sweep": {},
    "add_webhook": {"url": "https://hooks.example.com/librarian"},
    "lift_forgotten": {"uids": ["k1", "k2", "m1"]},
    "tool_impact": {"uid": "m1"},
    "tool_causes_of": {"uid": "k2"},
    "tool_effects_of": {"uid": "k1"},
    "tool_blockers_of": {"uid": "k2"},
    "tool_enablers_of": {"uid": "k2"},
    "tool_remember": {"uid": "k1", "text": THEIRS},
    "tool_correct": {"uid": "k1", "text": THEIRS},
    "tool_forget": {"uids": ["k1", "k2", "m1"]},
    "tool_link": {"source": "k2", "target": "k1", "type": "BLOCKS"},
    "tool_unlink": {"source": "k1", "target": "k2", "type": "CAUSES"},
}


@pytest.fixture
def key_for(keys):
    """Headers with a new key for everything in some namespaces, and the key's entry."""

    def make(*namespaces, **options):
        entry, secret = keys.create("test", namespaces=namespaces, scopes=["admin"], **options)
        return {"Authorization": f"Bearer {secret}"}, entry

    return make


@pytest.fixture
async def stored(ingest, client, headers):
    """Two memories, a message and a fact with evidence in the test's namespace; the id of the memories' edge."""
    await ingest(
        {"kind": "memory", "uid": "k1", "text": OURS},
        {"kind": "memory", "uid": "k2", "text": "Code 47-11 opens the vault of the bank."},
        {"kind": "message", "uid": "m1", "message_id": "m1", "text": "Remember: 47-11.", "author": "Ada"},
        {"kind": "fact", "uid": "f1", "text": "Ada knows 47-11.", "person_id": "ada", "evidence": ["m1"]},
        {"kind": "edge", "source": "k1", "target": "k2", "type": "CAUSES"},
    )
    return (await client.get("/v1/edges", headers=headers)).json()["edges"][0]["edge_id"]


def sent(client, endpoint, headers, namespace, edge_id):
    """One request of an operation, that would do something where its key opens the namespace of `stored`."""
    parts = {"namespace": namespace, "uid": "k1", "edge_id": edge_id, "review_id": edge_id, "format": "jsonl"}
    parts |= {"webhook_id": "wh_0", "sweep_id": "sweep-20260101-001", "path": "vault/code.txt"}
    path = re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], endpoint.path)
    content = json.dumps(BODIES[endpoint.operation_id]) if endpoint.body else None
    typed = {**headers, "Content-Type": "application/json"} if content else headers
    return client.request(endpoint.method, path, content=content, headers=typed)


async def contents(executor, namespace):
    """Every node of a namespace and all of its relationships."""
    found, _, _ = await executor.driver.execute_query(
        "MATCH (n {namespace: $ns}) OPTIONAL MATCH (n)-[r]-(m) "
        "WITH n, collect([type(r), properties(r), elementId(m)]) AS links "
        "RETURN properties(n) AS properties, size(links) AS count, links ORDER BY elementId(n)",
        {"ns": namespace},
    )
    return [(row["properties"], sorted(map(repr, row["links"]))) for row in found]


@pytest.mark.parametrize("endpoint", GUARDED, ids=lambda endpoint: endpoint.operation_id)
async def test_a_key_of_another_namespace_sees_and_changes_nothing(
    client, key_for, executor, namespace, stored, endpoint
):
    """It knows every id, and still no operation tells it a text or touches a node; what it stores is its own."""
    theirs, _ = key_for(f"{namespace}s")
    before = await contents(executor, namespace)
    answer = await sent(client, endpoint, theirs, namespace, stored)
    assert answer.status_code < 500, answer.text
    assert "47-11" not in answer.text
    assert f'"{namespace}"' not in answer.text
    assert await contents(executor, namespace) == before


async def test_an_expired_key_opens_no_operation(serving, keys, key_for, executor, namespace, stored):
    """The day after its last, the key that opened everything is a 401 everywhere, and nothing is changed."""
    ours, entry = key_for(namespace, expires_at=datetime.now(UTC) + timedelta(days=1))
    before = await contents(executor, namespace)
    async with serving() as client:
        assert (await client.get("/v1/items/k1", headers=ours)).status_code == 200
    content = json.loads(keys.path.read_text())
    next(key for key in content["keys"] if key["id"] == entry.id)["expires_at"] = "2020-01-01T00:00:00Z"
    keys.path.write_text(json.dumps(content))
    for start in range(0, len(GUARDED), FAILED_AUTHENTICATIONS.requests):  # more would be a 429
        async with serving() as client:
            for endpoint in GUARDED[start : start + FAILED_AUTHENTICATIONS.requests]:
                answer = await sent(client, endpoint, ours, namespace, stored)
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), endpoint.operation_id
    assert await contents(executor, namespace) == before


async def test_namespaces_that_an_analyzer_would_fold_stay_apart(client, key_for, executor, ingest):
    """`the` is a stop word, and `tenant` and `tenants` have one stem: each finds its own by meaning and by words."""
    names = ("the", "tenant", "tenants")
    uids = {name: f"only-in-{name}" for name in names}
    for name in names:
        await ingest({"kind": "memory", "uid": uids[name], "text": f"The tenants of {name} pay the rent."}, into=name)
    try:
        for name in names:
            own, _ = key_for(name)
            for query in (f"tenants of {name} pay the rent", "the", "tenants"):
                body = {"queries": [query], "limit": 50, "explain": True}
                answer = (await client.post("/v1/search", json=body, headers=own)).json()
                assert [hit["uid"] for hit in answer["results"]] == [uids[name]], (name, query)
            assert [item["uid"] for item in (await client.get("/v1/items", headers=own)).json()["items"]] == [
                uids[name]
            ]
            for other in set(names) - {name}:
                assert (await client.get(f"/v1/items/{uids[other]}", headers=own)).status_code == 404
                refused = await client.get("/v1/items", headers={**own, "Librarian-Namespace": other})
                assert refused.status_code == 403
    finally:
        await executor.driver.execute_query("MATCH (n) WHERE n.namespace IN $names DETACH DELETE n", names=list(names))


@pytest.mark.parametrize("odd", ["ferry-⛴", "a/b", "x" * 300], ids=["emoji", "slash", "300 characters"])
async def test_a_namespace_that_cannot_be_one_is_refused_with_the_rule(client, key_for, odd):
    """In the header, and in a row; even for a key that opens every namespace."""
    every, _ = key_for("*")
    answer = await client.get("/v1/items", headers={**every, "Librarian-Namespace": odd.encode()})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["field"]) == (400, "invalid_input", "Librarian-Namespace")
    assert "1 to 128 letters" in problem["detail"]
    row = {"kind": "memory", "text": "x", "namespace": odd}
    answer = await client.post("/v1/items", json=row, headers={**every, "Librarian-Namespace": "a"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "$.namespace")


async def test_deleting_beside_searching_fails_nobody(client, headers, ingest):
    """While items go one after another, every search is answered, and every hit is whole."""
    texts = {f"m{n}": f"The ferry number {n} leaves at nine." for n in range(15)}
    facts = {f"f{n}": f"The ferry number {n} is late." for n in range(15)}
    await ingest(
        *({"kind": "message", "uid": uid, "message_id": uid, "text": text} for uid, text in texts.items()),
        *({"kind": "fact", "uid": uid, "text": text, "evidence": [f"m{uid[1:]}"]} for uid, text in facts.items()),
    )
    known = texts | facts
    body = {"queries": ["ferry leaves", "late ferry"], "limit": 50}
    answers, deleted = [], asyncio.Event()

    async def searching():
        while not deleted.is_set():
            answers.append(await client.post("/v1/search", json=body, headers=headers))

    async def deleting(kind):
        for number in range(15):
            assert (await client.delete(f"/v1/items/{kind}{number}", headers=headers)).status_code == 200

    searchers = [asyncio.create_task(searching()) for _ in range(2)]
    await asyncio.gather(deleting("m"), deleting("f"))
    deleted.set()
    await asyncio.gather(*searchers)
    assert {answer.status_code for answer in answers} == {200}
    hits = list(itertools.chain.from_iterable(answer.json()["results"] for answer in answers))
    assert hits
    for hit in hits:
        assert hit["content"] == known[hit["uid"]]
        assert hit["score"] is not None
        assert all(source["content"] == texts[source["uid"]] for source in hit.get("evidence", []))
    after = (await client.post("/v1/search", json=body, headers=headers)).json()
    assert after["results"] == []


@pytest.fixture
async def three(ingest):
    """Three items."""
    await ingest(
        {"kind": "message", "uid": "ship", "text": "船は九時に出ます。"},
        {"kind": "memory", "uid": "ferry", "text": "The ferry leaves at nine. ⛴"},
        {"kind": "fact", "uid": "bread", "text": "Ada brings the bread and the cheese."},
    )


@pytest.mark.parametrize(
    ("queries", "found"),
    [
        ([f"{word} {n}" for n in range(10) for word in ("ferry", "bread")], {"ferry", "bread"}),
        (["when does the ferry leave"] * 20, {"ferry"}),
        (["the of and to a in is"], set()),
        (["⛴"], set()),
        (["😀😀😀", "🏳️‍🌈"], set()),
        (["船"], {"ship"}),
        (["船", "ferry", "the"], {"ship", "ferry"}),
    ],
    ids=["20 queries", "20 times the same", "stop words", "one emoji", "emojis", "one CJK character", "mixed"],
)
async def test_searches_that_ask_oddly_are_answered(client, headers, three, queries, found):
    """With room for 50 of three: what can be found is, each item once, and nothing is made up."""
    answer = await client.post("/v1/search", json={"queries": queries, "limit": 50}, headers=headers)
    uids = [hit["uid"] for hit in answer.json()["results"]]
    assert answer.status_code == 200
    assert found <= set(uids) <= {"ship", "ferry", "bread"}
    assert len(uids) == len(set(uids))


async def test_asking_the_same_twenty_times_ranks_as_asking_once(client, headers, three):
    """A duplicate adds no weight and no hit."""
    ranked = []
    for times in (1, 20):
        body = {"queries": ["ferry and bread"] * times}
        hits = (await client.post("/v1/search", json=body, headers=headers)).json()["results"]
        ranked.append([hit["uid"] for hit in hits])
    assert ranked[0] == ranked[1] != []
