"""The store does what LangGraph's own store in memory does, and finds by meaning what that one cannot."""

import asyncio
import time

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from typing_extensions import TypedDict

from librarian.adapters.langgraph import LibrarianStore
from librarian.client import ApiError, LibrarianClient

VALUES = [
    (("test", "documents", "public"), "a", {"title": "First", "author": "Alice", "rank": 1, "open": True}),
    (("test", "documents", "private"), "b", {"title": "Second", "author": "Bob", "rank": 2.5, "tags": ["x", "y"]}),
    (("test", "images", "public"), "c", {"title": "Third", "author": "Alice", "rank": 3, "of": {"width": 4, "x": 1}}),
    (("production", "documents"), "d", {"title": "Fourth", "rank": None}),
    (("test", "documents"), "with a space/and slash", {"text": "same words"}),
    (("test", "documents"), "twin", {"text": "same words"}),
]  # fmt: skip
SEARCHES = [
    SearchOp((), limit=100),
    SearchOp(("test",), limit=100),
    SearchOp(("test", "documents"), limit=100),
    SearchOp(("tes",)),
    SearchOp((), {"author": "Alice"}),
    SearchOp(("test", "images"), {"author": "Alice", "rank": 3}),
    SearchOp((), {"rank": 3.0}),
    SearchOp(("test", "images"), {"rank": {"$gt": 1}}),
    SearchOp(("test", "documents", "public"), {"rank": {"$gte": 1, "$lt": 3}}),
    SearchOp(("test", "documents", "public"), {"rank": {"$lte": 0.5}}),
    SearchOp((), {"author": {"$ne": "Alice"}}, 100),
    SearchOp((), {"author": {"$eq": "Bob"}}),
    SearchOp((), {"of": {"width": 4}}),
    SearchOp((), {"tags": ["x", "y"]}),
    SearchOp((), {"tags": ["x"]}),
    SearchOp((), {"open": True}),
    SearchOp((), {"missing": "x"}),
]
LISTINGS = [
    ListNamespacesOp(),
    ListNamespacesOp(max_depth=1),
    ListNamespacesOp(max_depth=2, limit=2, offset=1),
    ListNamespacesOp((MatchCondition("prefix", ("test",)),)),
    ListNamespacesOp((MatchCondition("suffix", ("public",)),)),
    ListNamespacesOp((MatchCondition("prefix", ("test", "*")), MatchCondition("suffix", ("*", "public")))),
    ListNamespacesOp((MatchCondition("prefix", ("nowhere",)),)),
]


@pytest.fixture
def store(service, namespace):
    store = LibrarianStore(namespace, **service.access)
    yield store
    store.close()


def plain(result):
    """Return the common contents of two stores: times are their own, and so is the order of a listing."""
    if isinstance(result, list):
        return sorted(map(plain, result), key=repr)
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


def test_it_agrees_with_the_store_in_memory(store):
    """Every filter, prefix, condition and page, over values of all shapes, before and after changes and deletions."""
    reference = InMemoryStore()
    changes = [
        [PutOp(*value) for value in VALUES],
        [PutOp(("test", "documents"), "twin", {"text": "other words"}), PutOp(("production", "documents"), "d", None)],
        [PutOp(("production", "documents"), "d", VALUES[3][2]), PutOp(("nowhere", "at"), "all", None)],
    ]
    gets = [GetOp(namespace, key) for namespace, key, _ in VALUES] + [GetOp(("test",), "a"), GetOp(("x",), "a")]
    for puts in changes:
        assert store.batch(puts) == reference.batch(puts) == [None] * len(puts)
        assert [*map(plain, store.batch(gets))] == [*map(plain, reference.batch(gets))]
        assert [*map(plain, store.batch(SEARCHES))] == [*map(plain, reference.batch(SEARCHES))]
        # The reference goes on listing a namespace from which everything was deleted.
        for empty in [namespace for namespace, items in reference._data.items() if not items]:
            del reference._data[empty]
        assert store.batch(LISTINGS) == reference.batch(LISTINGS)


def test_what_is_no_number_is_neither_less_nor_greater(store):
    """A comparison leaves out an item that lacks the field, as a database does."""
    store.batch([PutOp(("n",), key, {"rank": rank}) for key, rank in (("a", 1), ("b", None), ("c", "high"))])
    assert [item.key for item in store.search(("n",), filter={"rank": {"$gt": 0}})] == ["a"]
    assert {item.key for item in store.search(("n",), filter={"rank": {"$ne": 1}})} == {"b", "c"}


