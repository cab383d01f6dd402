"""One tenant learns nothing of another: neither by a moment that it asks for, nor by the time of an answer."""

import statistics
import time

import pytest

PAIRS = 60
THEN = "2026-02-01T00:00:00Z"


@pytest.fixture
async def theirs(librarian, ingest, namespace):
    """A namespace of somebody else, with a fact that was corrected and the message that stated it; and one of ours."""
    other = f"{namespace}-other"
    said = {"subject": "Ana", "predicate": "lives in"}
    await ingest(
        {"kind": "message", "uid": "theirs-said", "namespace": other, "text": "Ana lives in Oslo.",
         "sent_at": "2026-01-01T00:00:00Z"},
        {"kind": "fact", "uid": "theirs-old", "namespace": other, **said, "object": "Oslo",
         "valid_from": "2026-01-01T00:00:00Z", "evidence": ["theirs-said"]},
        {"kind": "fact", "uid": "theirs-new", "namespace": other, **said, "object": "Bern",
         "valid_from": "2026-03-01T00:00:00Z"},
        {"kind": "fact", "uid": "ours", **said, "object": "Turin", "valid_from": "2026-01-01T00:00:00Z"},
        any_namespace=True,
    )  # fmt: skip
    return other


@pytest.mark.parametrize("clock", ["as_of", "known_at"])
async def test_a_moment_leads_to_nobody_else_s_items(client, headers, theirs, clock):
    """Neither in searches nor in lists, whichever clock is asked."""
    moment = THEN if clock == "as_of" else "2100-01-01T00:00:00Z"
    found = await client.post(
        "/v1/search", json={"queries": ["Ana lives in"], "limit": 50, "filters": {clock: moment}}, headers=headers
    )
    listed = await client.get("/v1/items", params={clock: moment}, headers=headers)
    assert [hit["uid"] for hit in found.json()["results"]] == ["ours"]
    assert [item["uid"] for item in listed.json()["items"]] == ["ours"]
    for uid in ("theirs-old", "none"):
        answer = await client.get(f"/v1/items/{uid}", params={clock: moment}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_an_uid_of_somebody_else_takes_as_long_as_none(client, headers, theirs):
    """Asked in turn, now the one and now the other first, so that whatever else the machine does slows both; the median
    of the differences is small beside what an answer takes.
    """
    uids, took = ["theirs-old", "theirs-xxx"], {"theirs-old": [], "theirs-xxx": []}
    for _ in range(PAIRS):
        for uid in uids:
            started = time.perf_counter()
            assert (await client.get(f"/v1/items/{uid}", headers=headers)).status_code == 404
            took[uid].append(time.perf_counter() - started)
        uids.reverse()
    differences = [one - other for one, other in zip(*took.values(), strict=True)]
    assert abs(statistics.median(differences)) < 0.25 * statistics.median(took["theirs-xxx"]), took
