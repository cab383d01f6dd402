"""The hits of a search: those that answer, and those that held at the time that is asked for."""

from typing import Any

import msgspec
import pytest

from librarian.app import Librarian
from librarian.search.contracts import SearchInput

ROWS = [
    {
        "kind": "fact",
        "uid": "oslo",
        "text": "Tomas lives in Oslo.",
        "subject": "Tomas",
        "predicate": "lives in",
        "object": "Oslo",
        "valid_from": "2015-01-01T00:00:00Z",
        "valid_to": "2020-01-01T00:00:00Z",
    },
    {
        "kind": "fact",
        "uid": "bergen",
        "text": "Tomas lives in Bergen.",
        "subject": "Tomas",
        "predicate": "lives in",
        "object": "Bergen",
        "valid_from": "2020-01-01T00:00:00Z",
    },
    {
        "kind": "message",
        "uid": "outage",
        "message_id": "1",
        "conversation_id": "outage",
        "author": "Mia",
        "text": "The new bundle holds an expression that old browsers cannot parse.",
        "sent_at": "2026-04-16T09:00:00Z",
    },
]
HOME = "Where does Tomas live?"


async def found(librarian: Librarian, namespace: str, query: str, **fields: Any) -> list[str]:
    """The uids of the hits, best first."""
    wanted = msgspec.convert({"queries": [query], **fields}, SearchInput)
    return [hit.uid for hit in (await librarian.search(namespace, wanted)).results]


async def test_a_fact_that_has_ended_is_no_hit_where_another_holds(
    ingest: Any, librarian: Librarian, namespace: str
) -> None:
    """Whoever asks for the past, or as of a day, gets what held then."""
    await ingest(*ROWS)
    hits = await found(librarian, namespace, HOME)
    assert (hits[0], "oslo" in hits) == ("bergen", False)
    assert "oslo" in await found(librarian, namespace, "Where did Tomas live originally?")
    then = await found(librarian, namespace, HOME, filters={"as_of": "2018-06-01T00:00:00Z"})
    assert (then[0], "bergen" in then) == ("oslo", False)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (HOME, ["bergen"]),
        ("How old is Tomas, and where does he live?", ["bergen"]),
        ("Where did Tomas live in 2018?", ["oslo", "bergen"]),
        ("2018年にTomasはどこに住んでいましたか？", ["oslo", "bergen"]),
        ("Where did Tomas live originally?", ["oslo", "bergen"]),
        ("Where did Tomas live in 2022?", ["bergen"]),
    ],
)
async def test_a_question_about_the_past_finds_the_superseded_facts_of_that_time(
    query: str, expected: list[str], ingest: Any, librarian: Librarian, namespace: str
) -> None:
    """What held then comes first; a superseded fact of another time is no hit."""
    oslo, bergen, _ = ROWS
    await ingest({**oslo, "valid_to": None}, {**bergen, "supersedes": ["oslo"]})
    assert await found(librarian, namespace, query, filters={"kinds": ["fact"]}) == expected


@pytest.mark.parametrize("threshold", [None, 0.99])
async def test_a_question_about_something_else_finds_nothing(
    ingest: Any, librarian: Librarian, namespace: str, threshold: float | None
) -> None:
    """In English, and in Japanese, where no threshold can judge."""
    await ingest(*ROWS)
    fields = {} if threshold is None else {"similarity_threshold": threshold}
    assert await found(librarian, namespace, "What is the melting point of tungsten?", **fields) == []
    assert await found(librarian, namespace, "日本で一番高い山は何ですか？", **fields) == []


@pytest.mark.parametrize("query", ["…", "?!", "。。。", " \u200b "])
async def test_a_query_without_a_word_finds_nothing(
    query: str, ingest: Any, librarian: Librarian, namespace: str
) -> None:
    """Its vector is near to any text; an emoji says something."""
    await ingest(*ROWS, {"kind": "memory", "uid": "bread", "text": "🍞🥐"})
    assert await found(librarian, namespace, query) == []
    assert "bread" in await found(librarian, namespace, "🍞🥐")


async def test_within_a_conversation_a_question_need_not_say_what_it_is_about(
    ingest: Any, librarian: Librarian, namespace: str
) -> None:
    """The filter says so."""
    await ingest(*ROWS)
    within = {"filters": {"conversation_id": "outage"}}
    assert await found(librarian, namespace, "And what was that, in the end?", **within) == ["outage"]
