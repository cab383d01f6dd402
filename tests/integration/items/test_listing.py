"""Listing: each matching item once, in one order, page after page."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from librarian.app import Librarian
from librarian.base.errors import InvalidInput
from librarian.causal.contracts import CausalInput
from librarian.items.contracts import Filters, ItemQuery
from librarian.search.contracts import SearchInput

NAMESPACE = "listed"
DAYS = [f"2026-03-0{day}T00:00:00Z" for day in range(1, 6)]
ROWS: list[dict[str, Any]] = [
    *({"kind": "message", "uid": f"m{n:02}", "author": ["Ada", "Bo"][n % 2], "conversation_id": f"c{n % 3}",
       "session_id": f"s{n % 4}", "text": f"turn {n}", **({"sent_at": DAYS[n % 5]} if n % 7 else {})}
      for n in range(40)),
    *({"kind": "memory", "uid": f"k{n:02}", "text": f"memory {n}", "agent": f"a{n % 2}", "domain": f"d{n % 3}",
       "tags": ["x", "y", "z"][: n % 4], **({"type": ["Decision", "Problem"][n % 2]} if n % 5 else {})}
      for n in range(30)),
    *({"kind": "fact", "uid": f"f{n:02}", "text": f"fact {n}", "person_id": f"p{n % 3}", "valid_from": DAYS[n % 5],
       **({"valid_to": "2026-03-06T00:00:00Z"} if n % 4 == 0 else {})} for n in range(20)),
]  # fmt: skip
_FILTERS = {
    "kinds": st.lists(
        st.sampled_from(["message", "fact", "memory", "file_chunk"]), min_size=1, max_size=3, unique=True
    ),
    "types": st.sampled_from([["Decision"], ["Decision", "Problem"], ["Insight"]]),
    "authors": st.sampled_from([["Ada"], ["Ada", "Bo"]]),
    "conversation_id": st.sampled_from(["c0", "c1"]),
    "session_id": st.sampled_from(["s0", "s3"]),
    "person_id": st.sampled_from(["p0", "p2"]),
    "domain": st.sampled_from(["d0", "d1"]),
    "tags": st.sampled_from([["x"], ["x", "y"]]),
    "agent": st.sampled_from(["a0", "a1"]),
    "occurred_from": st.sampled_from(DAYS),
    "occurred_to": st.sampled_from(DAYS),
    "as_of": st.sampled_from([*DAYS, "2026-03-07T00:00:00Z"]),
}


def matches(row: dict[str, Any], query: dict[str, Any]) -> bool:
    """The meaning of the filters, read off the rows."""
    when = row.get("sent_at") or row.get("valid_from")
    equal = ("conversation_id", "session_id", "person_id", "domain", "agent")
    return all(
        (
            row["kind"] in query.get("kinds", [row["kind"]]),
            "types" not in query or row.get("type") in query["types"],
            "authors" not in query or row.get("author") in query["authors"],
            all(name not in query or row.get(name) == query[name] for name in equal),
            set(query.get("tags", [])) <= set(row.get("tags", [])),
            "occurred_from" not in query or (when is not None and when >= query["occurred_from"]),
            "occurred_to" not in query or when is None or when <= query["occurred_to"],
            "as_of" not in query or when is None or when <= query["as_of"] < row.get("valid_to", "9999"),
        )
    )  # fmt: skip


async def pages(librarian: Librarian, namespace: str, query: dict[str, Any]) -> list[list[str]]:
    found, cursor = [], None
    while len(found) <= len(ROWS):
        page = await librarian.list_items(namespace, msgspec.convert({**query, "cursor": cursor}, ItemQuery))
        found.append([item.uid for item in page.items])
        if (cursor := page.next_cursor) is None:
            return found
    raise AssertionError("more pages than items: the listing goes round in circles")


@pytest.fixture(scope="module")
async def listed(librarian: Librarian) -> Librarian:
    """The rows in three batches, whose items have one time each, and the same uids in another namespace."""

    async def store(namespace: str, rows: list[dict[str, Any]]) -> None:
        async def lines() -> Any:
            for number, row in enumerate(rows, start=1):
                yield number, msgspec.json.encode(row)

        assert (await librarian.ingest(lines(), namespace=namespace)).failed == 0

    for start in range(0, len(ROWS), 30):
        await store(NAMESPACE, ROWS[start : start + 30])
    await store(f"{NAMESPACE}-too", ROWS)
    return librarian


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    filters=st.fixed_dictionaries({}, optional=_FILTERS),
    order=st.sampled_from(["newest", "oldest"]),
    limit=st.sampled_from([7, 29, 30, 31, 100]),
)
@example(filters={}, order="newest", limit=1)
@example(filters={"kinds": ["fact"]}, order="oldest", limit=2)
async def test_every_matching_item_comes_once_and_in_order(listed, filters, order, limit):
    """All pages together are what a filter over the rows gives, by batch and then uid; only the last is not full."""
    assume(filters.get("occurred_from", "") <= filters.get("occurred_to", "9999"))
    batches = [sorted(row["uid"] for row in ROWS[at : at + 30] if matches(row, filters)) for at in (0, 30, 60)]
    expected = [uid for batch in batches for uid in batch]
    found = await pages(listed, NAMESPACE, {**filters, "order": order, "limit": limit})
    assert [uid for page in found for uid in page] == (expected if order == "oldest" else expected[::-1])
    assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)


async def test_times_finer_than_pythons_skip_nothing(librarian, executor, ingest, namespace):
    """Items a nanosecond apart, and in several zones, are listed one by one across page borders."""
    await ingest(*({"kind": "memory", "uid": f"k{n}", "text": f"memory {n}"} for n in range(6)), embed=False)
    times = [f"2026-03-01T00:00:00.123456{n:03}Z" for n in (1, 2, 999)]
    times += ["2026-03-01T09:00:00.123457+09:00[Asia/Tokyo]", "2026-03-01T01:00:00.123457001+01:00"]
    await executor.driver.execute_query(
        "UNWIND range(0, 4) AS n MATCH (m:Item {namespace: $ns, uid: 'k' + n}) SET m.created_at = datetime($times[n])",
        {"ns": namespace, "times": times},
    )
    for limit in (1, 2, 5):
        for order, expected in (("oldest", "012345"), ("newest", "543210")):
            found = await pages(librarian, namespace, {"order": order, "limit": limit})
            assert "".join(uid[1] for page in found for uid in page) == expected


async def test_the_latest_are_those_that_happened_last(librarian, ingest, namespace):
    """Whenever they were stored; what has no time of its own happened when it was stored."""
    times = ["2026-03-03T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-02T00:00:00Z", None]
    rows = [{"kind": "memory", "uid": f"k{n}", "text": f"memory {n}"} for n in range(5)]
    await ingest(*({**row, "occurred_at": at} if at else row for row, at in zip(rows, times, strict=True)), embed=False)
    for limit in (1, 2, 5):
        found = await pages(librarian, namespace, {"order": "latest", "limit": limit})
        assert [uid for page in found for uid in page] == ["k4", "k0", "k3", "k2", "k1"]


async def test_superseded_facts_are_listed_unless_a_time_is_asked_for(librarian, ingest, namespace):
    """A listing shows what is stored; as_of what held then."""
    await ingest(
        {"kind": "fact", "uid": "old", "text": "x", "valid_from": "2026-01-01T00:00:00Z"},
        {"kind": "fact", "uid": "new", "text": "y", "valid_from": "2026-03-01T00:00:00Z", "supersedes": ["old"]},
        embed=False,
    )

    async def uids(query: ItemQuery) -> list[str]:
        return [item.uid for item in (await librarian.list_items(namespace, query)).items]

    assert await uids(ItemQuery(order="oldest")) == ["new", "old"]
    assert await uids(ItemQuery(as_of=datetime(2026, 2, 1, tzinfo=UTC))) == ["old"]


async def test_an_item_of_a_listing_is_the_item(listed):
    """With properties, version and evidence, as when it is asked for by uid."""
    page = await listed.list_items(NAMESPACE, ItemQuery(kinds=["memory"], limit=3))
    for item in page.items:
        assert item == await listed.get_item(NAMESPACE, item.uid)


async def test_what_is_added_meanwhile_disturbs_nothing(librarian, ingest, namespace):
    """New items do not shift the pages that follow."""
    await ingest(*({"kind": "memory", "uid": f"k{n}", "text": f"memory {n}"} for n in range(4)), embed=False)
    first = await librarian.list_items(namespace, ItemQuery(limit=2))
    await ingest({"kind": "memory", "uid": "late", "text": "late"}, embed=False)
    second = await librarian.list_items(namespace, ItemQuery(limit=2, cursor=first.next_cursor))
    assert [item.uid for item in (*first.items, *second.items)] == ["k3", "k2", "k1", "k0"]


async def test_a_cursor_belongs_to_its_query(listed):
    """With another filter or order it is refused; with another limit it goes on."""
    first = await listed.list_items(NAMESPACE, ItemQuery(limit=2, kinds=["memory"]))
    assert (await listed.list_items(NAMESPACE, ItemQuery(limit=9, kinds=["memory"], cursor=first.next_cursor))).items
    for query in (
        ItemQuery(kinds=["fact"], cursor=first.next_cursor),
        ItemQuery(kinds=["memory"], order="oldest", cursor=first.next_cursor),
        ItemQuery(kinds=["memory"], cursor="nonsense"),
    ):
        with pytest.raises(InvalidInput) as caught:
            await listed.list_items(NAMESPACE, query)
        assert caught.value.field == "$.cursor"


async def test_a_cursor_belongs_to_its_namespace(listed):
    """In another namespace it is refused, though the same items are there."""
    first = await listed.list_items(NAMESPACE, ItemQuery(limit=2))
    with pytest.raises(InvalidInput, match="another namespace"):
        await listed.list_items(f"{NAMESPACE}-too", ItemQuery(limit=2, cursor=first.next_cursor))


async def test_a_period_that_ends_before_it_begins_is_refused(listed):
    """Its list would be empty whatever is stored; one moment is a period."""
    first, last = (datetime(2026, 3, day, tzinfo=UTC) for day in (2, 1))
    with pytest.raises(InvalidInput, match=r"occurred_to \(2026-03-01.*earlier than occurred_from") as caught:
        await listed.list_items(NAMESPACE, ItemQuery(occurred_from=first, occurred_to=last))
    assert (caught.value.field, caught.value.remedy) == ("$.occurred_to", "Exchange them, or leave one out.")
    with pytest.raises(InvalidInput) as caught:
        await listed.search(
            NAMESPACE, SearchInput(queries=["turn"], filters=Filters(occurred_from=first, occurred_to=last))
        )
    assert caught.value.field == "$.filters.occurred_to"
    with pytest.raises(InvalidInput) as caught:
        await listed.effects_of(NAMESPACE, CausalInput(uid="m01", occurred_from=first, occurred_to=last))
    assert caught.value.field == "$.occurred_to"
    assert (await listed.list_items(NAMESPACE, ItemQuery(occurred_from=last, occurred_to=last))).items
