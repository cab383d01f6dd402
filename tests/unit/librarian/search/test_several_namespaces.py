"""Rankings of several namespaces become one, by what compares between them."""

import pytest

from librarian.search.contracts import Hit, SearchInput, SearchOutput
from librarian.search.several import merged, search_several


def answer(namespace, *similarities, reranked=False, arms=None, notes=()):
    hits = [
        Hit(
            uid=f"{namespace}{place}", kind="memory", score=1.0, content="", evidence=[],
            similarity_score=similarity, rerank_score=similarity if reranked else None,
        )
        for place, similarity in enumerate(similarities)
    ]  # fmt: skip
    return SearchOutput(
        namespace=namespace, queries=["x"], results=hits, arms=arms or {"vector": "ok"}, reranked=reranked,
        notes=list(notes),
    )  # fmt: skip


def order(*found, limit=10):
    return [hit.uid for hit in merged("own", found, limit).results]


def test_the_better_of_what_comes_next_stands_first():
    assert order(answer("a", 0.9, 0.5), answer("b", 0.7, 0.6), limit=3) == ["a0", "b0", "b1"]


def test_the_order_within_a_namespace_stays():
    """A hit that a namespace put above a similar text counts as much as that: words or time spoke for it."""
    assert order(answer("a", 0.2, 0.8), answer("b", 0.7)) == ["a0", "a1", "b0"]
    assert order(answer("a", None, 0.3), answer("b", 0.7)) == ["b0", "a0", "a1"]


def test_a_reranker_decides_only_where_it_ordered_all():
    one, other = answer("a", 0.4, reranked=True), answer("b", 0.6, reranked=True)
    assert merged("own", [one, other], 5).reranked
    assert not merged("own", [one, answer("b", 0.6)], 5).reranked


def test_each_hit_and_each_note_tells_where_it_is_from():
    found = merged("own", [answer("a", 0.9), answer("b", arms={"vector": "failed: gone"}, notes=["slow"])], 5)
    assert (found.namespace, found.results[0].namespace) == ("own", "a")
    assert (found.arms, found.notes) == ({"vector": "failed: gone (b)"}, ["b: slow"])


async def test_each_namespace_is_searched_once_and_alone():
    asked = []

    async def find(namespace, query):
        asked.append((namespace, query.namespaces, query.limit))
        return answer(namespace, 0.5)

    await search_several(find, "own", SearchInput(queries=["x"], limit=3, namespaces=["b", "a", "b"]))
    assert asked == [("b", None, 3), ("a", None, 3)]


@pytest.mark.parametrize(("named", "status"), [(["a", "app:x"], 503), (["a", "b"], 403)])
async def test_a_key_searches_only_what_it_opens(client, key_for, named, status):
    """Without a graph, what is allowed gets as far as that."""
    headers = {**key_for("read", "a", "app:*"), "Librarian-Namespace": "a"}
    answered = await client.post("/v1/search", json={"queries": ["x"], "namespaces": named}, headers=headers)
    assert answered.status_code == status
    if status == 403:
        assert "'b'" in answered.json()["detail"]
