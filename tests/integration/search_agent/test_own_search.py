"""The search agent over what is kept, where no Professor is configured: the same port, stable ids on our side."""

import httpx
import pytest

from librarian.agent.contracts import FindEvidenceInput
from librarian.base.settings.values import Rate

PATH = "/v1/librarian/search-agent"
NOTES = {
    "definition": "決定係数 R2 とは、回帰モデルの当てはまりの良さを表す指標の定義である。",
    "formula": "決定係数の計算式は R2 = 1 - SS_res / SS_tot である。",
    "interpretation": "R2 が 1 に近いほど当てはまりが良く、0 は平均で予測するのと同じと解釈する。",
    "attendance": "今日の授業では出席を取りました。",
    "next": "次回の講義は11月です。",
}


@pytest.fixture
async def kept(ingest):
    """Japanese is found by words: nothing has to be encoded."""
    rows = ({"kind": "message", "uid": uid, "text": text, "role": "assistant"} for uid, text in NOTES.items())
    await ingest(*rows, embed=False)


@pytest.fixture
async def own(serve_app, librarian, keys):
    """A client of the whole service, without a key."""
    async with (
        serve_app(librarian, keys, rate_limit=Rate(0, 1.0)) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client,
    ):
        yield client


def key(keys, *namespaces, scope="agent"):
    return {"Authorization": f"Bearer {keys.create('t', namespaces=namespaces, scopes=[scope])[1]}"}


async def test_it_finds_the_items_that_cover_the_question(own, keys, kept, asked, namespace):
    """COMPLETED with the three notes; indexes by default, uids in full detail, of the namespace that the key opens."""
    headers = key(keys, namespace)
    short = (await own.post(PATH, json=asked, headers=headers)).json()
    assert set(short) == {"status", "selected_evidence", "reasoning_summary"}
    assert short["status"] == "COMPLETED"
    assert all(set(one) == {"temp_index", "why"} for one in short["selected_evidence"])
    full = (await own.post(PATH, json=asked, headers={**headers, "Librarian-Detail": "full"})).json()
    uids = {one["uid"] for one in full["selected_evidence"]}
    assert uids == {"definition", "formula", "interpretation"}


async def test_one_item_keeps_one_index(own, keys, kept, asked, namespace):
    """Through all searches of a request: an index names one text."""
    headers = {**key(keys, namespace), "Librarian-Detail": "trace"}
    asked["task"]["target_items"].append("proof by induction")
    steps = (await own.post(PATH, json=asked, headers=headers)).json()["trace"]["steps"]
    searches = [step["candidates"] for step in steps if step["step"] == "search"]
    texts = {}
    assert len(searches) > 1
    for one in (one for found in searches for one in found):
        assert texts.setdefault(one["temp_index"], one["text"]) == one["text"]
    assert len(set(texts.values())) == len(texts)
    assert not any(uid in str(searches) for uid in NOTES)


async def test_a_namespace_is_needed_and_kept_apart(own, keys, kept, asked, namespace):
    """A key for several names one; another namespace's notes are not found."""
    several = key(keys, namespace, f"{namespace}-other")
    answer = await own.post(PATH, json=asked, headers=several)
    assert (answer.status_code, answer.json()["field"]) == (400, "Librarian-Namespace")
    named = {**several, "Librarian-Namespace": f"{namespace}-other"}
    assert (await own.post(PATH, json=asked, headers=named)).json()["status"] == "NO_EVIDENCE"
    forbidden = {**several, "Librarian-Namespace": "elsewhere"}
    assert (await own.post(PATH, json=asked, headers=forbidden)).status_code == 403


async def test_the_tool_gives_the_same_in_full(own, keys, kept, librarian, namespace):
    """find_evidence, by a key with the scope, and in process."""
    given = {"question": "決定係数の計算式を教えて", "target_items": ["formula"], "max_retries": 1}
    answer = await own.post("/v1/tools/find_evidence", json=given, headers=key(keys, namespace))
    assert (answer.status_code, answer.json()["status"]) == (200, "COMPLETED")
    assert [one["uid"] for one in answer.json()["selected_evidence"]] == ["formula"]
    here = await librarian.search_agent(namespace, FindEvidenceInput(**given).as_request())
    assert [one.uid for one in here.selected_evidence] == ["formula"]
    refused = await own.post("/v1/tools/find_evidence", json=given, headers=key(keys, namespace, scope="read"))
    assert refused.status_code == 403
