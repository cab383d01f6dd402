"""A Professor that is away, slow, or breaks the contract: what is answered then, and that nothing hangs or breaks."""

import asyncio
import itertools
import json

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

PATH = "/v1/librarian/search-agent"
FULL = {"Librarian-Detail": "full"}
TEXT = {"temp_index": 1, "text": "決定係数の計算式は R² = 1 − RSS / TSS である。"}


def always(make):
    async def behave(_asked):
        return make()

    return behave


def json_of(value):
    return always(lambda: Response(json.dumps(value), media_type="application/json"))


async def problem(client, asked, **headers):
    answer = await client.post(PATH, json=asked, headers=headers)
    return answer.status_code, answer.json()["code"], answer.json()["detail"]


async def test_nobody_listens(serving, asked, unused_port):
    """503 with Retry-After, after the attempts are used up."""
    async with serving(PROFESSOR_SEARCH_URL=f"http://127.0.0.1:{unused_port}/search") as client:
        answer = await client.post(PATH, json=asked)
    assert (answer.status_code, answer.json()["code"]) == (503, "search_tool_unavailable")
    assert int(answer.headers["Retry-After"]) > 0


async def test_a_failure_is_not_tried_again(client, professor, asked):
    """500 may have cost the Professor something: one attempt, then a 502 that says so."""
    professor.behave = always(lambda: Response("oops: secret stack", 500))
    status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_failed")
    assert "status 500" in detail
    assert "secret" not in detail
    assert len(professor.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_professor_is_asked_again(client, professor, asked, status):
    """As late as it asks for; the repeated attempt has the number of the first."""
    answers = iter([Response(status_code=status, headers={"Retry-After": "0"})])

    async def behave(body):
        return next(answers, None) or JSONResponse({"candidates": professor.found(body["query"])})

    professor.behave = behave
    assert (await client.post(PATH, json=asked)).status_code == 200
    assert [one["search_no"] for one in professor.asked][:2] == [1, 1]


async def test_a_busy_professor_is_not_asked_for_ever(serving, professor, asked):
    """PROFESSOR_MAX_RETRIES attempts after the first; one that asks for too long a pause is left at once."""
    professor.behave = always(lambda: Response(status_code=503, headers={"Retry-After": "0"}))
    async with serving(PROFESSOR_MAX_RETRIES="3") as client:
        assert (await problem(client, asked))[:2] == (503, "search_tool_unavailable")
        assert len(professor.asked) == 4
        professor.behave = always(lambda: Response(status_code=503, headers={"Retry-After": "3600"}))
        assert (await problem(client, asked))[0] == 503
        assert len(professor.asked) == 5


async def test_a_slow_professor_costs_its_timeout(serving, professor, asked):
    """Each attempt is bounded as a whole, and the Professor is told that nobody waits any more."""

    async def behave(_asked):
        await asyncio.sleep(600)

    professor.behave = behave
    async with serving(PROFESSOR_TIMEOUT="0.2", PROFESSOR_MAX_RETRIES="1") as client:
        status, code, detail = await problem(client, asked)
        await asyncio.wait_for(professor.left.wait(), 30)
    assert (status, code) == (503, "search_tool_unavailable")
    assert "0.2 s" in detail
    assert len(professor.asked) == 2


async def test_a_professor_that_drips_is_slow_too(serving, professor, asked):
    """A byte now and then keeps no connection for ever."""

    async def drops():
        for _ in itertools.count():
            yield b" "
            await asyncio.sleep(0.05)

    professor.behave = always(lambda: StreamingResponse(drops()))
    async with serving(PROFESSOR_TIMEOUT="0.3", PROFESSOR_MAX_RETRIES="0") as client:
        assert (await problem(client, asked))[0] == 503


async def test_the_request_s_own_time_counts(client, professor, asked):
    """The time left of it goes to the Professor with each search, and the answer comes before it is up."""

    async def behave(_asked):
        await asyncio.sleep(600)

    professor.behave = behave
    status, code, _ = await problem(client, asked, **{"Request-Timeout-Ms": "900"})
    assert (status, code) == (503, "search_tool_unavailable")
    assert int(professor.headers[0]["request-timeout-ms"]) < 900


async def test_a_professor_may_take_three_quarters_of_the_request_s_time(serving, professor, asked):
    """Only a part of it is kept for the answer: what one search of three seconds found is given in four."""

    async def behave(body):
        await asyncio.sleep(3)
        return JSONResponse({"candidates": professor.found(body["query"])})

    professor.behave = behave
    async with serving(PROFESSOR_TIMEOUT="10") as client:
        answer = await client.post(PATH, json=asked, headers={"Request-Timeout-Ms": "4000", **FULL})
    assert answer.status_code == 200
    assert answer.json()["selected_evidence"] != []


async def test_a_connection_that_ends_half_way(client, professor, asked):
    """It is tried again, then 503."""

    async def half():
        yield b'{"candidates": ['
        raise ConnectionError

    professor.behave = always(lambda: StreamingResponse(half()))
    assert (await problem(client, asked))[:2] == (503, "search_tool_unavailable")
    assert len(professor.asked) == 3


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("<html>", "it must be an object, not a text"),
        ({"results": []}, "$.candidates: it must be a list, not missing"),
        ({"candidates": [{**TEXT, "temp_index": -1}]}, "$.candidates[0].temp_index"),
        ({"candidates": [TEXT, {**TEXT, "temp_index": "2"}]}, "$.candidates[1].temp_index"),
        ({"candidates": [{"temp_index": 1}]}, "$.candidates[0].text"),
        ({"candidates": [TEXT, {**TEXT, "text": "other"}]}, "numbering goes on"),
    ],
)
async def test_a_broken_contract_is_a_502_that_names_it(client, professor, asked, value, fault):
    """At once: the same answer again would be as wrong."""
    professor.behave = json_of(value)
    status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_contract")
    assert fault in detail
    assert len(professor.asked) == 1


