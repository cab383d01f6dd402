"""A program written for mem0 runs as it is, and gets what mem0 gives: shapes, scopes, filters, history, errors."""

import pytest

from librarian.adapters.mem0 import Memory
from librarian.client import LibrarianClient

# Of mem0 2.2.1: `MemoryItem` in mem0/configs/base.py, with the fields that `get` and `search` promote.
ITEM = {"id", "memory", "hash", "metadata", "score", "created_at", "updated_at"}
CHANGE = {"id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at", "is_deleted"} | {
    "actor_id",
    "role",
}


@pytest.fixture
def memory(service, namespace):
    with Memory(namespace, **service.access) as memory:
        yield memory


@pytest.fixture
def filled(memory):
    """Two users, an agent and a run."""
    memory.add("I like window seats", user_id="ada", metadata={"category": "travel", "rank": 3})
    memory.add("I am allergic to peanuts", user_id="ada", run_id="r1", metadata={"category": "health", "rank": 1})
    memory.add("I like aisle seats", user_id="bob", metadata={"category": "travel"})
    memory.add("Tickets are booked on Mondays", agent_id="booker")
    return memory


def texts(answer):
    return {each["memory"] for each in answer["results"]}


def test_add_keeps_each_message(memory):
    """But the system's, and what is no message."""
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I moved to Porto.", "name": "Ada"},
        {"role": "assistant", "content": "Noted."},
        {"role": "user"},
    ]
    results = memory.add(said, user_id="ada", metadata={"user_id": "somebody else", "topic": "home"})["results"]
    assert [{**each, "id": ""} for each in results] == [
        {"id": "", "memory": "I moved to Porto.", "event": "ADD", "actor_id": "Ada", "role": "user"},
        {"id": "", "memory": "Noted.", "event": "ADD", "actor_id": None, "role": "assistant"},
    ]
    kept = memory.get(results[0]["id"])
    assert set(kept) == ITEM | {"user_id", "actor_id", "role"}
    assert (kept["user_id"], kept["actor_id"], kept["metadata"]) == ("ada", "Ada", {"topic": "home"})
    assert memory.get("no-such-memory") is None


def test_scopes_keep_memories_apart(filled):
    """In `filters`, and at the top as in older programs; several narrow each other."""
    assert texts(filled.get_all(filters={"user_id": "ada"})) == {"I like window seats", "I am allergic to peanuts"}
    assert texts(filled.get_all(user_id="ada", run_id="r1")) == {"I am allergic to peanuts"}
    assert texts(filled.get_all(filters={"agent_id": "booker"})) == {"Tickets are booked on Mondays"}
    assert len(filled.get_all(filters={"user_id": "ada"}, top_k=1)["results"]) == 1
    assert "score" not in filled.get_all(filters={"user_id": "ada"})["results"][0]
    assert texts(filled.search("seats", filters={"user_id": "ada"})) == {"I like window seats"}


def test_search_finds_by_meaning(filled, service):
    """With a score, and metadata as it was given."""
    service.encode()
    best = filled.search("food allergy", filters={"user_id": "ada"}, top_k=1)["results"][0]
    assert (best["memory"], best["metadata"]) == ("I am allergic to peanuts", {"category": "health", "rank": 1})
    assert 0.1 <= best["score"] <= 1
    assert filled.search("food allergy", filters={"user_id": "ada"}, threshold=1.0)["results"] == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"category": "travel"}, 1),
        ({"category": {"ne": "travel"}}, 1),
        ({"rank": {"gte": 1, "lt": 3}}, 1),
        ({"category": {"in": ["travel", "health"]}}, 2),
        ({"category": {"nin": ["travel"]}}, 1),
        ({"category": {"icontains": "TRAV"}}, 1),
        ({"category": "*"}, 2),
        ({"missing": "*"}, 0),
        ({"OR": [{"category": "travel"}, {"rank": 1}]}, 2),
        ({"AND": [{"category": "travel"}, {"rank": 1}]}, 0),
        ({"NOT": [{"category": "travel"}]}, 1),
    ],
    ids=str,
)
def test_filters(filled, filters, found):
    assert len(filled.get_all(filters={"user_id": "ada", **filters})["results"]) == found


def test_a_memory_changes_and_tells_how(memory):
    """Text, metadata and expiry; scopes stay. What was deleted may be added again."""
    uid = memory.add("I live in Lisbon", user_id="ada", metadata={"topic": "home"})["results"][0]["id"]
    assert memory.update(uid, "I live in Porto", metadata={"sure": True, "user_id": "bob"}) == {
        "message": "Memory updated successfully!"
    }
    kept = memory.get(uid)
    assert (kept["memory"], kept["user_id"], kept["metadata"]) == (
        "I live in Porto", "ada", {"topic": "home", "sure": True},
    )  # fmt: skip
    changes = memory.history(uid)
    assert [set(change) for change in changes] == [CHANGE, CHANGE]
    assert [(change["event"], change["old_memory"], change["new_memory"]) for change in changes] == [
        ("ADD", None, "I live in Lisbon"),
        ("UPDATE", "I live in Lisbon", "I live in Porto"),
    ]
    memory.update(uid, expiration_date="2020-01-01")
    assert memory.get_all(filters={"user_id": "ada"})["results"] == []
    assert texts(memory.get_all(filters={"user_id": "ada"}, show_expired=True)) == {"I live in Porto"}
    assert memory.delete(uid) == {"message": "Memory deleted successfully!"}
    assert (memory.get(uid), memory.history(uid)) == (None, [])
    memory.add("I live in Porto", user_id="ada")
    assert texts(memory.get_all(filters={"user_id": "ada"})) == {"I live in Porto"}


def test_delete_all_of_a_scope(filled):
    assert filled.delete_all(user_id="ada") == {"message": "Memories deleted successfully!"}
    assert filled.get_all(filters={"user_id": "ada"})["results"] == []
    assert texts(filled.get_all(filters={"user_id": "bob"})) == {"I like aisle seats"}


def test_what_it_refuses(memory):
    """As mem0 does: a call without a scope, and an unknown memory."""
    memory.add("I like tea", user_id="ada")
    for call in (
        lambda: memory.add("x"),
        lambda: memory.search("x"),
        memory.get_all,
        memory.delete_all,
        lambda: memory.add("x", user_id=" "),
        lambda: memory.update("none", "x"),
        lambda: memory.update("none"),
        lambda: memory.delete("none"),
        lambda: memory.get_all(filters={"user_id": "ada", "rank": {"near": 1}}),
    ):
        with pytest.raises(ValueError, match=r"."):
            call()


def test_memories_of_an_import_are_there(memory, service, namespace):
    """Memories that `librarian import` made of mem0's own export have its scopes and metadata in their tags."""
    row = {"kind": "memory", "uid": "mem0-1", "text": "I like tea", "tags": ["user:ada", "topic:drinks"], "agent": "a"}
    with LibrarianClient(**service.access) as client:
        client.ingest([row], namespace=namespace)
    (found,) = memory.get_all(filters={"user_id": "ada", "topic": "drinks"})["results"]
    assert (found["user_id"], found["agent_id"], found["metadata"]) == ("ada", "a", {"topic": "drinks"})