def test_a_page_of_a_listing_goes_on_where_the_one_before_ended(store):
    store.batch([PutOp(("numbers",), str(number), {"number": number}) for number in range(7)])
    pages = [store.search(("numbers",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert {item.value["number"] for page in pages for item in page} == set(range(7))
    assert len(store.list_namespaces(max_depth=1, limit=1)) == 1


def test_times_and_versions(store):
    """An item keeps when it was created; putting the same again changes nothing, another value the time of change."""
    store.put(("n",), "k", {"text": "one"})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"text": "one"})
    assert store.get(("n",), "k") == first
    store.put(("n",), "k", {"text": "two"})
    second = store.get(("n",), "k")
    assert (second.value, second.created_at) == ({"text": "two"}, first.created_at)
    assert second.updated_at > first.updated_at
    (found,) = store.search(("n",), query="two")
    assert (found.created_at, found.updated_at) == (second.created_at, second.updated_at)


def test_an_item_expires(store, service, namespace):
    """After its minutes it is gone for every operation; reading puts that off where it is asked to."""
    store.put(("n",), "short", {"text": "platform nine"}, ttl=1.5 / 60)
    store.put(("n",), "long", {"text": "platform ten"}, ttl=60)
    store.put(("n",), "for ever", {"text": "platform eleven"})
    keys = {"short", "long", "for ever"}
    assert {item.key for item in store.search(("n",))} == keys
    store.get(("n",), "long", refresh_ttl=True)
    time.sleep(1.6)
    assert store.get(("n",), "short") is None
    assert {item.key for item in store.search(("n",))} == keys - {"short"}
    assert {item.key for item in store.search(("n",), query="platform")} == keys - {"short"}
    assert store.get(("n",), "long").value == {"text": "platform ten"}
    store.put(("n",), "short", {"text": "platform nine"})
    assert store.get(("n",), "short").value == {"text": "platform nine"}
    with LibrarianStore(namespace, ttl={"default_ttl": 0.001}, **service.access) as fleeting:
        fleeting.put(("n",), "default", {"text": "gone"})
        time.sleep(0.1)
        assert fleeting.get(("n",), "default") is None


def test_it_finds_by_meaning_below_a_prefix(store, service):
    """Ranked by a real encoder, with a score; equal texts under two keys are two items; a filter holds for all hits."""
    store.put(("users", "ada"), "1", {"text": "Ada cannot eat peanuts", "kind": "health"})
    store.put(("users", "ada"), "2", {"text": "The quarterly report is due on Friday", "kind": "work"})
    store.put(("users", "bob"), "1", {"text": "Ada cannot eat peanuts", "kind": "health"})
    store.put(("teams",), "1", {"text": "Peanut allergies are common", "kind": "health"})
    service.encode()
    found = store.search(("users",), query="food allergy of Ada", limit=2)
    assert [(hit.namespace, hit.key) for hit in found if hit.value["kind"] == "health"] != []
    assert sorted(hit.namespace for hit in found) == [("users", "ada"), ("users", "bob")]
    assert all(0 < hit.score <= 1 for hit in found)
    assert [hit.key for hit in store.search(("users", "ada"), query="peanuts", filter={"kind": "work"})] in ([], ["2"])


def test_only_chosen_fields_are_searched(store):
    """`index` of a put names the fields; without an index the item is found by its key alone."""
    store.put(("n",), "k1", {"seen": "rhubarb", "unseen": "turnip"}, index=["seen"])
    store.put(("n",), "k2", {"seen": "turnip"}, index=False)
    assert [hit.key for hit in store.search(("n",), query="rhubarb")] == ["k1"]
    assert [hit.key for hit in store.search(("n",), query="turnip")] == []
    assert store.get(("n",), "k2").value == {"seen": "turnip"}


async def test_many_asynchronous_operations_at_once(service, namespace):
    """They share the loop's client; a batch of several kinds gives each its result."""
    store = LibrarianStore(namespace, **service.access)
    await asyncio.gather(*(store.aput(("n",), str(number), {"number": number}) for number in range(10)))
    got, absent, searched, listed, put = await store.abatch(
        [
            GetOp(("n",), "3"),
            GetOp(("n",), "10"),
            SearchOp(("n",), {"number": {"$lt": 3}}),
            ListNamespacesOp(),
            PutOp(("m",), "1", {"text": "one"}),
        ]
    )
    assert (got.value, absent, len(searched), listed, put) == ({"number": 3}, None, 3, [("n",)], None)
    await store.adelete(("n",), "3")
    assert await store.aget(("n",), "3") is None
    await store.aclose()


def test_what_it_refuses(store, service, namespace):
    """In words that name the fault; what a person forgot is not put again, and nothing of that batch is stored."""
    with pytest.raises(InvalidNamespaceError):
        store.batch([GetOp(("a.b",), "k")])
    store.put(("n",), "k", {"rank": 1})
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("n",), filter={"rank": {"$near": 1}})
    with LibrarianClient(**service.access) as client:
        (item,) = client.list_items(namespace, {"limit": 1}).items
        client.delete_item(namespace, item.uid)
    with pytest.raises(ApiError, match="forgotten") as refused:
        store.put(("n",), "k", {"rank": 1})
    assert refused.value.code == "item_forgotten"


def test_a_graph_keeps_what_it_learns(store):
    """In LangGraph itself: one run puts, another finds."""

    class State(TypedDict):
        said: str
        known: list[str]

    def learn(state: State, runtime: Runtime) -> dict[str, list[str]]:
        known = [item.value["text"] for item in runtime.store.search(("users", "ada"), query=state["said"])]
        runtime.store.put(("users", "ada"), state["said"], {"text": state["said"]})
        return {"known": known}

    builder = StateGraph(State)
    builder.add_node("learn", learn)
    builder.add_edge(START, "learn")
    graph = builder.compile(store=store)
    assert graph.invoke({"said": "Ada prefers window seats", "known": []})["known"] == []
    assert graph.invoke({"said": "window seats", "known": []})["known"] == ["Ada prefers window seats"]