async def test_an_answer_that_is_no_json(client, professor, asked):
    professor.behave = always(lambda: Response("{", media_type="application/json"))
    assert (await problem(client, asked)) == (
        502,
        "search_tool_contract",
        "The Professor's answer breaks the contract: $: it must be JSON.",
    )


async def test_numbering_that_begins_anew_in_the_second_search(client, professor, asked):
    """The same index with another text is a 502 that says so, whatever was found before."""
    numbers = itertools.count()

    async def behave(_asked):
        number = next(numbers)
        return JSONResponse({"candidates": [{"temp_index": 1, "text": f"unrelated text {number}"}]})

    professor.behave = behave
    status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_contract")
    assert "temp_index 1 of search 2: it stood for another text in search 1" in detail
    assert "unrelated" not in detail


async def test_an_answer_of_ten_megabytes(serving, professor, asked):
    """It is not read to its end."""
    professor.behave = json_of({"candidates": [{"temp_index": 1, "text": "x" * 10_000_000}]})
    async with serving(PROFESSOR_MAX_ANSWER_MB="8") as client:
        status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_contract")
    assert "larger than 8 MB" in detail


async def test_ten_thousand_candidates(serving, professor, asked):
    """The first ones are looked at, and only those can be selected."""
    many = [{"temp_index": number, "text": f"{number}. 天気は晴れ"} for number in range(10_000)]
    professor.behave = json_of({"candidates": [*many[:40], {**TEXT, "temp_index": 10_001}, *many[40:]]})
    async with serving(PROFESSOR_MAX_CANDIDATES="50") as client:
        answer = await client.post(PATH, json=asked, headers={"Librarian-Detail": "trace"})
    assert answer.status_code == 200
    searches = [step for step in answer.json()["trace"]["steps"] if step["step"] == "search"]
    assert {len(step["candidates"]) for step in searches} == {50}
    assert {one["temp_index"] for one in answer.json()["selected_evidence"]} <= {*range(49), 10_001}


async def test_nothing_is_ever_found(client, professor, asked):
    """No evidence, an empty list, and an end before the refinements are used up."""
    asked["task"]["max_retries"] = 20
    professor.behave = json_of({"candidates": []})
    answer = await client.post(PATH, json=asked, headers=FULL)
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["selected_evidence"]) == ("NO_EVIDENCE", [])
    assert answer.json()["stopped_by"] in ("no_progress", "no_new_query")
    queries = [one["query"] for one in professor.asked]
    assert len(queries) == len(set(queries)) <= 20


async def test_a_professor_that_fails_later_leaves_the_best_so_far(client, professor, asked):
    """The evidence found so far counts: PARTIAL, with the reason."""
    asked["task"]["target_items"] = ["formula", "proof by induction"]

    async def behave(body):
        if body["search_no"] > 1:
            return Response(status_code=500)
        return JSONResponse({"candidates": [TEXT]})

    professor.behave = behave
    found = (await client.post(PATH, json=asked, headers=FULL)).json()
    assert (found["status"], found["stopped_by"]) == ("PARTIAL", "tool_failed")
    assert [one["temp_index"] for one in found["selected_evidence"]] == [1]


async def test_a_redirect_is_not_followed(client, professor, asked):
    """The configuration names the one address that is asked."""
    professor.behave = always(lambda: RedirectResponse("http://127.0.0.1:1/elsewhere"))
    status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_failed")
    assert "PROFESSOR_SEARCH_URL" in detail
    assert len(professor.asked) == 1


async def test_a_refused_key_is_named(client, professor, asked):
    professor.behave = always(lambda: Response(status_code=401))
    status, code, detail = await problem(client, asked)
    assert (status, code) == (502, "search_tool_failed")
    assert "PROFESSOR_API_KEY" in detail


async def test_many_requests_against_a_slow_professor(serving, professor, asked):
    """Each is answered or refused with a reason; no more run at once than may, and searches keep their own slots."""

    async def behave(body):
        await asyncio.sleep(0.2)
        return JSONResponse({"candidates": professor.found(body["query"])})

    professor.behave = behave
    async with serving(http={"max_agents": 20, "max_concurrent": 1, "max_queued": 0}) as client:
        answers = await asyncio.gather(*(client.post(PATH, json=asked) for _ in range(60)))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 20
    assert professor.most_running == 20
    assert all("Retry-After" in answer.headers for answer in answers if answer.status_code == 503)
